//! The policy store of a session: combines policy files, trust and remembered rules, and follows their changes.
//! It judges nothing; that is done by the [`Rules`] that it returns.

mod fingerprint;
mod remembered;
mod repository;
mod secure_files;
mod sources;
mod trust;
mod user_dirs;

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use toolcall::{AnswerContext, Effect, Lifetime, Policy, Rule, Rulebook, RulebookError};

use crate::error::PolicyError;
use crate::layer::Layer;
use crate::mode::Mode;
use crate::rule::PolicyRule;
use crate::rules::Rules;
use fingerprint::Fingerprint;
use remembered::RememberedRulesFile;

pub use remembered::{RememberedRule, RememberedRuleId};
pub use secure_files::read_own;
pub use sources::{FileState, PolicyFile, PolicySources};
pub use trust::{Project, ProjectFile, TrustChange, TrustRecord, TrustStore};
pub use user_dirs::UserDirs;

/// How often files are checked for changes at most: a search gets the policy for every file.
const REFRESH_INTERVAL: Duration = Duration::from_millis(50);

/// How often files are checked while a question waits, for rules that another process remembered.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The configuration of a [`PolicyStore`].
#[derive(Clone, Debug)]
pub struct PolicyStoreConfig {
    /// The directories of the user's policy, trust records and remembered rules.
    pub places: UserDirs,
    /// The directories of the session. The first one is the project that rules are remembered for.
    pub roots: Vec<PathBuf>,
    /// What `~` stands for in patterns.
    pub home: Option<PathBuf>,
    /// Further layers, such as from the command line or a host program.
    pub layers: Vec<Layer>,
}

/// The rules of a session: loads them from files, remembers answers, and follows changes of the files.
///
/// The files are checked whenever the policy is needed, and ten times a second while a question waits.
/// No thread runs while no question waits. Cloning is cheap.
///
/// ```
/// use toolcall_policy::{Mode, PolicyStore, PolicyStoreConfig, UserDirs};
///
/// let store = PolicyStore::open(PolicyStoreConfig {
///     places: UserDirs {
///         config: "/nonexistent/config".into(),
///         state: "/nonexistent/state".into(),
///     },
///     roots: vec!["/nonexistent/project".into()],
///     home: None,
///     layers: Vec::new(),
/// });
/// assert_eq!(store.rules().mode(), Mode::Ask);
/// store.set_mode(Mode::ReadOnly);
/// assert_eq!(store.rules().mode(), Mode::ReadOnly);
/// ```
#[derive(Clone)]
pub struct PolicyStore(Arc<Shared>);

struct Shared {
    config: PolicyStoreConfig,
    state: Mutex<State>,
    generation: watch::Sender<u64>,
    /// Whether a thread checks the files for waiting questions.
    is_polled: Mutex<bool>,
}

struct State {
    session: SessionChanges,
    current: CurrentRules,
    checked: Instant,
}

/// What the user changed during the session.
#[derive(Default)]
struct SessionChanges {
    /// Rules remembered for this session only.
    answers: Vec<(Rule, Effect)>,
    mode: Option<Mode>,
}

/// The rules that hold now.
struct CurrentRules {
    rules: Arc<Rules>,
    problem: Option<PolicyError>,
    fingerprints: Vec<Fingerprint>,
}

impl PolicyStore {
    /// Reads all files. If any of them has an error, the store denies every call and reports the error.
    pub fn open(config: PolicyStoreConfig) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                current: CurrentRules::read(&config, &SessionChanges::default()),
                session: SessionChanges::default(),
                checked: Instant::now(),
            }),
            config,
            generation: watch::Sender::new(0),
            is_polled: Mutex::new(false),
        }))
    }

    /// Returns the current rules.
    pub fn rules(&self) -> Arc<Rules> {
        self.0.refresh();
        self.0.state.lock().current.rules.clone()
    }

    /// Returns the error because of which every call is denied, if there is one.
    pub fn problem(&self) -> Option<PolicyError> {
        self.0.refresh();
        self.0.state.lock().current.problem.clone()
    }

    /// Sets the mode for the rest of the session; a project may enforce a stricter one.
    pub fn set_mode(&self, mode: Mode) {
        self.0.change(|session| session.mode = Some(mode));
    }

    /// Returns the rules remembered in files, for this project and everywhere.
    pub fn kept(&self) -> Result<Vec<RememberedRule>, PolicyError> {
        let mut all = Vec::new();
        for lifetime in [Lifetime::Project, Lifetime::Everywhere] {
            if let Some(file) = self.0.remembered_file(lifetime) {
                all.extend(file.list(lifetime)?);
            }
        }
        Ok(all)
    }

    /// Removes remembered rules from their files, and returns those that were there.
    pub fn forget(&self, ids: &[RememberedRuleId]) -> Result<Vec<RememberedRule>, PolicyError> {
        let mut removed = Vec::new();
        for lifetime in [Lifetime::Project, Lifetime::Everywhere] {
            if let Some(file) = self.0.remembered_file(lifetime) {
                removed.extend(file.forget(ids, lifetime)?);
            }
        }
        self.0.change(|_| ());
        Ok(removed)
    }
}

