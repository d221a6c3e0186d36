//! The peer's requests that are not answered yet.
//! It must not grow past its limit, nor take an id for free that is in use.

use parking_lot::Mutex;
use std::collections::HashMap;

use serde::Deserialize;
use tokio::sync::{Notify, watch};

/// The id of a request, as JSON-RPC has them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub(crate) enum RequestId {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// Nothing: only answers to lines that could not be read have it.
    Null,
}

/// The requests that wait for our answer.
pub(crate) struct Incoming {
    most: usize,
    open: Mutex<HashMap<RequestId, watch::Sender<bool>>>,
    /// Notified when none waits any more.
    emptied: Notify,
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// Its id belongs to another one.
    InUse,
    /// There are as many as there may be.
    TooMany,
}

impl Incoming {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            open: Mutex::default(),
            emptied: Notify::new(),
        }
    }

    /// The most there may be.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Takes a request. The receiver says when it is withdrawn.
    pub(super) fn add(&self, id: RequestId) -> Result<watch::Receiver<bool>, NotTaken> {
        let mut open = self.open.lock();
        if open.contains_key(&id) {
            return Err(NotTaken::InUse);
        }
        if open.len() >= self.most {
            return Err(NotTaken::TooMany);
        }
        let (cancel, cancelled) = watch::channel(false);
        open.insert(id, cancel);
        Ok(cancelled)
    }

    /// The peer withdraws a request.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancel) = self.open.lock().get(id) {
            cancel.send_replace(true);
        }
    }

    /// The request is answered.
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
            // Made before looking, so that nothing is missed in between.
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
    async fn whoever_waits_for_all_answers_goes_on_after_the_last() {
        let incoming = Incoming::new(2);
        let (one, two) = (RequestId::Number(1), RequestId::Text("two".to_owned()));
        let cancelled = incoming.add(one.clone()).expect("a place");
        incoming.add(two.clone()).expect("a place");
        assert_eq!(incoming.add(two.clone()).err(), Some(NotTaken::InUse));
        assert_eq!(
            incoming.add(RequestId::Number(2)).err(),
            Some(NotTaken::TooMany)
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
