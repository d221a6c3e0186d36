//! Our own requests to the peer, from their id to their one answer.
//! It sends nothing and reads no wire: it only knows who waits for what.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use crate::peer::PeerError;

/// What every id of ours begins with.
const PREFIX: &str = "toolcall-";

/// What a request comes to.
pub(crate) type Answer = Result<Value, PeerError>;

/// The id of a request of ours: `toolcall-1`, `toolcall-2`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OwnId(u64);

impl fmt::Display for OwnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Serialize for OwnId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Whose request a response answers, going by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// This one of ours.
    Us(OwnId),
    /// An id that we never used.
    Nobody,
}

impl Asker {
    /// Reads the id of a response.
    pub(crate) fn of(id: &str) -> Self {
        match id.strip_prefix(PREFIX).map(str::parse) {
            Some(Ok(number)) => Self::Us(OwnId(number)),
            Some(Err(_)) | None => Self::Nobody,
        }
    }
}

/// The requests that wait for their answer.
pub(crate) struct Requests {
    places: Semaphore,
    last: AtomicU64,
    /// `None` when no answer can come any more.
    waiting: Mutex<Option<HashMap<OwnId, oneshot::Sender<Answer>>>>,
}

impl Requests {
    /// At most this many wait at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            places: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)),
            last: AtomicU64::new(0),
            waiting: Mutex::new(Some(HashMap::new())),
        }
    }

    /// Waits for a place among those that wait for an answer.
    pub(crate) async fn place(&self) -> Result<SemaphorePermit<'_>, PeerError> {
        self.places.acquire().await.map_err(|_| PeerError::Gone)
    }

    /// An id that was never used before.
    pub(crate) fn next_id(&self) -> OwnId {
        OwnId(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Begins to wait for an answer.
    pub(crate) fn begin(&self) -> Result<(OwnId, oneshot::Receiver<Answer>), PeerError> {
        let id = self.next_id();
        let (answered, answer) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        let open = waiting.as_mut().ok_or(PeerError::Gone)?;
        open.insert(id, answered);
        Ok((id, answer))
    }

    /// Hands the answer to whoever waits for it.
    pub(crate) fn settle(&self, id: OwnId, answer: Answer) {
        match self.take(id).map(|waiter| waiter.send(answer)) {
            Some(Ok(())) => {}
            Some(Err(_)) | None => tracing::debug!(%id, "nobody waits for this answer"),
        }
    }

    /// Stops waiting. True if the answer was still to come.
    pub(crate) fn withdraw(&self, id: OwnId) -> bool {
        self.take(id).is_some()
    }

    /// No answer can come any more: whoever waits for one is told.
    pub(crate) fn end(&self) {
        self.places.close();
        let waiting = self.waiting.lock().take();
        drop(waiting);
    }

    fn take(&self, id: OwnId) -> Option<oneshot::Sender<Answer>> {
        self.waiting.lock().as_mut()?.remove(&id)
    }
}
