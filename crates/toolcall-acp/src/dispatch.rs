//! What handles the peer's requests and notifications, and how requests are answered.
//! Every request is answered exactly once: who drops its responder answers with an error.

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::inbound::RequestId;
use crate::peer::Peer;
use crate::wire::{self, RpcError};

/// Handles what the peer sends. Called while the peer's lines are read, so it must not block; what
/// takes time is handed to a task, together with the responder.
pub trait Dispatch: Send + Sync {
    /// Handles a request.
    fn request(&self, method: &str, params: Option<&RawValue>, to: Responder) -> Handled;

    /// Handles a notification.
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}
}

/// What became of a request.
pub enum Handled {
    /// Whoever holds the responder answers it.
    Later,
    /// It is answered with this before the next line is read.
    Now(Reply),
}

/// A handler for connections that only report: every request is refused.
pub struct NoMethods;

impl Dispatch for NoMethods {
    fn request(&self, method: &str, _: Option<&RawValue>, to: Responder) -> Handled {
        Handled::Now(to.refuse(&RpcError::method_not_found(method)))
    }
}

/// A response that is ready to be sent.
pub struct Reply(pub(crate) Vec<u8>);

/// Answers one request of the peer. Dropped, it answers with an internal error.
pub struct Responder {
    /// The id as the peer wrote it, until the request is answered.
    id: Option<Box<RawValue>>,
    key: RequestId,
    peer: Peer,
    cancelled: watch::Receiver<bool>,
}

impl Responder {
    pub(crate) fn new(
        id: Box<RawValue>,
        key: RequestId,
        peer: Peer,
        cancelled: watch::Receiver<bool>,
    ) -> Self {
        Self {
            id: Some(id),
            key,
            peer,
            cancelled,
        }
    }

    /// Waits until the peer withdraws the request with `$/cancel_request`.
    pub async fn cancelled(&self) {
        let mut cancelled = self.cancelled.clone();
        if cancelled.wait_for(|so| *so).await.is_err() {
            // Answered: it cannot be withdrawn any more.
            std::future::pending::<()>().await;
        }
    }

    /// Makes the response, to be sent before the next line is read.
    pub fn reply<R: Serialize + ?Sized>(mut self, result: &R) -> Reply {
        let line = self.id.take().map(|id| wire::response(&id, Ok(result)));
        Reply(line.unwrap_or_default())
    }

    /// Makes the error response, to be sent before the next line is read.
    pub fn refuse(mut self, error: &RpcError) -> Reply {
        let line = self.id.take().map(|id| wire::refusal(Some(&id), error));
        Reply(line.unwrap_or_default())
    }

    /// Sends the response, waiting for room. A peer that is gone gets none.
    pub async fn respond<R: Serialize + ?Sized>(mut self, answer: Result<&R, &RpcError>) {
        if let Some(id) = &self.id {
            let line = wire::response(id, answer);
            let _gone = self.peer.lane().send(&line).await;
            self.id = None;
        }
    }
}

/// The id may be used again once the response is on its way.
impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let line = wire::refusal(Some(&id), &RpcError::internal_error());
            let write = |pending: &mut Vec<u8>| pending.extend_from_slice(&line);
            let _gone = self.peer.lane().send_urgent(write);
        }
        self.peer.incoming().remove(&self.key);
    }
}
