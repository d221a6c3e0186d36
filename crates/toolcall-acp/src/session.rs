//! A session with a client: its engine, the order of its prompts, its questions and its updates.
//! Every call of a prompt has ended and was reported before the prompt is answered. It names no
//! protocol version: its codec writes everything that goes over the wire.

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

/// The most notices that are kept for the next turn, because errors repeat themselves.
const MAX_NOTICES: usize = 16;

/// An open session of a client.
pub struct Session {
    id: SessionId,
    engine: Engine,
    peer: Peer,
    codec: Arc<dyn Codec>,
    reports: Reports,
    /// The client's name and version.
    client_info: Implementation,
    prompts: Arc<Prompts>,
    /// Held by the prompt that is being answered, so that turns never interleave.
    turn_lock: AsyncMutex<()>,
    /// The options as the client knows them.
    config_options: Mutex<Vec<ConfigOption>>,
    /// Notices to the user that were not sent yet.
    notices: Mutex<Vec<String>>,
}

impl Session {
    /// Opens a session: its engine reports to the client, asks it for permission, and uses what it offers.
    pub(crate) fn open(
        engine: EngineBuilder,
        peer: Peer,
        codec: Arc<dyn Codec>,
        client_info: Implementation,
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
            client_info,
            prompts,
            turn_lock: AsyncMutex::new(()),
            config_options: Mutex::default(),
            notices: Mutex::default(),
        })
    }

    /// Returns its id.
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns its engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns the client's name and version.
    pub fn client_info(&self) -> &Implementation {
        &self.client_info
    }

    /// Returns the protocol version of the connection.
    pub fn protocol(&self) -> ProtocolVersion {
        self.codec.version()
    }

    /// Returns the reports of its calls, to wait for them.
    pub fn reports(&self) -> &Reports {
        &self.reports
    }

    /// Returns the options as the client knows them.
    pub(crate) fn config_options(&self) -> Vec<ConfigOption> {
        self.config_options.lock().clone()
    }

    /// Sets the options as the client knows them. Returns those it knew before.
    pub(crate) fn replace_config_options(
        &self,
        config_options: Vec<ConfigOption>,
    ) -> Vec<ConfigOption> {
        std::mem::replace(&mut *self.config_options.lock(), config_options)
    }

    /// Keeps a notice to the user until the next turn: a server that cannot be used, a history that
    /// cannot be written.
    pub fn note(&self, notice: impl Into<String>) {
        let mut notices = self.notices.lock();
        if notices.len() < MAX_NOTICES {
            notices.push(notice.into());
        }
    }

    /// Takes the notices that were kept, to send them now.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock())
    }

    /// Begins a prompt. [`Prompt::end`] ends it.
    pub fn begin(self: &Arc<Self>, trace: TraceContext) -> Arc<Prompt> {
        let prompt = self.queue_prompt(&trace);
        self.reports.trace(trace);
        prompt
    }

    /// Creates a prompt that waits for its turn.
    fn queue_prompt(self: &Arc<Self>, trace: &TraceContext) -> Arc<Prompt> {
        let turn = self.engine.turn();
        turn.set_trace(trace.to_core());
        let prompt = Arc::new(Prompt::new(self.clone(), turn));
        self.prompts.add(&prompt);
        prompt
    }

    /// Answers a prompt in its own task, so that the connection is not blocked. Whatever `work` does,
    /// every call has ended and was reported before the response is sent. `work` is dropped when the
    /// prompt is cancelled or the client is gone.
    pub(crate) fn answer<W, F>(self: Arc<Self>, trace: TraceContext, to: Responder, work: W)
    where
        W: FnOnce(Arc<Prompt>) -> F + Send + 'static,
        F: Future<Output = Result<StopReason, ServiceError>> + Send + 'static,
    {
        let prompt = self.queue_prompt(&trace);
        tokio::spawn(async move {
            let turn = tokio::select! {
                biased;
                turn = self.turn_lock.lock() => Some(turn),
                // Stopped before its turn came, so it has no work to wait for.
                () = prompt.stopped(&to) => None,
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
            // The next turn sends its updates after this response.
            drop(turn);
        });
    }

    /// Whether so many prompts wait that no further one is accepted.
    pub(crate) fn is_busy(&self) -> bool {
        self.prompts.is_full()
    }

    /// Cancels every prompt and its calls.
    pub fn cancel(&self) {
        self.prompts.cancel();
    }

    /// Runs `work` while no prompt is being answered. Prompts that arrive meanwhile wait.
    pub async fn run_between_prompts<T>(&self, work: impl Future<Output = T>) -> T {
        let _turn = self.turn_lock.lock().await;
        work.await
    }

    /// Ends every call of every prompt, and waits until no prompt is being answered.
    pub async fn end(&self) {
        for prompt in self.prompts.open() {
            prompt.turn().close().await;
        }
        drop(self.turn_lock.lock().await);
    }

    /// Sends a notice to the client, in order with the reports of calls.
    async fn notify(&self, notice: Notice<'_>) -> Result<(), Closed> {
        let write = |line: &mut Vec<u8>| self.codec.notice(&self.id, &notice, line);
        self.peer.lane().send_with(write).await.map(drop)
    }

    /// Sends calls that have ended, each with its final state, to replay a stored session.
    pub async fn replay(&self, calls: &[ToolCall]) -> Result<(), Closed> {
        for call in calls {
            let write = |lines: &mut Group<'_>| self.codec.replay(&self.id, call, lines);
            self.peer.lane().send_all(write).await?;
        }
        Ok(())
    }
}