impl Rulebook for PolicyStore {
    fn policy(&self) -> Arc<dyn Policy> {
        self.rules()
    }

    fn changes(&self) -> watch::Receiver<u64> {
        let mut is_polled = self.0.is_polled.lock();
        let receiver = self.0.generation.subscribe();
        if !*is_polled {
            // Without the thread, a waiting question learns only of rules that this process remembers.
            *is_polled = poll(Arc::downgrade(&self.0)).is_ok();
        }
        receiver
    }

    fn remember(
        &self,
        rule: &Rule,
        effect: Effect,
        occasion: &AnswerContext,
    ) -> Result<(), RulebookError> {
        let fail = |reason: String| RulebookError {
            reason: reason.into(),
        };
        let home = self.0.config.home.as_deref();
        let read = PolicyRule::from_text(&rule.text, effect.into(), home)
            .map_err(|error| fail(error.to_string()))?;
        match self.0.remembered_file(rule.lifetime) {
            None => self
                .0
                .change(|session| session.answers.push((rule.clone(), effect))),
            Some(file) => {
                file.add(&read, occasion)
                    .map_err(|error| fail(error.to_string()))?;
                self.0.change(|_| ());
            }
        }
        Ok(())
    }
}

impl Shared {
    /// Returns the file for rules of this lifetime; `None` for those of a session.
    fn remembered_file(&self, lifetime: Lifetime) -> Option<RememberedRulesFile> {
        let places = &self.config.places;
        match lifetime {
            Lifetime::Session => None,
            Lifetime::Project => {
                let project = self.config.roots.first()?;
                Some(RememberedRulesFile::of_project(places, project))
            }
            Lifetime::Everywhere => Some(RememberedRulesFile::everywhere(places)),
        }
    }

    /// Reads all files again if one has changed since it was read.
    fn refresh(&self) {
        let mut state = self.state.lock();
        if state.checked.elapsed() < REFRESH_INTERVAL {
            return;
        }
        state.checked = Instant::now();
        if !state
            .current
            .fingerprints
            .iter()
            .all(Fingerprint::is_current)
        {
            self.reload(state);
        }
    }

    /// Changes the session's own rules or mode, and reads all files again.
    fn change(&self, change: impl FnOnce(&mut SessionChanges)) {
        let mut state = self.state.lock();
        change(&mut state.session);
        self.reload(state);
    }

    /// Reads all files again. The lock is held meanwhile, so that an older reading never replaces a newer
    /// one.
    fn reload(&self, mut state: MutexGuard<'_, State>) {
        state.current = CurrentRules::read(&self.config, &state.session);
        drop(state);
        self.generation.send_modify(|generation| *generation += 1);
    }
}

impl CurrentRules {
    /// Combines the files as they are now with the changes of the session.
    fn read(config: &PolicyStoreConfig, session: &SessionChanges) -> Self {
        let sources = PolicySources::read(config);
        let (rules, problem) = match build_rules(&sources, config, session) {
            Ok(rules) => (rules, None),
            Err(error) => (Rules::denying_all(&error), Some(error)),
        };
        Self {
            rules: Arc::new(rules),
            problem,
            fingerprints: sources.into_fingerprints(),
        }
    }
}

fn build_rules(
    sources: &PolicySources,
    config: &PolicyStoreConfig,
    session: &SessionChanges,
) -> Result<Rules, PolicyError> {
    let answers = session.answers.iter().map(|(rule, effect)| (rule, *effect));
    let mut layers = sources.layers()?;
    layers.push(Layer::remembered(answers, config.home.as_deref())?);
    layers.extend(config.layers.iter().cloned());
    let rules = Rules::new(layers, sources.rule_context(config))?;
    Ok(match session.mode {
        Some(mode) => rules.in_mode(mode),
        None => rules,
    })
}

/// Checks the files in a thread as long as a question waits.
fn poll(store: Weak<Shared>) -> std::io::Result<()> {
    let watch = move || {
        loop {
            std::thread::sleep(POLL_INTERVAL);
            let Some(store) = store.upgrade() else {
                return;
            };
            store.refresh();
            let mut is_polled = store.is_polled.lock();
            if store.generation.receiver_count() == 0 {
                *is_polled = false;
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("toolcall-rulebook".to_owned());
    thread.spawn(watch).map(drop)
}
