//! A prompt that is being answered: one turn of the engine, and how it is broken off.
//! It keeps the promise that a prompt ends after everything it did.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;
use toolcall::{CallHandle, Outcome, ToolRequest, Turn};

use super::Session;
use crate::dispatch::Responder;
use crate::peer::RpcError;
use crate::service::{ServiceError, StopReason};

/// How many prompts may wait for the one that is being answered; each may be large.
const MOST_WAITING: usize = 4;

/// How long work that was broken off may take to let go of what it holds.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Why an answer stops: a reason, or a reason or an error.
pub trait IntoStopReason {
    /// What to answer the prompt with.
    fn into_stop(self) -> Result<StopReason, ServiceError>;
}

impl IntoStopReason for StopReason {
    fn into_stop(self) -> Result<StopReason, ServiceError> {
        Ok(self)
    }
}

impl IntoStopReason for Result<StopReason, ServiceError> {
    fn into_stop(self) -> Result<StopReason, ServiceError> {
        self
    }
}

/// A prompt that is being answered: one turn of the engine.
pub struct Prompt {
    session: Arc<Session>,
    turn: Turn,
    cancelled: watch::Sender<bool>,
}

/// The prompts of a session that are being answered, or wait for that.
#[derive(Default)]
pub(super) struct Prompts(Mutex<Vec<Weak<Prompt>>>);

impl Prompts {
    pub(super) fn add(&self, prompt: &Arc<Prompt>) {
        let mut prompts = self.0.lock();
        prompts.retain(|prompt| prompt.strong_count() > 0);
        prompts.push(Arc::downgrade(prompt));
    }

    pub(super) fn open(&self) -> Vec<Arc<Prompt>> {
        self.0.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Whether as many wait as may.
    pub(super) fn are_many(&self) -> bool {
        self.open().len() > MOST_WAITING
    }

    pub(super) fn cancel(&self) {
        for prompt in self.open() {
            prompt.cancel();
        }
    }
}

impl Prompt {
    pub(super) fn new(session: Arc<Session>, turn: Turn) -> Self {
        Self {
            session,
            turn,
            cancelled: watch::Sender::new(false),
        }
    }

    /// Works on it until that is done or nobody wants it any more. In a task: if it panics, its
    /// calls are ended and the client is answered all the same.
    pub(super) async fn work<W, F>(
        self: &Arc<Self>,
        work: W,
        to: &Responder,
    ) -> Result<StopReason, RpcError>
    where
        W: FnOnce(Arc<Prompt>) -> F + Send + 'static,
        F: Future<Output = Result<StopReason, ServiceError>> + Send + 'static,
    {
        let prompt = self.clone();
        let mut working = tokio::spawn(async move { work(prompt).await });
        tokio::select! {
            done = &mut working => return match done {
                Ok(stop) => stop.map_err(RpcError::from),
                Err(_) => Err(RpcError::internal_error()),
            },
            () = self.broken_off(to) => {}
        }
        if self.is_cancelled() {
            // First, so that what it lets go of ends as cancelled.
            self.turn.cancel();
        }
        working.abort();
        // What it holds is let go before the prompt is answered; one that blocks is not waited for.
        let _let_go = timeout(LETTING_GO, working).await;
        Err(RpcError::request_cancelled())
    }

    /// Waits until the prompt is cancelled or withdrawn, or nobody is there to be answered; what
    /// runs is ended all the same.
    pub(super) async fn broken_off(&self, to: &Responder) {
        tokio::select! {
            () = self.cancelled() => {}
            () = to.cancelled() => self.turn.cancel(),
            () = self.session.peer.gone() => {}
        }
    }

    /// The session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The engine's turn: calls may run side by side, and inputs be streamed.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Makes a call and waits for what comes of it.
    pub async fn call(&self, request: ToolRequest) -> Outcome {
        self.begin(request).await.await
    }

    /// Begins a call.
    pub async fn begin(&self, request: ToolRequest) -> CallHandle {
        self.turn.call(request).await
    }

    /// Says something to the user, unless the client is gone or the prompt was cancelled.
    pub async fn say(&self, text: impl AsRef<str>) {
        if !self.is_cancelled() {
            let _gone = self.session.say(text).await;
        }
    }

    /// Cancels it: its calls end, and [`Prompt::end`] answers so.
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
        self.turn.cancel();
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        // The sender is ours, so it cannot be gone before.
        let mut cancelled = self.cancelled.subscribe();
        let _so = cancelled.wait_for(|so| *so).await;
    }

    /// Ends it: every call has ended and was told when this returns what to answer. A cancelled
    /// prompt is answered as such, whatever came of it.
    pub async fn end(&self, done: Result<StopReason, RpcError>) -> Result<StopReason, RpcError> {
        if self.is_cancelled() {
            // By the user, whoever is faster.
            self.turn.cancel();
        }
        self.turn.close().await;
        self.session.reports.flush().await;
        if self.is_cancelled() {
            return Ok(StopReason::Cancelled);
        }
        done
    }
}
