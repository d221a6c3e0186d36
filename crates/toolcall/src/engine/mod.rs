//! Runs calls from the model's request to their one ending; the only async part of the crate.
//! It knows no wire types and no files.

mod builder;
mod call_task;
mod decide;
mod dry_run;
mod elicit;
mod finish;
mod queue;
mod run_tool;
mod stream;
mod turn;
mod watchdog;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};

use crate::approver::Approver;
use crate::event::Canceller;
use crate::host::Host;
use crate::ids::{CallId, CallIds};
use crate::infer;
use crate::intent::{Kind, Sketch};
use crate::journal::Journal;
use crate::map::FastMap;
use crate::outcome::Outcome;
use crate::policy::{Rulebook, SessionContext};
use crate::registry::Registry;
use crate::repeat::RepeatedFailures;
use crate::request::ToolRequest;
use crate::schedule::Position;
use crate::shared::SharedRegistry;
use crate::stop::{StopCause, StopSignal};
use crate::tracker::Tracker;

pub use builder::EngineBuilder;
pub use stream::InputStream;
pub use turn::{CallHandle, Trace, Turn};

use queue::Queue;
pub(crate) use turn::EngineHandle;
use watchdog::{WatchState, Watchdog};

/// Runs the calls of one session. Create it with [`Engine::builder`].
///
/// Dropping it cancels the calls that are still open.
pub struct Engine {
    core: Arc<Core>,
}

/// Limits of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many calls run at the same time.
    pub running: usize,
    /// How many calls may be announced without their ending being reported. Further calls wait.
    pub unreported: usize,
    /// How many nested calls of one call run at the same time.
    pub nested: usize,
    /// How many levels deep calls may be nested.
    pub depth: usize,
    /// The largest input in bytes.
    pub input_bytes: usize,
    /// How long a tool may take to prepare.
    pub prepare: Duration,
    /// How long a tool may run that sets no [`TIMEOUT`](crate::Tool::TIMEOUT).
    pub run: Duration,
    /// How long a stopped tool may take to clean up.
    pub grace: Duration,
    /// After how much silence of a tool a heartbeat is sent.
    pub heartbeat: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            running: 64,
            unreported: 1024,
            nested: 16,
            depth: 8,
            input_bytes: 8 * 1024 * 1024,
            prepare: Duration::from_secs(30),
            run: Duration::from_secs(30 * 60),
            grace: Duration::from_secs(2),
            heartbeat: Duration::from_secs(5),
        }
    }
}

/// What all calls of an engine share.
pub(crate) struct Core {
    registry: SharedRegistry,
    rulebook: Arc<dyn Rulebook>,
    approver: Option<Arc<dyn Approver>>,
    host: Arc<dyn Host>,
    journal: Arc<Journal>,
    ids: Arc<CallIds>,
    session_context: Arc<SessionContext>,
    limits: Limits,
    running: Arc<Semaphore>,
    unreported: Arc<Semaphore>,
    queue: Queue,
    repeats: Mutex<RepeatedFailures>,
    live: Mutex<FastMap<CallId, Arc<LiveCall>>>,
    watchdog: Watchdog,
    /// Whether the engine was dropped: later calls are cancelled.
    is_closed: AtomicBool,
}

/// A call that has not ended.
pub(crate) struct LiveCall {
    id: CallId,
    /// The tool's name as the model wrote it.
    tool: Arc<str>,
    /// The part of the input that the model has written so far.
    written: Mutex<String>,
    /// The input, once it was parsed.
    attempted: OnceLock<Arc<Value>>,
    /// Sends the outcome. Whoever takes the sender ends the call, so that only one can.
    outcome: Mutex<Option<oneshot::Sender<Outcome>>>,
    stop: StopSignal,
    /// Whether it is a nested call of a live one and so runs within that call's permits.
    is_nested: bool,
    /// The queue position of the parent call.
    parent_position: Option<Position>,
    depth: usize,
    turn: Arc<turn::TurnState>,
    position: OnceLock<Position>,
    /// Created for the first nested call: most calls have none.
    child_permits: OnceLock<Arc<Semaphore>>,
    children: Mutex<Vec<Weak<LiveCall>>>,
    /// How many forms its server has sent.
    forms: AtomicUsize,
    /// What its tool is doing, for the watchdog.
    watched: Mutex<Option<WatchState>>,
}

impl Engine {
    /// Returns a builder of an engine for these tools. Without a policy the engine asks about every
    /// call; without an approver it denies what it would ask.
    pub fn builder(registry: impl Into<SharedRegistry>) -> EngineBuilder {
        EngineBuilder::new(registry.into())
    }

    /// Starts a turn: the calls that a model makes between two messages of the user.
    pub fn turn(&self) -> Turn {
        Turn::new(self.core.clone())
    }

    /// Runs one call in a turn of its own.
    pub async fn run(&self, request: ToolRequest) -> Outcome {
        let turn = self.turn();
        turn.call(request).await.await
    }

    /// Cancels one call on behalf of the user. Returns whether it was open.
    pub fn cancel(&self, id: &CallId) -> bool {
        self.core.stop(id, StopCause::Cancelled(Canceller::Person))
    }

    /// Returns the journal of its calls.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.core.journal
    }

    /// Returns the tools as they are now.
    pub fn registry(&self) -> Arc<Registry> {
        self.core.registry.snapshot()
    }

    /// Returns the session context in which calls are judged.
    pub fn setting(&self) -> &SessionContext {
        &self.core.session_context
    }

    /// Returns a tracker that records calls of an agent that judges and runs its own tools, in the
    /// same journal.
    pub fn tracker(&self) -> Tracker {
        let core = &self.core;
        Tracker::new(core.journal.clone(), core.ids.clone()).sharing(core.unreported.clone())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.core.is_closed.store(true, Ordering::SeqCst);
        self.core
            .stop_where(&StopCause::Cancelled(Canceller::Engine), |_| true);
    }
}

impl Core {
    /// Describes a call from the part of the input that is there.
    fn sketch(&self, tool: &str, input: Option<&Value>) -> Sketch {
        match self.registry.find(tool) {
            Some(entry) => entry.sketch(input),
            None => infer::sketch(tool, Kind::Other, input),
        }
    }

    fn stop(self: &Arc<Self>, id: &CallId, cause: StopCause) -> bool {
        let live = self.live.lock().get(id).cloned();
        let was_open = live.is_some_and(|live| live.stop(cause));
        self.start_watchdog();
        was_open
    }

    fn stop_where(self: &Arc<Self>, cause: &StopCause, which: impl Fn(&LiveCall) -> bool) {
        let stopped = self.find(which);
        for live in &stopped {
            live.stop.stop(cause.clone());
        }
        if !stopped.is_empty() {
            self.start_watchdog();
        }
    }

    /// Collects the calls first, so that the lock is not held while they are stopped.
    fn find(&self, which: impl Fn(&LiveCall) -> bool) -> Vec<Arc<LiveCall>> {
        let live = self.live.lock();
        live.values().filter(|live| which(live)).cloned().collect()
    }
}

impl LiveCall {
    /// Stops the call and its nested calls. Returns whether it was not stopped before.
    fn stop(&self, cause: StopCause) -> bool {
        let is_first = self.stop.stop(cause);
        self.stop_children();
        is_first
    }

    fn stop_children(&self) {
        let children = std::mem::take(&mut *self.children.lock());
        for child in children.iter().filter_map(Weak::upgrade) {
            child.stop(StopCause::Cancelled(Canceller::Parent));
        }
    }
}
