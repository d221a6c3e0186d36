//! The configuration of a history: what it stores, how durably, and what happens when it cannot.
//! Plain values; nothing here opens or writes anything.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolcall::{Clock, SystemClock};

use crate::error::HistoryError;

/// The configuration of a [`History`](crate::History). The default stores everything but secrets and survives
/// `kill -9`.
///
/// ```
/// use toolcall_history::{HistoryConfig, KeepContent, OnFailure};
///
/// let config = HistoryConfig {
///     on_failure: OnFailure::RunUnrecorded,
///     keep: KeepContent::NoContents,
///     ..HistoryConfig::default()
/// };
/// assert_eq!(config.max_text_bytes, 1024 * 1024);
/// ```
#[derive(Clone)]
pub struct HistoryConfig {
    /// What a record survives once its receipt says it is written.
    pub durability: Durability,
    /// Whether calls may run while records cannot be written.
    pub on_failure: OnFailure,
    /// Whether inputs and outputs are stored.
    pub keep: KeepContent,
    /// Whether overwritten file contents are stored for undo, and how long.
    pub undo: KeepUndo,
    /// The longest stored text, in bytes. Longer texts and outputs lose their middle; an image or a file
    /// that is longer is replaced by its size.
    pub max_text_bytes: usize,
    /// The largest size of the file, in bytes. A file at this limit counts as a full disk.
    pub max_file_bytes: Option<u64>,
    /// How much may be queued for the writer thread.
    pub queue_limits: QueueLimits,
    /// How long to wait for space in the queue, for another process or for the writer before it is an error.
    pub patience: Duration,
    /// The clock that stamps session events.
    pub clock: Arc<dyn Clock>,
    /// Called when records can no longer be written, and when they can be again.
    pub tell: Option<OnStatusChange>,
}

/// A callback: gets the error when records can no longer be written, and `None` when they can be again.
///
/// The writer thread calls it, so it must not wait for the history.
pub type OnStatusChange = Arc<dyn Fn(Option<&HistoryError>) + Send + Sync>;

/// What a record survives once its receipt says it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The end of the process, also by `kill -9`.
    #[default]
    Process,
    /// A power failure as well. Every commit waits for the disk.
    Power,
}

/// What happens to calls while records cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// No call starts unless its decision is recorded.
    #[default]
    Refuse,
    /// Calls run unrecorded, and the callback gets the error.
    RunUnrecorded,
}

/// Whether inputs and outputs are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepContent {
    /// They are stored, with secrets redacted.
    #[default]
    Contents,
    /// They are not stored: only the tool, the files it touched, the decision and the ending.
    NoContents,
}

/// Whether overwritten file contents are stored for undo.
///
/// They are stored unredacted, in files beside the database that only their owner may read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepUndo {
    /// Stored, and deleted after this time.
    For(Duration),
    /// Not stored.
    No,
}

impl Default for KeepUndo {
    fn default() -> Self {
        KeepUndo::For(Duration::from_secs(7 * 24 * 60 * 60))
    }
}

/// The limits of the queue before the writer thread. A caller that exceeds them waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// The largest number of records.
    pub records: usize,
    /// The approximate size of all records in memory, in bytes.
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
            max_text_bytes: 1024 * 1024,
            max_file_bytes: None,
            queue_limits: QueueLimits::default(),
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
            max_text_bytes,
            max_file_bytes,
            queue_limits,
            patience,
            clock: _,
            tell: _,
        } = self;
        f.debug_struct("HistoryConfig")
            .field("durability", durability)
            .field("on_failure", on_failure)
            .field("keep", keep)
            .field("undo", undo)
            .field("max_text_bytes", max_text_bytes)
            .field("max_file_bytes", max_file_bytes)
            .field("queue_limits", queue_limits)
            .field("patience", patience)
            .finish_non_exhaustive()
    }
}
