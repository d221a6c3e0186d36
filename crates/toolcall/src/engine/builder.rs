//! Puts an engine together from its parts.
//! What is left out is replaced by the careful choice.

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

/// Puts an engine together.
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

    /// Whose calls these are, and where they take position.
    pub fn setting(mut self, session_context: SessionContext) -> Self {
        self.session_context = session_context;
        self
    }

    /// The folder the session works in, and its only root.
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.session_context.cwd = cwd.into();
        self.session_context.roots = vec![self.session_context.cwd.clone()];
        self
    }

    /// Judges by this policy, and keeps "always" answers for the session.
    pub fn policy(self, policy: impl Policy) -> Self {
        self.rulebook(Arc::new(SessionRulebook::new(policy)))
    }

    /// Judges by this rulebook.
    pub fn rulebook(mut self, rulebook: Arc<dyn Rulebook>) -> Self {
        self.rulebook = Some(rulebook);
        self
    }

    /// Asks here.
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Gives tools this machine. Without one they have an empty machine in memory.
    pub fn host(mut self, host: Arc<dyn Host>) -> Self {
        self.host = Some(host);
        self
    }

    /// Puts something around the machine that tools are given: a host that goes elsewhere for some
    /// of it, and to the one it is handed for the rest.
    pub fn host_around(mut self, around: impl FnOnce(Arc<dyn Host>) -> Arc<dyn Host>) -> Self {
        let inner = self.host.take();
        self.host = Some(around(inner.unwrap_or_else(empty_machine)));
        self
    }

    /// The session that was set.
    pub fn session(&self) -> &SessionId {
        &self.session_context.session
    }

    /// FieldType call ids from here.
    pub fn ids(mut self, ids: CallIds) -> Self {
        self.ids = Some(Arc::new(ids));
        self
    }

    /// Sets the bounds.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Holds this much output for each call.
    pub fn output_budget(self, budget: OutputBudget) -> Self {
        self.with_journal(move |journal| journal.with_budget(budget))
    }

    /// Keeps records here. Without a store nothing is kept.
    pub fn store(self, store: impl Store) -> Self {
        self.with_journal(|journal| journal.with_store(store))
    }

    /// Shows every event to this reader.
    pub fn reader(self, reader: impl Reader) -> Self {
        self.with_journal(|journal| journal.with_reader(reader))
    }

    /// FieldType the time from here.
    pub fn clock(self, clock: impl Clock) -> Self {
        self.with_journal(|journal| journal.with_clock(clock))
    }

    fn with_journal(mut self, change: impl FnOnce(Journal) -> Journal + Send + 'static) -> Self {
        self.journal.push(Box::new(change));
        self
    }

    /// The engine. Its calls run on the tokio runtime that it is used in.
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

/// Without a folder to work in nothing lies inside it.
fn nowhere() -> SessionContext {
    let mut session_context = SessionContext::new(SessionId::new("session"), "/");
    session_context.roots.clear();
    session_context
}

/// At least one call can always run.
fn semaphore(permits: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)))
}
