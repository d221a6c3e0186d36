//! The peer's requests that are not answered yet.
//! It must not grow past its limit, nor take an id for free that is in use.

use std::collections::HashSet;
use std::sync::Mutex;

use agent_client_protocol::RawJsonRpcId;

use super::envelope::{Envelope, Member};
use crate::locked::locked;

/// Ids of requests that the SDK was handed and has not answered.
pub(crate) struct Unanswered {
    most: usize,
    ids: Mutex<HashSet<RawJsonRpcId>>,
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
        }
    }

    /// The most there may be.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Whether this id belongs to a request that is not answered.
    pub(super) fn has(&self, id: &RawJsonRpcId) -> bool {
        locked(&self.ids).contains(id)
    }

    /// A request comes in.
    pub(super) fn add(&self, id: RawJsonRpcId) -> Result<(), NotTaken> {
        let mut ids = locked(&self.ids);
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
        if locked(&self.ids).is_empty() {
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
        locked(&self.ids).remove(id);
    }
}
