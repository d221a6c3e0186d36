//! Builds an engine from its parts.
//! Parts that are left out get careful defaults: ask about every call, deny what cannot be asked.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use parking_lot::Mutex;
use tokio::sync::Semaphore;

use super::queue::Queue;
use super::watchdog::Watchdog;
use super::{Core, Engine, Limits};
use crate::approver::Approver;
use crate::host::{Host, MemoryHost};
use crate::ids::{CallIds, SessionId};
use crate::journal::{Journal, Reader};
use crate::output::OutputBudget;
use crate::policy::{AskAll, Policy, Rulebook, SessionContext, SessionRulebook};
use crate::repeat::RepeatedFailures;
use crate::shared::SharedRegistry;
use crate::store::Store;
use crate::timestamp::Clock;

/// Builds an [`Engine`]. Every part has a default.
pub struct EngineBuilder {
    registry: SharedRegistry,
    session_context: SessionContext,
    rulebook: Option<Arc<dyn Rulebook>>,
    approver: Option<Arc<dyn Approver>>,
    host: Option<Arc<dyn Host>>,
    ids: Option<Arc<CallIds>>,
    limits: Limits,
    journal: Vec<Box<dyn FnOnce(Journal) -> Journal + Send>>,
}

impl EngineBuilder {
    pub(crate) fn new(registry: SharedRegistry) -> Self {
        Self {
            registry,
            session_context: nowhere(),
            rulebook: None,
            approver: None,
            host: None,
            ids: None,
            limits: Limits::default(),
            journal: Vec::new(),
        }
    }

    /// Sets the session: its id, directory, roots and agent.
    pub fn setting(mut self, session_context: SessionContext) -> Self {
        self.session_context = session_context;
        self
    }

    /// Sets the directory that the session works in, which is also its only root.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.session_context.cwd = cwd.into();
        self.session_context.roots = vec![self.session_context.cwd.clone()];
        self
    }

    /// Judges calls by this policy, and remembers "always" answers for the session.
    pub fn policy(self, policy: impl Policy) -> Self {
        self.rulebook(Arc::new(SessionRulebook::new(policy)))
    }

    /// Judges calls by this rulebook, which also stores "always" answers.
    pub fn rulebook(mut self, rulebook: Arc<dyn Rulebook>) -> Self {
        self.rulebook = Some(rulebook);
        self
    }

    /// Sends permission questions and forms to this approver. Without one they are denied.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets the host whose files and commands tools use. Without one they get an empty
    /// [`MemoryHost`].
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = Some(host);
        self
    }

    /// Wraps the host in another one, which handles some requests itself and forwards the rest.
    pub fn host_around(mut self, around: impl FnOnce(Arc<dyn Host>) -> Arc<dyn Host>) -> Self {
        let inner = self.host.take();
        self.host = Some(around(inner.unwrap_or_else(empty_machine)));
        self
    }

    /// Returns the id of the session that was set.
    pub fn session(&self) -> &SessionId {
        &self.session_context.session
    }

    /// Takes call ids from here.
    pub fn ids(mut self, ids: CallIds) -> Self {
        self.ids = Some(Arc::new(ids));
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how much output is held for each call.
    pub fn output_budget(self, budget: OutputBudget) -> Self {
        self.with_journal(move |journal| journal.with_budget(budget))
    }

    /// Stores records here. Without a store nothing is stored.
    pub fn store(self, store: impl Store) -> Self {
        self.with_journal(|journal| journal.with_store(store))
    }

    /// Sends every event to this reader.
    pub fn reader(self, reader: impl Reader) -> Self {
        self.with_journal(|journal| journal.with_reader(reader))
    }

    /// Takes the time from this clock.
    pub fn clock(self, clock: impl Clock) -> Self {
        self.with_journal(|journal| journal.with_clock(clock))
    }

    fn with_journal(mut self, change: impl FnOnce(Journal) -> Journal + Send + 'static) -> Self {
        self.journal.push(Box::new(change));
        self
    }

    /// Builds the engine. Its calls run on the tokio runtime that it is used in.
    pub fn build(self) -> Engine {
        let journal = Journal::new(self.session_context.session.clone());
        let journal = self
            .journal
            .into_iter()
            .fold(journal, |journal, change| change(journal));
        let core = Core {
            registry: self.registry,
            rulebook: self
                .rulebook
                .unwrap_or_else(|| Arc::new(SessionRulebook::new(AskAll))),
            approver: self.approver,
            host: self.host.unwrap_or_else(empty_machine),
            journal: Arc::new(journal),
            ids: self.ids.unwrap_or_else(|| Arc::new(CallIds::random())),
            session_context: Arc::new(self.session_context),
            running: semaphore(self.limits.running),
            unreported: semaphore(self.limits.unreported),
            limits: self.limits,
            queue: Queue::default(),
            repeats: Mutex::new(RepeatedFailures::default()),
            live: Mutex::default(),
            watchdog: Watchdog::default(),
            is_closed: AtomicBool::new(false),
        };
        Engine {
            core: Arc::new(core),
        }
    }
}

fn empty_machine() -> Arc<dyn Host> {
    Arc::new(MemoryHost::default())
}

/// A session without a root: no path lies inside it.
fn nowhere() -> SessionContext {
    let mut session_context = SessionContext::new(SessionId::new("session"), "/");
    session_context.roots.clear();
    session_context
}

/// Creates a semaphore with at least one permit, so that a call can always run.
fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)))
}
