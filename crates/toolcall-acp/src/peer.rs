//! The peer at the other end: lines, requests and notifications to it, methods served for it.
//! It must not go through the queues of the SDK, whose lines could overtake ours or be overtaken.

use std::collections::HashMap;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use agent_client_protocol::RawJsonRpcId;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::{oneshot, watch};

use crate::inbound::Unanswered;
use crate::lane::{Closed, Lane};
use crate::requests::{Answer, OwnId, Requests};
use crate::wire;

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
    #[error("the peer answered with error {code}: {message}")]
    Answered {
        /// The code, as the peer gave it.
        code: i64,
        /// The message, as the peer gave it.
        message: String,
        /// What else the peer said.
        data: Option<Value>,
    },
    /// The answer is no answer, or the parameters are not what the method takes.
    #[error("the message is malformed")]
    Malformed,
}

impl From<Closed> for PeerError {
    fn from(Closed: Closed) -> Self {
        Self::Gone
    }
}

type Method = Arc<dyn Fn(Value) -> Answer + Send + Sync>;

struct Shared {
    lane: Lane,
    requests: Requests,
    unanswered: Arc<Unanswered>,
    served: Mutex<HashMap<&'static str, Method>>,
    gone: watch::Sender<bool>,
    /// Whether nothing more is heard, although the peer may still speak.
    hung_up: watch::Sender<bool>,
}

impl Peer {
    pub(crate) fn new(lane: Lane, requests: Requests, unanswered: Unanswered) -> Self {
        Self(Arc::new(Shared {
            lane,
            requests,
            unanswered: Arc::new(unanswered),
            served: Mutex::default(),
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

    /// Answers this extension method here, before the SDK sees it; called as a notification, its
    /// answer is dropped. The closure runs while the peer's lines are read and must not block.
    /// Parameters it cannot read it refuses with [`PeerError::Malformed`].
    pub fn serve(
        &self,
        method: &'static str,
        answer: impl Fn(Value) -> Result<Value, PeerError> + Send + Sync + 'static,
    ) {
        self.0.served.lock().insert(method, Arc::new(answer));
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

    /// Who serves this method, if anybody does.
    pub(crate) fn server_of(&self, method: &str) -> Option<Server> {
        self.0.served.lock().get(method).cloned().map(Server)
    }

    pub(crate) fn requests(&self) -> &Requests {
        &self.0.requests
    }

    /// The peer's requests that are not answered.
    pub(crate) fn unanswered(&self) -> &Arc<Unanswered> {
        &self.0.unanswered
    }

    /// Resolves when the answer to this request of the peer is in the lane, or the peer is gone.
    pub(crate) async fn answered(&self, id: &RawJsonRpcId) {
        tokio::select! {
            () = self.0.unanswered.answered(id) => {}
            () = self.gone() => {}
        }
    }

    /// Nothing comes from the peer any more; what goes to it still does.
    pub(crate) fn input_ended(&self) {
        self.0.requests.end();
        self.0.gone.send_replace(true);
    }

    /// The connection is over. What serves methods often holds a peer, so it is let go.
    pub(crate) fn end(&self) {
        self.0.lane.close();
        self.input_ended();
        let served = mem::take(&mut *self.0.served.lock());
        drop(served);
    }
}

/// Parameters that cannot be written are a bug of the caller's, and none of the connection's.
fn unwritable(method: &str, error: &serde_json::Error) -> PeerError {
    tracing::error!(method, %error, "the parameters cannot be written");
    PeerError::Malformed
}

/// What answers a served method.
pub(crate) struct Server(Method);

impl Server {
    /// The answer. A panic is one, too: it must not end the connection.
    pub(crate) fn answer(&self, params: Value) -> Answer {
        catch_unwind(AssertUnwindSafe(|| (self.0)(params))).unwrap_or_else(|_| {
            Err(PeerError::Answered {
                code: wire::INTERNAL_ERROR,
                message: "internal error: the method panicked".to_owned(),
                data: None,
            })
        })
    }
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
