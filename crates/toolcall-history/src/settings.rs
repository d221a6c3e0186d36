//! What a history keeps, how safely, and what happens when it cannot.
//! Plain values; nothing here opens or writes anything.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolcall::{Clock, SystemClock};

use crate::error::HistoryError;

/// How a history works. The default keeps everything but secrets and survives `kill -9`.
#[derive(Clone)]
pub struct HistoryConfig {
    /// What a record that is said to be safe survives.
    pub durability: Durability,
    /// What happens to calls when nothing can be kept.
    pub on_failure: OnFailure,
    /// Whether inputs and outputs are kept.
    pub keep: KeepContent,
    /// Whether what is needed to undo edits is kept, and how long.
    pub undo: KeepUndo,
    /// The longest text that is kept, in bytes. Outputs over it lose their middle; what cannot be
    /// cut is named by its size.
    pub longest_text: usize,
    /// How large the file may grow, in bytes. When it is reached, it counts as a full disk.
    pub largest_file: Option<u64>,
    /// How much may wait to be written.
    pub waiting: QueueLimits,
    /// How long to wait for room, for another process or for the writer before it counts as a failure.
    pub patience: Duration,
    /// Where the time of sessions' own events comes from.
    pub clock: Arc<dyn Clock>,
    /// Who is told when nothing can be kept, and when it can be again.
    pub tell: Option<OnStatusChange>,
}

/// CallHistory when nothing can be kept (the reason), and when it can be again (nothing). It is called
/// from the thread that writes and must not wait for the history.
pub type OnStatusChange = Arc<dyn Fn(Option<&HistoryError>) + Send + Sync>;

/// What a record that is said to be safe survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, however it comes.
    #[default]
    Process,
    /// The end of the machine's power, too. Every commit waits for the disk.
    Power,
}

/// What happens to calls when nothing can be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// No call starts whose decision is not kept.
    #[default]
    Refuse,
    /// Calls go on unrecorded, and it is said.
    GoOn,
}

/// Whether inputs and outputs are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepContent {
    /// They are, without secrets.
    #[default]
    Contents,
    /// Only which tool was called, which files it touched, who decided and how it ended.
    NoContents,
}

/// Whether what is needed to undo edits is kept. It is kept as it was, secrets included, in files
/// of their own that only their owner may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepUndo {
    /// It is, for this long.
    For(Duration),
    /// It is not.
    No,
}

impl Default for KeepUndo {
    fn default() -> Self {
        KeepUndo::For(Duration::from_secs(7 * 24 * 60 * 60))
    }
}

/// How much may wait to be written; who brings more waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Records.
    pub records: usize,
    /// Bytes, about.
    pub bytes: usize,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self {
            records: 16 * 1024,
            bytes: 32 * 1024 * 1024,
        }
    }
}

impl Default for HistoryConfig {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            on_failure: OnFailure::default(),
            keep: KeepContent::default(),
            undo: KeepUndo::default(),
            longest_text: 1024 * 1024,
            largest_file: None,
            waiting: QueueLimits::default(),
            patience: Duration::from_secs(30),
            clock: Arc::new(SystemClock::default()),
            tell: None,
        }
    }
}

impl fmt::Debug for HistoryConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            durability,
            on_failure,
            keep,
            undo,
            longest_text,
            largest_file,
            waiting,
            patience,
            clock: _,
            tell: _,
        } = self;
        f.debug_struct("HistoryConfig")
            .field("durability", durability)
            .field("on_failure", on_failure)
            .field("keep", keep)
            .field("undo", undo)
            .field("longest_text", longest_text)
            .field("largest_file", largest_file)
            .field("waiting", waiting)
            .field("patience", patience)
            .finish_non_exhaustive()
    }
}
