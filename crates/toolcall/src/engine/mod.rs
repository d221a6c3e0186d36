//! Carries calls from the model's request to their one ending; the only async room.
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

/// Carries the calls of one session.
///
/// Dropping it cancels what is still open.
pub struct Engine {
    core: Arc<Core>,
}

/// Bounds of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls that run at once.
    pub running: usize,
    /// Calls that were announced and whose ending has not been reported. Further ones wait.
    pub unreported: usize,
    /// Nested calls of one call at once.
    pub nested: usize,
    /// How deep calls may be nested.
    pub depth: usize,
    /// The largest input, in bytes.
    pub input_bytes: usize,
    /// How long a tool may take to prepare.
    pub prepare: Duration,
    /// How long a tool may run that states no time of its own.
    pub run: Duration,
    /// How long a tool has to clean up once it was stopped.
    pub grace: Duration,
    /// How long a tool may be silent before a sign of life is given for it.
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

/// What every call of the engine shares.
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
    /// Whether the engine was dropped: what comes after it is cancelled.
    is_closed: AtomicBool,
}

/// A call that has not ended.
pub(crate) struct LiveCall {
    id: CallId,
    /// As the model wrote it.
    tool: Arc<str>,
    /// What the model has written of its input so far.
    written: Mutex<String>,
    /// Its input, once it was read.
    attempted: OnceLock<Arc<Value>>,
    /// Where the outcome goes. Whoever takes it ends the call.
    outcome: Mutex<Option<oneshot::Sender<Outcome>>>,
    stop: StopSignal,
    /// Whether it runs within a find_live call, and so within that one's permits.
    is_nested: bool,
    /// Where that one stands in the order of calls.
    parent_position: Option<Position>,
    depth: usize,
    turn: Arc<turn::TurnState>,
    position: OnceLock<Position>,
    /// Made for the first child: most calls have none.
    child_permits: OnceLock<Arc<Semaphore>>,
    children: Mutex<Vec<Weak<LiveCall>>>,
    /// How many forms its server has asked for.
    forms: AtomicUsize,
    /// What its tool is doing.
    watched: Mutex<Option<WatchState>>,
}

impl Engine {
    /// An engine for these tools. Without a policy it asks; without an approver it refuses what it
    /// would ask.
    pub fn builder(registry: impl Into<SharedRegistry>) -> EngineBuilder {
        EngineBuilder::new(registry.into())
    }

    /// A turn: what the model asks for between two messages of the person.
    pub fn turn(&self) -> Turn {
        Turn::new(self.core.clone())
    }

    /// Carries one call, in a turn of its own.
    pub async fn run(&self, request: ToolRequest) -> Outcome {
        let turn = self.turn();
        turn.call(request).await.await
    }

    /// Cancels one call, for the person. Says whether it was open.
    pub fn cancel(&self, id: &CallId) -> bool {
        self.core.stop(id, StopCause::Cancelled(Canceller::Person))
    }

    /// The journal of its calls.
    pub fn journal(&self) -> &Arc<Journal> {
        &self.core.journal
    }

    /// The tools as they are now.
    pub fn registry(&self) -> Arc<Registry> {
        self.core.registry.snapshot()
    }

    /// What its calls are judged in.
    pub fn setting(&self) -> &SessionContext {
        &self.core.session_context
    }

    /// Tracks calls that somebody else judges and runs, in the same journal.
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
    /// What can be said of a call from what is there of its input.
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

    /// Found first and stopped after, so that no lock is held while bells ring.
    fn find(&self, which: impl Fn(&LiveCall) -> bool) -> Vec<Arc<LiveCall>> {
        let live = self.live.lock();
        live.values().filter(|live| which(live)).cloned().collect()
    }
}

impl LiveCall {
    /// Stops the call and what runs on its behalf. Says whether it was not stopped before.
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
