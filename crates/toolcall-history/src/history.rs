//! A history: opened at a path, given to a journal as its store.
//! Taking a record takes a moment; writing it is the business of a thread of its own.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use toolcall::{Receipt, Record, SessionId, Store, StoreError, Timestamp};

use crate::archive::Archive;
use crate::call_summary::weigh;
use crate::error::HistoryError;
use crate::file::{self, DamagedFile};
use crate::prune::{self, Pruned};
use crate::queue::{Queue, Refusal};
use crate::record_writer::{Entry, What};
use crate::settings::{HistoryConfig, OnFailure};
use crate::stored::SessionEvent;
use crate::writer::{Health, Job, Shared, Writer};

/// What happened to every call, kept in one SQLite file.
pub struct History {
    path: PathBuf,
    settings: HistoryConfig,
    shared: Arc<Shared>,
    queue: Arc<Queue<Job>>,
    /// Nothing, where nothing can be kept and calls go on.
    writer: Mutex<Option<JoinHandle<()>>>,
    set_aside: Option<DamagedFile>,
}

impl History {
    /// Opens a history; makes it, if it is not there. Calls that a process left open which is gone
    /// are ended as interrupted. A damaged file is set aside and a new one begun
    /// ([`History::set_aside`] tells). Where it cannot be opened, calls go on unrecorded if the
    /// settings say so; one of a newer version or of another program is refused in any case.
    pub fn open(path: impl Into<PathBuf>, settings: HistoryConfig) -> Result<Self, HistoryError> {
        let path = path.into();
        let shared = Arc::new(Shared::default());
        let queue = Arc::new(Queue::new(settings.waiting));
        let open = || Writer::open(&path, &settings, shared.clone());
        let opened = match open() {
            // Deeper than a first look goes: the second looks at everything.
            Err(HistoryError::Damaged(_)) => {
                file::suspect(&path);
                open()
            }
            opened => opened,
        };
        let (writer, set_aside) = match opened {
            Ok((writer, set_aside)) => (Some(start(writer, queue.clone())?), set_aside),
            Err(trouble @ (HistoryError::Newer { .. } | HistoryError::Foreign(_))) => {
                return Err(trouble);
            }
            Err(trouble) if settings.on_failure == OnFailure::Refuse => return Err(trouble),
            Err(trouble) => {
                shared.failed(0, &trouble, &settings);
                queue.close();
                (None, None)
            }
        };
        Ok(Self {
            path,
            settings,
            shared,
            queue,
            writer: Mutex::new(writer),
            set_aside,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether everything is kept.
    pub fn health(&self) -> Health {
        self.shared.health()
    }

    /// The damaged file that was found in its place when it was opened.
    pub fn set_aside(&self) -> Option<&DamagedFile> {
        self.set_aside.as_ref()
    }

    /// Keeps what happened to a session beside its calls. It becomes part of the same chain.
    pub fn tell(&self, session: &SessionId, event: SessionEvent) -> Receipt {
        let bytes = match &event {
            SessionEvent::Said { text, .. } => text.len() + 256,
            SessionEvent::Opened(_)
            | SessionEvent::TurnBegan
            | SessionEvent::TurnEnded { .. }
            | SessionEvent::Planned(_) => 1024,
        };
        let entry = Entry {
            session: session.clone(),
            at: self.settings.clock.now(),
            what: What::Session(event),
        };
        self.push(entry, bytes)
    }

    /// Waits until everything that was taken so far was written, or given up.
    pub fn flush(&self) -> Result<(), HistoryError> {
        let (done, flushed) = sync_channel(1);
        match self.queue.push(Job::Flush(done), 0, self.settings.patience) {
            Ok(()) => {}
            Err(Refusal::Full) => return Err(HistoryError::Behind),
            Err(Refusal::Closed) => return Err(self.closed()),
        }
        let waited = flushed.recv_timeout(self.settings.patience * 2);
        waited.map_err(|_| HistoryError::Behind)
    }

    /// Opens it for reading, with everything that was taken so far.
    pub fn archive(&self) -> Result<Archive, HistoryError> {
        self.flush()?;
        Archive::open(&self.path)
    }

    /// Forgets every session that was last heard of before a moment: see [`prune`](fn@crate::prune).
    pub fn prune(&self, older_than: Timestamp) -> Result<Pruned, HistoryError> {
        self.flush()?;
        prune::prune(&self.path, older_than, &self.settings)
    }

    /// Forgets one session, with its texts and undo files.
    pub fn forget(&self, session: &SessionId) -> Result<Pruned, HistoryError> {
        self.flush()?;
        prune::forget(&self.path, session, &self.settings)
    }

    fn push(&self, entry: Entry, bytes: usize) -> Receipt {
        let (done, safe) = oneshot::channel();
        let job = Job::Write(entry, done);
        match self.queue.push(job, bytes, self.settings.patience) {
            Ok(()) => Receipt::later(safe),
            Err(Refusal::Full) => self.refuse(&HistoryError::Behind),
            Err(Refusal::Closed) => self.refuse(&self.closed()),
        }
    }

    fn refuse(&self, trouble: &HistoryError) -> Receipt {
        self.shared.failed(1, trouble, &self.settings);
        match self.settings.on_failure {
            OnFailure::Refuse => Receipt::refused(trouble.to_string()),
            OnFailure::GoOn => Receipt::safe(),
        }
    }

    /// Why nobody writes.
    fn closed(&self) -> HistoryError {
        let known = self.shared.health().trouble;
        known.unwrap_or_else(|| HistoryError::Other("its writer is gone".into()))
    }
}

fn start(writer: Writer, queue: Arc<Queue<Job>>) -> Result<JoinHandle<()>, HistoryError> {
    let thread = thread::Builder::new().name("history".into());
    Ok(thread.spawn(move || {
        let _closed = CloseAtEnd(&queue);
        writer.work(&queue);
    })?)
}

/// However the writer ends, nobody waits for it.
struct CloseAtEnd<'q>(&'q Queue<Job>);

impl Drop for CloseAtEnd<'_> {
    fn drop(&mut self) {
        self.0.close();
        drop(self.0.take());
    }
}

impl Store for History {
    fn append(&self, record: Record) -> Receipt {
        let bytes = weigh(&record.event);
        let entry = Entry {
            session: record.session,
            at: record.at,
            what: What::Call(record.call, record.event),
        };
        self.push(entry, bytes)
    }

    fn load(&self, session: &SessionId) -> Result<Vec<Record>, StoreError> {
        let loaded = self.archive().and_then(|archive| archive.records(session));
        loaded.map_err(|trouble| StoreError {
            reason: trouble.to_string().into(),
        })
    }
}

/// Writes what waits, then ends.
impl Drop for History {
    fn drop(&mut self) {
        self.queue.close();
        let writer = self.writer.lock().take();
        if let Some(writer) = writer {
            let _writer_panicked = writer.join();
        }
    }
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("path", &self.path)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
