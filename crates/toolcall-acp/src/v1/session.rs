//! A session with a client: its engine, its prompts, and what it tells besides calls.
//! It keeps order: whatever a prompt did has ended and was told before the prompt is answered.

use std::sync::{Arc, Weak};
use std::time::Duration;

use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, PromptRequest, PromptResponse, SessionNotification, SessionUpdate,
    StopReason,
};
use agent_client_protocol::{Error, RequestCancellation, Result};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::{Mutex as Line, watch};
use tokio::time::timeout;
use toolcall::{CallHandle, Engine, Outcome, SessionId, ToolCall, ToolRequest, Turn};

use super::encode::snapshot;
use super::{Dialect, Reports};
use crate::lane::Closed;
use crate::peer::Peer;
use crate::service::{Choice, Party};
use crate::trace::TraceContext;

/// How many prompts may wait for the one that is being answered; each may be large.
const MOST_WAITING: usize = 4;

/// How long work that was broken off may take to let go of what it holds.
const LETTING_GO: Duration = Duration::from_secs(1);

/// A session that a client has open.
pub struct Session {
    id: SessionId,
    engine: Engine,
    peer: Peer,
    reports: Reports,
    /// The client's name and version.
    who: Party,
    /// Those that are being answered, or wait for that.
    prompts: Mutex<Vec<Weak<Prompt>>>,
    /// Held by the one that is being answered: turns never interleave.
    turns: Line<()>,
    /// What the client knows of what may be chosen.
    choices: Mutex<Vec<Choice>>,
}

/// Why an answer stops: a reason, or a reason or an error.
pub trait IntoStop {
    /// What to answer the prompt with.
    fn into_stop(self) -> Result<StopReason>;
}

impl IntoStop for StopReason {
    fn into_stop(self) -> Result<StopReason> {
        Ok(self)
    }
}

impl IntoStop for Result<StopReason> {
    fn into_stop(self) -> Result<StopReason> {
        self
    }
}

/// A prompt that is being answered: one turn of the engine.
pub struct Prompt {
    session: Arc<Session>,
    turn: Turn,
    cancelled: watch::Sender<bool>,
}

impl Session {
    pub(crate) fn new(
        id: SessionId,
        engine: Engine,
        peer: Peer,
        reports: Reports,
        who: Party,
    ) -> Self {
        reports.follow(engine.journal());
        Self {
            id,
            engine,
            peer,
            reports,
            who,
            prompts: Mutex::default(),
            turns: Line::new(()),
            choices: Mutex::default(),
        }
    }

    /// Its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The client's name and version.
    pub fn who(&self) -> &Party {
        &self.who
    }

