//! Our own requests to the peer, from their id to their one response.
//! It sends and parses nothing; it only matches responses to the requests that wait for them.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::{Serialize, Serializer};
use serde_json::Value;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};

use crate::peer::PeerError;

/// The prefix of our request ids.
const PREFIX: &str = "toolcall-";

/// The outcome of a request.
pub(crate) type ResponseResult = Result<Value, PeerError>;

/// The id of one of our requests: `toolcall-1`, `toolcall-2`, …
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct OwnRequestId(u64);

impl fmt::Display for OwnRequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl Serialize for OwnRequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl OwnRequestId {
    /// Parses the id of a response. Returns `None` for an id that we never use.
    pub(crate) fn parse(id: &str) -> Option<Self> {
        let number = id.strip_prefix(PREFIX)?.parse().ok()?;
        Some(Self(number))
    }
}

/// The requests that wait for their response.
pub(crate) struct Requests {
    places: Semaphore,
    last: AtomicU64,
    /// `None` after the connection ended.
    waiting: Mutex<Option<HashMap<OwnRequestId, oneshot::Sender<ResponseResult>>>>,
}

impl Requests {
    /// Creates an empty set in which at most this many requests wait at a time.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            places: Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS)),
            last: AtomicU64::new(0),
            waiting: Mutex::new(Some(HashMap::new())),
        }
    }

    /// Waits until fewer requests than the limit are unanswered.
    pub(crate) async fn place(&self) -> Result<SemaphorePermit<'_>, PeerError> {
        self.places.acquire().await.map_err(|_| PeerError::Gone)
    }

    /// Returns an unused id.
    pub(crate) fn next_id(&self) -> OwnRequestId {
        OwnRequestId(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Registers a request that waits for its response.
    pub(crate) fn begin(
        &self,
    ) -> Result<(OwnRequestId, oneshot::Receiver<ResponseResult>), PeerError> {
        let id = self.next_id();
        let (answered, answer) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        let open = waiting.as_mut().ok_or(PeerError::Gone)?;
        open.insert(id, answered);
        Ok((id, answer))
    }

    /// Delivers the response to the request that waits for it.
    pub(crate) fn settle(&self, id: OwnRequestId, answer: ResponseResult) {
        match self.take(id).map(|waiter| waiter.send(answer)) {
            Some(Ok(())) => {}
            Some(Err(_)) | None => tracing::debug!(%id, "no request waits for this response"),
        }
    }

    /// Stops waiting. Returns true if there was no response yet.
    pub(crate) fn withdraw(&self, id: OwnRequestId) -> bool {
        self.take(id).is_some()
    }

    /// Ends every waiting request, because no response can come any more.
    pub(crate) fn end(&self) {
        self.places.close();
        let waiting = self.waiting.lock().take();
        drop(waiting);
    }

    fn take(&self, id: OwnRequestId) -> Option<oneshot::Sender<ResponseResult>> {
        self.waiting.lock().as_mut()?.remove(&id)
    }
}
