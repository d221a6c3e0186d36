//! A prompt that is being answered: one turn of the engine, and how it is stopped.
//! A prompt never ends before its calls have.

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

/// The most prompts that wait for the one that is being answered; each may be large.
const MAX_WAITING: usize = 4;

/// How long aborted work may take to drop what it holds.
const ABORT_TIMEOUT: Duration = Duration::from_secs(1);

/// The result of answering a prompt: a [`StopReason`], or a `Result` with one.
pub trait IntoStopReason {
    /// Converts it to the response to the prompt.
    fn into_stop_reason(self) -> Result<StopReason, ServiceError>;
}

impl IntoStopReason for StopReason {
    fn into_stop_reason(self) -> Result<StopReason, ServiceError> {
        Ok(self)
    }
}

impl IntoStopReason for Result<StopReason, ServiceError> {
    fn into_stop_reason(self) -> Result<StopReason, ServiceError> {
        self
    }
}

/// A prompt that is being answered: one turn of the engine.
///
/// [`call`](Self::call) runs tools, [`say`](Self::say) sends text to the user.
pub struct Prompt {
    session: Arc<Session>,
    turn: Turn,
    cancelled: watch::Sender<bool>,
}

/// The open prompts of a session: the one being answered, and those that wait.
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

    /// Whether the most prompts wait.
    pub(super) fn is_full(&self) -> bool {
        self.open().len() > MAX_WAITING
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

    /// Runs `work` until it is done or the prompt is stopped. It runs in its own task, so that the calls
    /// end and the client is answered even if it panics.
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
            () = self.stopped(to) => {}
        }
        if self.is_cancelled() {
            // First, so that calls that the work drops end as cancelled.
            self.turn.cancel();
        }
        working.abort();
        // The work drops what it holds before the prompt is answered; if it blocks, it is left behind.
        let _let_go = timeout(ABORT_TIMEOUT, working).await;
        Err(RpcError::request_cancelled())
    }

    /// Waits until the prompt is cancelled or withdrawn, or the client is gone.
    pub(super) async fn stopped(&self, to: &Responder) {
        tokio::select! {
            () = self.cancelled() => {}
            () = to.cancelled() => self.turn.cancel(),
            () = self.session.peer.gone() => {}
        }
    }

    /// Returns its session.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Returns the engine's turn, for parallel calls and streamed inputs.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// Runs a tool and waits for its outcome.
    pub async fn call(&self, request: ToolRequest) -> Outcome {
        self.begin(request).await.await
    }

    /// Starts a call without waiting for its outcome.
    pub async fn begin(&self, request: ToolRequest) -> CallHandle {
        self.turn.call(request).await
    }

    /// Sends text to the user, unless the client is gone or the prompt was cancelled.
    pub async fn say(&self, text: impl AsRef<str>) {
        if !self.is_cancelled() {
            let _gone = self.session.say(text).await;
        }
    }

    /// Cancels the prompt and its calls. [`Prompt::end`] then returns [`StopReason::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.send_replace(true);
        self.turn.cancel();
    }

    /// Whether the prompt was cancelled.
    pub fn is_cancelled(&self) -> bool {
        *self.cancelled.borrow()
    }

    /// Waits until the prompt is cancelled.
    pub async fn cancelled(&self) {
        // `self` holds the sender, so the channel stays open.
        let mut cancelled = self.cancelled.subscribe();
        let _open = cancelled.wait_for(|is_cancelled| *is_cancelled).await;
    }

    /// Ends the prompt. Every call has ended and was reported when this returns the response. The
    /// response to a cancelled prompt is always [`StopReason::Cancelled`].
    pub async fn end(&self, done: Result<StopReason, RpcError>) -> Result<StopReason, RpcError> {
        if self.is_cancelled() {
            // So that its calls end as cancelled by the user, not by the end of the turn.
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
