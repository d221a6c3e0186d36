//! The peer at the other end: lines, requests and notifications to it.
//! Everything goes through the one lane, so that nothing overtakes what was said before it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::{oneshot, watch};

use crate::inbound::Incoming;
use crate::lane::{Closed, Lane};
use crate::requests::{Answer, OwnId, Requests};
use crate::wire;
pub use crate::wire::RpcError;

/// A handle to the peer. Cheap to clone, and good for any task while the connection runs.
#[derive(Clone)]
pub struct Peer(Arc<Shared>);

/// Why there is no answer from the peer.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PeerError {
    /// The connection ended.
    #[error("the peer is gone")]
    Gone,
    /// The peer answered with an error.
    #[error("the peer answered with {0}")]
    Answered(RpcError),
    /// The answer is no answer, or the parameters cannot be written.
    #[error("the message is malformed")]
    Malformed,
}

impl From<Closed> for PeerError {
    fn from(Closed: Closed) -> Self {
        Self::Gone
    }
}

struct Shared {
    lane: Lane,
    requests: Requests,
    incoming: Incoming,
    gone: watch::Sender<bool>,
    /// Whether nothing more is heard, although the peer may still speak.
    hung_up: watch::Sender<bool>,
}

impl Peer {
    pub(crate) fn new(lane: Lane, requests: Requests, incoming: Incoming) -> Self {
        Self(Arc::new(Shared {
            lane,
            requests,
            incoming,
            gone: watch::Sender::new(false),
            hung_up: watch::Sender::new(false),
        }))
    }

    /// The lane to the peer.
    pub fn lane(&self) -> &Lane {
        &self.0.lane
    }

    /// Sends a request and waits for its answer.
    ///
    /// Waits for its turn if too many requests are unanswered or the lane is full. Dropped before
    /// the line entered the lane, it sends nothing; dropped after, it withdraws the request with
    /// `$/cancel_request`.
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
        written.map_err(|error| unwritable(method, &error))?;
        request.sent = true;
        (&mut request.answer).await.unwrap_or(Err(PeerError::Gone))
    }

    /// Sends a request whose answer nobody waits for. It enters the lane at once, also from a
    /// `Drop` and also if the lane is full.
    pub fn request_and_forget(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), Closed> {
        let id = self.0.requests.next_id();
        let mut written = Ok(());
        self.lane()
            .send_urgent(|line| written = wire::request(line, id, method, params))?;
        written.unwrap_or_else(|error| drop(unwritable(method, &error)));
        Ok(())
    }

    /// Sends a notification, waiting for room.
    pub async fn notify(
        &self,
        method: &str,
        params: &(impl Serialize + Sync + ?Sized),
    ) -> Result<(), Closed> {
        let mut written = Ok(());
        self.lane()
            .send_with(|line| written = wire::notification(line, method, params))
            .await?;
        written.unwrap_or_else(|error| drop(unwritable(method, &error)));
        Ok(())
    }

    /// Resolves when the peer's input ended, writing failed, or the connection was dropped.
    pub async fn gone(&self) {
        let mut gone = self.0.gone.subscribe();
        // The sender is in our hands, so it cannot go first.
        drop(gone.wait_for(|gone| *gone).await);
    }

    /// Hears nothing more from the peer: the connection ends as if its input had, with what was
    /// said until then.
    pub fn hang_up(&self) {
        self.0.hung_up.send_replace(true);
    }

    /// Resolves when nothing more is to be heard.
    pub(crate) async fn hung_up(&self) {
        let mut hung_up = self.0.hung_up.subscribe();
        // The sender is in our hands, so it cannot go first.
        drop(hung_up.wait_for(|so| *so).await);
    }

    pub(crate) fn requests(&self) -> &Requests {
        &self.0.requests
    }

    /// The peer's requests that are not answered.
    pub(crate) fn incoming(&self) -> &Incoming {
        &self.0.incoming
    }

    /// Nothing comes from the peer any more; what goes to it still does.
    pub(crate) fn input_ended(&self) {
        self.0.requests.end();
        self.0.gone.send_replace(true);
    }

    /// The connection is over.
    pub(crate) fn end(&self) {
        self.0.lane.close();
        self.input_ended();
    }
}

/// Parameters that cannot be written are a bug of the caller's, and none of the connection's.
fn unwritable(method: &str, error: &serde_json::Error) -> PeerError {
    tracing::error!(method, %error, "the parameters cannot be written");
    PeerError::Malformed
}

/// A request under way. Dropped before its answer came, it is withdrawn.
struct Request<'a> {
    peer: &'a Peer,
    id: OwnId,
    answer: oneshot::Receiver<Answer>,
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
            // A closed lane needs no withdrawal, and these parameters can be written.
            let _ = self.peer.lane().send_urgent(|line| {
                let _ = wire::notification(line, "$/cancel_request", &params);
            });
        }
    }
}
