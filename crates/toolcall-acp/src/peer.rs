//! A handle to the peer at the other end of a connection: sends it requests and notifications.
//! Everything goes through one lane, so that no message overtakes an earlier one.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::{oneshot, watch};

use crate::inbound::IncomingRequests;
use crate::lane::{Closed, Lane};
use crate::requests::{OwnRequestId, Requests, ResponseResult};
use crate::wire;
pub use crate::wire::RpcError;

/// A handle to the peer. Cheap to clone, and usable from any task while the connection runs.
#[derive(Clone)]
pub struct Peer(Arc<PeerInner>);

/// Why a request to the peer has no result.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PeerError {
    /// The connection ended.
    #[error("the peer is gone")]
    Gone,
    /// The peer responded with an error.
    #[error("the peer answered with {0}")]
    Answered(RpcError),
    /// The response is malformed, or the parameters cannot be serialized.
    #[error("the message is malformed")]
    Malformed,
}

impl From<Closed> for PeerError {
    fn from(Closed: Closed) -> Self {
        Self::Gone
    }
}

struct PeerInner {
    lane: Lane,
    requests: Requests,
    incoming: IncomingRequests,
    gone: watch::Sender<bool>,
    /// Whether we stopped reading, although the peer may still send.
    hung_up: watch::Sender<bool>,
}

impl Peer {
    pub(crate) fn new(lane: Lane, requests: Requests, incoming: IncomingRequests) -> Self {
        Self(Arc::new(PeerInner {
            lane,
            requests,
            incoming,
            gone: watch::Sender::new(false),
            hung_up: watch::Sender::new(false),
        }))
    }

    /// Returns the lane to the peer.
    pub fn lane(&self) -> &Lane {
        &self.0.lane
    }

    /// Sends a request and waits for its response.
    ///
    /// It waits for its turn if too many requests are unanswered or the lane is full. If the future is
    /// dropped before the line entered the lane, nothing is sent; if it is dropped later, the request
    /// is withdrawn with `$/cancel_request`.
    pub async fn request(
        &self,
        method: &str,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<Value, PeerError> {
        let _place = self.0.requests.place().await?;
        let mut request = Request::begin(self)?;
        let id = request.id;
        let mut written = Ok(());
        self.lane()
            .send_with(|line| written = wire::request(line, id, method, params))
            .await?;
        written.map_err(|error| serialization_error(method, &error))?;
        request.sent = true;
        (&mut request.answer).await.unwrap_or(Err(PeerError::Gone))
    }

    /// Sends a request and ignores its response. The line enters the lane at once, even if the lane is
    /// full, so that this can be called in `Drop`.
    pub fn request_and_forget(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), Closed> {
        let id = self.0.requests.next_id();
        let mut written = Ok(());
        self.lane()
            .send_urgent(|line| written = wire::request(line, id, method, params))?;
        written.unwrap_or_else(|error| drop(serialization_error(method, &error)));
        Ok(())
    }

    /// Sends a notification, waiting for room in the lane.
    pub async fn notify(
        &self,
        method: &str,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(), Closed> {
        let mut written = Ok(());
        self.lane()
            .send_with(|line| written = wire::notification(line, method, params))
            .await?;
        written.unwrap_or_else(|error| drop(serialization_error(method, &error)));
        Ok(())
    }

    /// Resolves when the peer's input ended, writing failed, or the connection was dropped.
    pub async fn gone(&self) {
        let mut gone = self.0.gone.subscribe();
        // `self` holds the sender, so the channel stays open.
        drop(gone.wait_for(|gone| *gone).await);
    }

    /// Stops reading from the peer. The connection ends as if the peer's input had ended; what was sent
    /// before is still written.
    pub fn stop_reading(&self) {
        self.0.hung_up.send_replace(true);
    }

    /// Resolves when [`stop_reading`](Self::stop_reading) was called.
    pub(crate) async fn hung_up(&self) {
        let mut hung_up = self.0.hung_up.subscribe();
        // `self` holds the sender, so the channel stays open.
        drop(hung_up.wait_for(|hung_up| *hung_up).await);
    }

    pub(crate) fn requests(&self) -> &Requests {
        &self.0.requests
    }

    /// Returns the peer's requests that are not answered.
    pub(crate) fn incoming(&self) -> &IncomingRequests {
        &self.0.incoming
    }

    /// Ends our waiting requests, because the peer's input ended. Lines to the peer are still written.
    pub(crate) fn input_ended(&self) {
        self.0.requests.end();
        self.0.gone.send_replace(true);
    }

    /// Ends the connection.
    pub(crate) fn end(&self) {
        self.0.lane.close();
        self.input_ended();
    }
}

/// Logs parameters that cannot be serialized. That is a bug of the caller, not of the connection.
fn serialization_error(method: &str, error: &serde_json::Error) -> PeerError {
    tracing::error!(method, %error, "the parameters cannot be serialized");
    PeerError::Malformed
}

/// A request that waits for its response. If it is dropped before that, it is withdrawn.
struct Request<'a> {
    peer: &'a Peer,
    id: OwnRequestId,
    answer: oneshot::Receiver<ResponseResult>,
    sent: bool,
}

impl<'a> Request<'a> {
    fn begin(peer: &'a Peer) -> Result<Self, PeerError> {
        let (id, answer) = peer.requests().begin()?;
        Ok(Self {
            peer,
            id,
            answer,
            sent: false,
        })
    }
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        let unanswered = self.peer.requests().withdraw(self.id);
        if unanswered && self.sent {
            let params = json!({ "requestId": self.id });
            // A closed lane needs no withdrawal, and these parameters can be serialized.
            let _ = self.peer.lane().send_urgent(|line| {
                let _ = wire::notification(line, "$/cancel_request", &params);
            });
        }
    }
}
