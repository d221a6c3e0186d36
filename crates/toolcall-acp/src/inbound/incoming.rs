//! The peer's requests that are not answered yet.
//! It must not grow past its limit, nor accept an id that is in use.

use parking_lot::Mutex;
use std::collections::HashMap;

use serde::Deserialize;
use tokio::sync::{Notify, watch};

/// The id of a JSON-RPC request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub(crate) enum RequestId {
    /// A whole number.
    Number(i64),
    /// A string.
    Text(String),
    /// Null, which only responses to unreadable lines have.
    Null,
}

/// The peer's requests that wait for our response.
pub(crate) struct IncomingRequests {
    most: usize,
    open: Mutex<HashMap<RequestId, watch::Sender<bool>>>,
    /// Notified when every request is answered.
    emptied: Notify,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestRejection {
    /// Another unanswered request has its id.
    IdInUse,
    /// The limit of unanswered requests is reached.
    TooMany,
}

impl IncomingRequests {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            open: Mutex::default(),
            emptied: Notify::new(),
        }
    }

    /// Returns the limit.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Adds a request. The receiver becomes true when the peer withdraws it.
    pub(super) fn add(&self, id: RequestId) -> Result<watch::Receiver<bool>, RequestRejection> {
        let mut open = self.open.lock();
        if open.contains_key(&id) {
            return Err(RequestRejection::IdInUse);
        }
        if open.len() >= self.most {
            return Err(RequestRejection::TooMany);
        }
        let (cancel, cancelled) = watch::channel(false);
        open.insert(id, cancel);
        Ok(cancelled)
    }

    /// Marks a request as withdrawn by the peer.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancel) = self.open.lock().get(id) {
            cancel.send_replace(true);
        }
    }

    /// Removes a request after its response.
    pub(crate) fn remove(&self, id: &RequestId) {
        let mut open = self.open.lock();
        open.remove(id);
        if open.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    /// Waits until every request is answered.
    pub(crate) async fn all_answered(&self) {
        loop {
            // Created before the check, so that no wake-up is missed in between.
            let emptied = self.emptied.notified();
            if self.open.lock().is_empty() {
                return;
            }
            emptied.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn all_answered_returns_after_the_last_answer() {
        let incoming = IncomingRequests::new(2);
        let (one, two) = (RequestId::Number(1), RequestId::Text("two".to_owned()));
        let cancelled = incoming.add(one.clone()).expect("a place");
        incoming.add(two.clone()).expect("a place");
        assert_eq!(
            incoming.add(two.clone()).err(),
            Some(RequestRejection::IdInUse)
        );
        assert_eq!(
            incoming.add(RequestId::Number(2)).err(),
            Some(RequestRejection::TooMany)
        );
        incoming.cancel(&one);
        assert!(*cancelled.borrow());
        let mut waiting = pin!(incoming.all_answered());
        incoming.remove(&two);
        assert_eq!(waiting.as_mut().now_or_never(), None);
        incoming.remove(&one);
        assert_eq!(waiting.now_or_never(), Some(()));
    }
}
