//! A session with a client: its engine, the order of its prompts, what it asks and tells.
//! It keeps order: whatever a prompt did has ended and was told before the prompt is answered. It
//! names no protocol version: what goes over the wire is written by its codec.

mod approver;
mod prompt;
mod updates;

use std::sync::Arc;

use parking_lot::Mutex;

use tokio::sync::Mutex as AsyncMutex;
use toolcall::{Engine, EngineBuilder, SessionId, ToolCall};

use self::approver::ClientApprover;
use self::prompt::Prompts;
pub use self::prompt::{IntoStopReason, Prompt};
use crate::codec::{Codec, Notice, Response};
use crate::dispatch::Responder;
use crate::lane::{Closed, Group};
use crate::peer::{Peer, RpcError};
use crate::report::Reporter;
pub use crate::report::{ReportCounters, Reports};
use crate::service::{CommandPlacement, ConfigOption, Implementation, ServiceError, StopReason};
use crate::trace::TraceContext;
use crate::version::ProtocolVersion;

/// Notices are kept up to this many; trouble repeats itself.
const MOST_NOTICES: usize = 16;

/// A session that a client has open.
pub struct Session {
    id: SessionId,
    engine: Engine,
    peer: Peer,
    codec: Arc<dyn Codec>,
    reports: Reports,
    /// The client's name and version.
    who: Implementation,
    prompts: Arc<Prompts>,
    /// Held by the prompt that is being answered: turns never interleave.
    turns: AsyncMutex<()>,
    /// What the client knows of what may be chosen.
    choices: Mutex<Vec<ConfigOption>>,
    /// What the user should know and was not told yet.
    notices: Mutex<Vec<String>>,
}

impl Session {
    /// Opens a session: its engine reports to the client, asks it, and uses what it offers.
    pub(crate) fn open(
        engine: EngineBuilder,
        peer: Peer,
        codec: Arc<dyn Codec>,
        who: Implementation,
        commands: CommandPlacement,
    ) -> Arc<Self> {
        let id = engine.session().clone();
        let reporter = Reporter::new(id.clone(), peer.lane().clone(), codec.clone());
        let (reports, prompts) = (reporter.reports(), Arc::<Prompts>::default());
        let approver = ClientApprover {
            peer: peer.clone(),
            codec: codec.clone(),
            reports: reports.clone(),
            prompts: prompts.clone(),
        };
        let engine = engine
            .reader(reporter)
            .approver(approver)
            .host_around(|local| codec.host(&id, &peer, commands, local))
            .build();
        reports.follow(engine.journal());
        Arc::new(Self {
            id,
            engine,
            peer,
            codec,
            reports,
            who,
            prompts,
            turns: AsyncMutex::new(()),
            choices: Mutex::default(),
            notices: Mutex::default(),
        })
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
    pub fn client_info(&self) -> &Implementation {
        &self.who
    }

    /// The version of the protocol that is spoken.
    pub fn protocol(&self) -> ProtocolVersion {
        self.codec.version()
    }

    /// What was told of its calls.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// What the client knows of what may be chosen.
    pub(crate) fn choices(&self) -> Vec<ConfigOption> {
        self.choices.lock().clone()
    }

    /// The client knows these from now on. What it knew before is returned.
    pub(crate) fn replace_config_options(&self, choices: Vec<ConfigOption>) -> Vec<ConfigOption> {
        std::mem::replace(&mut *self.choices.lock(), choices)
    }

    /// Keeps something that the user should know with the next turn: a server that cannot be used, a
    /// history that cannot be written.
    pub fn note(&self, notice: impl Into<String>) {
        let mut notices = self.notices.lock();
        if notices.len() < MOST_NOTICES {
            notices.push(notice.into());
        }
    }

    /// Takes what the user should know, to be said now.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock())
    }

    /// Begins to answer a prompt. [`Prompt::end`] says what to answer.
    pub fn begin(self: &Arc<Self>, trace: TraceContext) -> Arc<Prompt> {
        let prompt = self.line_up(&trace);
        self.reports.trace(trace);
        prompt
    }

    /// A prompt that waits for its turn.
    fn line_up(self: &Arc<Self>, trace: &TraceContext) -> Arc<Prompt> {
        let turn = self.engine.turn();
        turn.set_trace(trace.handed_on());
        let prompt = Arc::new(Prompt::new(self.clone(), turn));
        self.prompts.add(&prompt);
        prompt
    }

    /// Answers a prompt in a task of its own, so that the connection goes on. Whatever `work` does,
    /// every call has ended and was told before the answer leaves. When the prompt is cancelled, or
    /// the client is gone, `work` is dropped.
    pub(crate) fn answer<W, F>(self: Arc<Self>, trace: TraceContext, to: Responder, work: W)
    where
        W: FnOnce(Arc<Prompt>) -> F + Send + 'static,
        F: Future<Output = Result<StopReason, ServiceError>> + Send + 'static,
    {
        let prompt = self.line_up(&trace);
        tokio::spawn(async move {
            let turn = tokio::select! {
                biased;
                turn = self.turns.lock() => Some(turn),
                // Broken off before its turn came, it has nothing to wait for.
                () = prompt.broken_off(&to) => None,
            };
            let done = if turn.is_some() {
                self.reports.trace(trace);
                prompt.work(work, &to).await
            } else {
                Err(RpcError::request_cancelled())
            };
            match prompt.end(done).await {
                Ok(stop) => {
                    let response = self.codec.response(&Response::Stopped(stop));
                    to.respond(Ok(&response)).await;
                }
                Err(error) => to.respond::<()>(Err(&error)).await,
            }
            // What the next turn tells comes after the answer.
            drop(turn);
        });
    }

    /// Whether so many prompts wait that no further one is taken.
    pub(crate) fn is_busy(&self) -> bool {
        self.prompts.are_many()
    }

    /// Cancels what is being answered, and every call of it.
    pub fn cancel(&self) {
        self.prompts.cancel();
    }

    /// Does something while no prompt is answered; those that come meanwhile wait.
    pub async fn undisturbed<T>(&self, work: impl Future<Output = T>) -> T {
        let _turn = self.turns.lock().await;
        work.await
    }

    /// Ends every call of what is being answered, and waits until nothing is.
    pub async fn end(&self) {
        for prompt in self.prompts.open() {
            prompt.turn().close().await;
        }
        drop(self.turns.lock().await);
    }

    /// Tells the client something beside calls, in order with what is told of calls.
    async fn notify(&self, notice: Notice<'_>) -> Result<(), Closed> {
        let write = |line: &mut Vec<u8>| self.codec.notice(&self.id, &notice, line);
        self.peer.lane().send_with(write).await.map(drop)
    }

    /// Tells of calls that are over and done, each as it ended, as a replay does.
    pub async fn replay(&self, calls: &[ToolCall]) -> Result<(), Closed> {
        for call in calls {
            let write = |lines: &mut Group<'_>| self.codec.replay(&self.id, call, lines);
            self.peer.lane().send_all(write).await?;
        }
        Ok(())
    }
}
