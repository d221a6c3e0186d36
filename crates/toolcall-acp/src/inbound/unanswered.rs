//! The peer's requests that are not answered yet.
//! It must not grow past its limit, nor take an id for free that is in use.

use std::collections::HashSet;

use agent_client_protocol::RawJsonRpcId;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::envelope::{Envelope, Member};

/// Ids of requests that the SDK was handed and has not answered.
pub(crate) struct Unanswered {
    most: usize,
    ids: Mutex<HashSet<RawJsonRpcId>>,
    /// Told whenever one is answered.
    answered: Notify,
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// Its id belongs to another one.
    InUse,
    /// There are as many as there may be.
    TooMany,
}

impl Unanswered {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            ids: Mutex::default(),
            answered: Notify::new(),
        }
    }

    /// The most there may be.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Whether this id belongs to a request that is not answered.
    pub(super) fn has(&self, id: &RawJsonRpcId) -> bool {
        self.ids.lock().contains(id)
    }

    /// A request comes in.
    pub(super) fn add(&self, id: RawJsonRpcId) -> Result<(), NotTaken> {
        let mut ids = self.ids.lock();
        if ids.len() >= self.most && !ids.contains(&id) {
            return Err(NotTaken::TooMany);
        }
        match ids.insert(id) {
            true => Ok(()),
            false => Err(NotTaken::InUse),
        }
    }

    /// A line goes out: if it is an answer, its request is answered.
    pub(crate) fn settle(&self, line: &str) {
        if self.ids.lock().is_empty() {
            return;
        }
        let (envelope, _) = Envelope::read(line);
        let answered = envelope.get(Member::Id).filter(|_| envelope.is_response());
        if let Some(Ok(id)) = answered.map(|id| serde_json::from_str(id.get())) {
            self.remove(&id);
        }
    }

    /// The request is answered.
    pub(super) fn remove(&self, id: &RawJsonRpcId) {
        self.ids.lock().remove(id);
        self.answered.notify_waiters();
    }

    /// Resolves when the request of this id is answered.
    pub(crate) async fn answered(&self, id: &RawJsonRpcId) {
        loop {
            // Made before looking, so that nothing is missed in between.
            let next = self.answered.notified();
            if !self.has(id) {
                return;
            }
            next.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_an_answer_goes_on_when_it_has_left() {
        let unanswered = Unanswered::new(2);
        let (one, two) = (RawJsonRpcId::Number(1), RawJsonRpcId::Number(2));
        assert_eq!(unanswered.add(one.clone()), Ok(()));
        assert_eq!(unanswered.add(two), Ok(()));
        let mut waiting = pin!(unanswered.answered(&one));
        assert_eq!(waiting.as_mut().now_or_never(), None);
        unanswered.settle(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        assert_eq!(waiting.as_mut().now_or_never(), None);
        unanswered.settle(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert_eq!(waiting.now_or_never(), Some(()));
    }
}
