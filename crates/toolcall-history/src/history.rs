//! A history opened for writing: the store of a journal.
//! It only queues records; a writer thread of its own writes them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use tokio::sync::oneshot;
use toolcall::{Receipt, Record, SessionId, Store, StoreError, Timestamp};

use crate::archive::Archive;
use crate::call_summary::memory_size;
use crate::error::HistoryError;
use crate::file::{self, DamagedFile};
use crate::prune::{self, Pruned};
use crate::queue::{PushError, Queue};
use crate::record_writer::{Entry, EntryEvent};
use crate::settings::{HistoryConfig, OnFailure};
use crate::stored::SessionEvent;
use crate::writer::{Health, Job, SharedHealth, Writer};

/// A history of calls and sessions in one SQLite file, opened for writing.
///
/// Give it to a journal or an engine as its store. Dropping it writes the queued records first.
pub struct History {
    path: PathBuf,
    settings: HistoryConfig,
    health: Arc<SharedHealth>,
    queue: Arc<Queue<Job>>,
    /// `None` if the file could not be opened and calls run unrecorded.
    writer: Mutex<Option<JoinHandle<()>>>,
    set_aside: Option<DamagedFile>,
}

impl History {
    /// Opens the history at a path, or creates it.
    ///
    /// Ends calls orphaned by a dead process as interrupted. Renames a damaged file and begins a new
    /// one ([`History::set_aside`] returns the damaged one). If the file cannot be opened, calls run
    /// unrecorded with [`OnFailure::RunUnrecorded`]; otherwise this is an error. A file of a newer version or
    /// of another program is always an error.
    pub fn open(path: impl Into<PathBuf>, settings: HistoryConfig) -> Result<Self, HistoryError> {
        let path = path.into();
        let health = Arc::new(SharedHealth::default());
        let queue = Arc::new(Queue::new(settings.queue_limits));
        let open = || Writer::open(&path, &settings, health.clone());
        let opened = match open() {
            // The first open checks little. Once the file is marked, the second checks all of it.
            Err(HistoryError::Damaged(_)) => {
                file::mark_suspect(&path);
                open()
            }
            opened => opened,
        };
        let (writer, set_aside) = match opened {
            Ok((writer, set_aside)) => (Some(spawn_writer(writer, queue.clone())?), set_aside),
            Err(error @ (HistoryError::Newer { .. } | HistoryError::Foreign(_))) => {
                return Err(error);
            }
            Err(error) if settings.on_failure == OnFailure::Refuse => return Err(error),
            Err(error) => {
                health.failed(0, &error, &settings);
                queue.close();
                (None, None)
            }
        };
        Ok(Self {
            path,
            settings,
            health,
            queue,
            writer: Mutex::new(writer),
            set_aside,
        })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether records are being written, and how many were not.
    pub fn health(&self) -> Health {
        self.health.get()
    }

    /// Returns the damaged file that was found and renamed when this history was opened.
    pub fn set_aside(&self) -> Option<&DamagedFile> {
        self.set_aside.as_ref()
    }

    /// Records an event of a session. It joins the hash chain of the session's calls.
    pub fn record(&self, session: &SessionId, event: SessionEvent) -> Receipt {
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
            event: EntryEvent::Session(event),
        };
        self.push(entry, bytes)
    }

    /// Waits until everything queued so far was written or has failed.
    pub fn flush(&self) -> Result<(), HistoryError> {
        let (done, flushed) = sync_channel(1);
        match self.queue.push(Job::Flush(done), 0, self.settings.patience) {
            Ok(()) => {}
            Err(PushError::Full) => return Err(HistoryError::Behind),
            Err(PushError::Closed) => return Err(self.writer_error()),
        }
        let waited = flushed.recv_timeout(self.settings.patience * 2);
        waited.map_err(|_| HistoryError::Behind)
    }

    /// Flushes, then opens the file for reading.
    pub fn archive(&self) -> Result<Archive, HistoryError> {
        self.flush()?;
        Archive::open(&self.path)
    }

    /// Deletes every session whose last record is older than a timestamp: see [`prune`](fn@crate::prune).
    pub fn prune(&self, older_than: Timestamp) -> Result<Pruned, HistoryError> {
        self.flush()?;
        prune::prune(&self.path, older_than, &self.settings)
    }

    /// Deletes one session with its texts and undo files.
    pub fn forget(&self, session: &SessionId) -> Result<Pruned, HistoryError> {
        self.flush()?;
        prune::forget(&self.path, session, &self.settings)
    }

    fn push(&self, entry: Entry, bytes: usize) -> Receipt {
        let (done, written) = oneshot::channel();
        let job = Job::Write(entry, done);
        match self.queue.push(job, bytes, self.settings.patience) {
            Ok(()) => Receipt::later(written),
            Err(PushError::Full) => self.refuse(&HistoryError::Behind),
            Err(PushError::Closed) => self.refuse(&self.writer_error()),
        }
    }

    fn refuse(&self, error: &HistoryError) -> Receipt {
        self.health.failed(1, error, &self.settings);
        match self.settings.on_failure {
            OnFailure::Refuse => Receipt::refused(error.to_string()),
            OnFailure::RunUnrecorded => Receipt::safe(),
        }
    }

    /// Returns why the writer thread has ended.
    fn writer_error(&self) -> HistoryError {
        let known = self.health.get().trouble;
        known.unwrap_or_else(|| HistoryError::Other("its writer is gone".into()))
    }
}

fn spawn_writer(writer: Writer, queue: Arc<Queue<Job>>) -> Result<JoinHandle<()>, HistoryError> {
    let thread = thread::Builder::new().name("history".into());
    Ok(thread.spawn(move || {
        let _closed = CloseOnDrop(&queue);
        writer.run(&queue);
    })?)
}

/// Closes the queue when the writer thread ends, even by a panic, so that nobody waits for it.
struct CloseOnDrop<'q>(&'q Queue<Job>);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
        drop(self.0.take_all());
    }
}

impl Store for History {
    fn append(&self, record: Record) -> Receipt {
        let bytes = memory_size(&record.event);
        let entry = Entry {
            session: record.session,
            at: record.at,
            event: EntryEvent::Call(record.call, record.event),
        };
        self.push(entry, bytes)
    }

    fn load(&self, session: &SessionId) -> Result<Vec<Record>, StoreError> {
        let loaded = self.archive().and_then(|archive| archive.records(session));
        loaded.map_err(|error| StoreError {
            reason: error.to_string().into(),
        })
    }
}

/// Writes the queued records, then ends the writer thread.
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