    /// What the client knows of what may be chosen.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        self.choices.lock().clone()
    }

    /// The client knows these from now on. What it knew before is returned.
    pub(crate) fn replace_choices(&self, choices: Vec<Choice>) -> Vec<Choice> {
        std::mem::replace(&mut *self.choices.lock(), choices)
    }

    /// What was told of its calls.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Begins to answer a prompt. [`Prompt::end`] says what to answer.
    pub fn begin(self: &Arc<Self>, request: &PromptRequest) -> Arc<Prompt> {
        let prompt = self.line_up(request);
        self.reports.trace(trace_of(request));
        prompt
    }

    /// A prompt that waits for its turn.
    fn line_up(self: &Arc<Self>, request: &PromptRequest) -> Arc<Prompt> {
        let turn = self.engine.turn();
        turn.set_trace(trace_of(request).handed_on());
        let prompt = Arc::new(Prompt {
            session: self.clone(),
            turn,
            cancelled: watch::Sender::new(false),
        });
        let mut prompts = self.prompts.lock();
        prompts.retain(|prompt| prompt.strong_count() > 0);
        prompts.push(Arc::downgrade(&prompt));
        prompt
    }

    /// Answers a prompt in a task of its own, so that the connection goes on. Whatever `work` does,
    /// every call has ended and was told before the answer leaves. When the prompt is cancelled, or
    /// the client is gone, `work` is dropped.
    pub fn answer<W, F>(
        self: Arc<Self>,
        request: PromptRequest,
        to: Responder<PromptResponse>,
        work: W,
    ) where
        W: FnOnce(Arc<Prompt>, PromptRequest) -> F + Send + 'static,
        F: Future + Send + 'static,
        F::Output: IntoStop,
    {
        if self.answering().len() > MOST_WAITING {
            let why =
                "too many prompts wait in this session; send the next one when one is answered";
            let _gone = to.respond_with_error(Error::invalid_request().data(json!(why)));
            return;
        }
        let (prompt, withdrawn) = (self.line_up(&request), to.cancellation());
        let id = to.raw_id().clone();
        tokio::spawn(async move {
            let turn = tokio::select! {
                biased;
                turn = self.turns.lock() => Some(turn),
                // Broken off before its turn came, it has nothing to wait for.
                () = prompt.broken_off(&withdrawn) => None,
            };
            let done = match turn.is_some() {
                true => {
                    self.reports.trace(trace_of(&request));
                    prompt.work(request, work, &withdrawn).await
                }
                false => Err(Error::request_cancelled()),
            };
            let answered = to.respond_with_result(prompt.end(done).await);
            // The answer goes by the SDK's queue, what the next turn tells does not: it must not overtake.
            if answered.is_ok() {
                self.peer.answered(&id).await;
            }
            drop(turn);
        });
    }

    /// `session/cancel`: cancels what is being answered, and every call of it.
    pub fn cancel(&self) {
        for prompt in self.answering() {
            prompt.cancel();
        }
    }

    /// Does something while no prompt is answered; those that come meanwhile wait.
    pub async fn undisturbed<T>(&self, work: impl Future<Output = T>) -> T {
        let _turn = self.turns.lock().await;
        work.await
    }

    /// Ends every call of what is being answered, and waits until nothing is.
    pub async fn end(&self) {
        for prompt in self.answering() {
            prompt.turn.close().await;
        }
        drop(self.turns.lock().await);
    }

    fn answering(&self) -> Vec<Arc<Prompt>> {
        let prompts = self.prompts.lock();
        prompts.iter().filter_map(Weak::upgrade).collect()
    }

    /// Says something to the person.
    pub async fn say(&self, text: impl Into<String>) -> std::result::Result<(), Closed> {
        let chunk = ContentChunk::new(ContentBlock::from(text.into()));
        self.send(SessionUpdate::AgentMessageChunk(chunk)).await
    }

    /// Sends any update, in order with what is told of calls.
    pub async fn send(&self, update: SessionUpdate) -> std::result::Result<(), Closed> {
        let notification = SessionNotification::new(self.id.as_str().to_owned(), update);
        self.peer.notify("session/update", &notification).await
    }

    /// Tells of calls that are over and done, as `session/load` asks for, each as it ended.
    pub async fn replay(&self, calls: &[ToolCall]) -> std::result::Result<(), Closed> {
        let dialect = Dialect {
            printing: self.reports.printing(),
            trace: TraceContext::default(),
        };
        for update in calls.iter().flat_map(|call| snapshot(call, &dialect)) {
            let mut line = Vec::new();
            update.write_line(&self.id, &mut line);
            self.peer.lane().send(&line).await?;
        }
        Ok(())
    }
}

fn trace_of(request: &PromptRequest) -> TraceContext {
    TraceContext::from_meta(request.meta.as_ref())
}

impl Prompt {
    /// Works on it until that is done or nobody wants it any more. In a task: if it panics, its
    /// calls are ended and the client is answered all the same.
    async fn work<W, F>(
        self: &Arc<Self>,
        request: PromptRequest,
        work: W,
        withdrawn: &RequestCancellation,
    ) -> Result<StopReason>
    where
        W: FnOnce(Arc<Prompt>, PromptRequest) -> F + Send + 'static,
        F: Future + Send + 'static,
        F::Output: IntoStop,
    {
        let prompt = self.clone();
        let mut working = tokio::spawn(async move { work(prompt, request).await.into_stop() });
        tokio::select! {
            done = &mut working => return done.unwrap_or_else(|_| Err(Error::internal_error())),
            () = self.broken_off(withdrawn) => {}
        }
        if self.is_cancelled() {
            // First, so that what it lets go of ends as cancelled.
            self.turn.cancel();
        }
        working.abort();
        // What it holds is let go before the prompt is answered; one that blocks is not waited for.
        let _let_go = timeout(LETTING_GO, working).await;
        Err(Error::request_cancelled())
    }

    /// Waits until the prompt is cancelled or withdrawn, or nobody is there to be answered; what
    /// runs is ended all the same.
    async fn broken_off(&self, withdrawn: &RequestCancellation) {
        tokio::select! {
            () = self.cancelled() => {}
            _ = withdrawn.cancelled() => self.turn.cancel(),
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

    /// Says something to the person, unless the client is gone or the prompt was cancelled.
    pub async fn say(&self, text: impl Into<String>) {
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
    pub async fn end(&self, done: Result<StopReason>) -> Result<PromptResponse> {
        if self.is_cancelled() {
            // By the person, whoever is faster.
            self.turn.cancel();
        }
        self.turn.close().await;
        self.session.reports.all_told().await;
        match self.is_cancelled() {
            true => Ok(PromptResponse::new(StopReason::Cancelled)),
            false => done.map(PromptResponse::new),
        }
    }
}
