//! The handler of the peer's requests and notifications, and the responders to requests.
//! Every request is answered exactly once: a responder that is dropped answers with an error.

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::inbound::RequestId;
use crate::peer::Peer;
use crate::wire::{self, RpcError};

/// Handles the peer's requests and notifications. It is called while the peer's lines are read, so it
/// must not block: move work that takes time to a task, together with the responder.
pub trait Dispatch: Send + Sync {
    /// Handles a request.
    fn request(&self, method: &str, params: Option<&RawValue>, to: Responder) -> Handled;

    /// Handles a notification.
    fn notification(&self, _method: &str, _params: Option<&RawValue>) {}
}

/// How a request was handled.
pub enum Handled {
    /// The responder will answer it later.
    Later,
    /// This reply is sent before the next line is read.
    Now(ResponseLine),
}

/// A handler that refuses every request, for connections that only report.
pub struct NoMethods;

impl Dispatch for NoMethods {
    fn request(&self, method: &str, _: Option<&RawValue>, to: Responder) -> Handled {
        Handled::Now(to.refuse(&RpcError::method_not_found(method)))
    }
}

/// A response that is ready to be sent.
pub struct ResponseLine(pub(crate) Vec<u8>);

/// Answers one request of the peer. If it is dropped, it answers with an internal error.
pub struct Responder {
    /// The id as the peer wrote it; `None` after the response.
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
        if cancelled
            .wait_for(|is_cancelled| *is_cancelled)
            .await
            .is_err()
        {
            // The request was answered, so it cannot be withdrawn any more.
            std::future::pending::<()>().await;
        }
    }

    /// Builds the response, to be sent before the next line is read.
    pub fn reply<R: Serialize + ?Sized>(mut self, result: &R) -> ResponseLine {
        let line = self.id.take().map(|id| wire::response(&id, Ok(result)));
        ResponseLine(line.unwrap_or_default())
    }

    /// Builds an error response, to be sent before the next line is read.
    pub fn refuse(mut self, error: &RpcError) -> ResponseLine {
        let line = self
            .id
            .take()
            .map(|id| wire::error_response(Some(&id), error));
        ResponseLine(line.unwrap_or_default())
    }

    /// Sends the response, waiting for room in the lane. A peer that is gone receives none.
    pub async fn respond<R: Serialize + ?Sized>(mut self, answer: Result<&R, &RpcError>) {
        if let Some(id) = &self.id {
            let line = wire::response(id, answer);
            let _gone = self.peer.lane().send(&line).await;
            self.id = None;
        }
    }
}

/// The peer may use the id again once the response is in the lane.
impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let line = wire::error_response(Some(&id), &RpcError::internal_error());
            let write = |pending: &mut Vec<u8>| pending.extend_from_slice(&line);
            let _gone = self.peer.lane().send_urgent(write);
        }
        self.peer.incoming().remove(&self.key);
    }
}
