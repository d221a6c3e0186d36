//! The rulebook of a session: policy files, trust and kept answers, always as they are now.
//! It puts rules together and swaps them; judging is done by the snapshot it hands out.

mod fingerprint;
mod guarded;
mod kept;
mod places;
mod repository;
mod sources;
mod trust;

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
use crate::rule_effect::RuleEffect;
use crate::rules::Rules;
use fingerprint::Fingerprint;
use kept::RememberedRulesFile;

pub use guarded::read_own;
pub use kept::{RememberedRule, RememberedRuleId};
pub use places::UserDirs;
pub use sources::{FileState, PolicyFile, PolicySources};
pub use trust::{Change, Project, ProjectFile, TrustRecord, TrustStore};

/// Files are looked at again at most this often: a search asks for the policy at every file.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How soon a waiting question learns of a rule that somebody else kept.
const BETWEEN_POLLS: Duration = Duration::from_millis(100);

/// What a rulebook is made of.
#[derive(Clone, Debug)]
pub struct PolicyStoreConfig {
    /// Where policy, trust and kept answers are.
    pub places: UserDirs,
    /// The folders of the session. The first one is the project that answers are kept for.
    pub roots: Vec<PathBuf>,
    /// What `~` stands for in patterns.
    pub home: Option<PathBuf>,
    /// Layers that come from elsewhere than files: the command line, a host program.
    pub layers: Vec<Layer>,
}

/// Holds the rules of a session, keeps people's answers, and follows its files.
///
/// The files are looked at whenever the policy is wanted, and ten times a second while a question
/// waits. There is nothing to install and nothing that runs while nobody asks. Cheap to clone.
#[derive(Clone)]
pub struct PolicyStore(Arc<Shared>);

struct Shared {
    settings: PolicyStoreConfig,
    state: Mutex<State>,
    generation: watch::Sender<u64>,
    /// Whether a thread looks at the files for waiting questions.
    is_polled: Mutex<bool>,
}

struct State {
    said: Said,
    current: Current,
    looked: Instant,
}

/// What was said during the session.
#[derive(Default)]
struct Said {
    /// Answers for this session only.
    answers: Vec<(Rule, Effect)>,
    mode: Option<Mode>,
}

/// What holds now.
struct Current {
    rules: Arc<Rules>,
    problem: Option<PolicyError>,
    fingerprints: Vec<Fingerprint>,
}

impl PolicyStore {
    /// Reads everything. If anything in it is broken the book denies all calls and says why.
    pub fn open(settings: PolicyStoreConfig) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                current: Current::read(&settings, &Said::default()),
                said: Said::default(),
                looked: Instant::now(),
            }),
            settings,
            generation: watch::Sender::new(0),
            is_polled: Mutex::new(false),
        }))
    }

    /// The rules as they are now.
    pub fn rules(&self) -> Arc<Rules> {
        self.0.look();
        self.0.state.lock().current.rules.clone()
    }

    /// Why everything is denied, if it is.
    pub fn problem(&self) -> Option<PolicyError> {
        self.0.look();
        self.0.state.lock().current.problem.clone()
    }

    /// Chooses the mode for the rest of the session; a project may insist on a stricter one.
    pub fn set_mode(&self, mode: Mode) {
        self.0.change(|said| said.mode = Some(mode));
    }

    /// The answers that were kept in files, for this project and everywhere.
    pub fn kept(&self) -> Result<Vec<RememberedRule>, PolicyError> {
        let mut all = Vec::new();
        for lifetime in [Lifetime::Project, Lifetime::Everywhere] {
            if let Some(file) = self.0.kept_file(lifetime) {
                all.extend(file.list(lifetime)?);
            }
        }
        Ok(all)
    }

    /// Takes kept answers out of their files. Says which were there.
    pub fn forget(&self, ids: &[RememberedRuleId]) -> Result<Vec<RememberedRule>, PolicyError> {
        let mut gone = Vec::new();
        for lifetime in [Lifetime::Project, Lifetime::Everywhere] {
            if let Some(file) = self.0.kept_file(lifetime) {
                gone.extend(file.forget(ids, lifetime)?);
            }
        }
        self.0.change(|_| ());
        Ok(gone)
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
            // Without a thread a waiting question hears of rules of this process only.
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
        let stance = match effect {
            Effect::Allow => RuleEffect::Allow,
            Effect::Deny => RuleEffect::Deny,
        };
        let home = self.0.settings.home.as_deref();
        let read = PolicyRule::from_text(&rule.text, stance, home)
            .map_err(|error| fail(error.to_string()))?;
        match self.0.kept_file(rule.lifetime) {
            None => self
                .0
                .change(|said| said.answers.push((rule.clone(), effect))),
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
    /// The file that rules of this lifetime are kept in; none for those of a session.
    fn kept_file(&self, lifetime: Lifetime) -> Option<RememberedRulesFile> {
        let places = &self.settings.places;
        match lifetime {
            Lifetime::Session => None,
            Lifetime::Project => {
                let project = self.settings.roots.first()?;
                Some(RememberedRulesFile::of_project(places, project))
            }
            Lifetime::Everywhere => Some(RememberedRulesFile::everywhere(places)),
        }
    }

    /// Reads everything again if a file changed since it was read.
    fn look(&self) {
        let mut state = self.state.lock();
        if state.looked.elapsed() < BETWEEN_LOOKS {
            return;
        }
        state.looked = Instant::now();
        if !state.current.fingerprints.iter().all(Fingerprint::holds) {
            self.renew(state);
        }
    }

    /// Changes what was said, and reads everything again.
    fn change(&self, change: impl FnOnce(&mut Said)) {
        let mut state = self.state.lock();
        change(&mut state.said);
        self.renew(state);
    }

    /// The lock is held while files are read, so that what was read first never replaces what was
    /// read later.
    fn renew(&self, mut state: MutexGuard<'_, State>) {
        state.current = Current::read(&self.settings, &state.said);
        drop(state);
        self.generation.send_modify(|generation| *generation += 1);
    }
}

impl Current {
    /// What the files say now and what was said during the session, together.
    fn read(settings: &PolicyStoreConfig, said: &Said) -> Self {
        let sources = PolicySources::read(settings);
        let (rules, problem) = match put_together(&sources, settings, said) {
            Ok(rules) => (rules, None),
            Err(error) => (Rules::refusing(&error), Some(error)),
        };
        Self {
            rules: Arc::new(rules),
            problem,
            fingerprints: sources.into_fingerprints(),
        }
    }
}

fn put_together(
    sources: &PolicySources,
    settings: &PolicyStoreConfig,
    said: &Said,
) -> Result<Rules, PolicyError> {
    let answers = said.answers.iter().map(|(rule, effect)| (rule, *effect));
    let mut layers = sources.layers()?;
    layers.push(Layer::remembered(answers, settings.home.as_deref())?);
    layers.extend(settings.layers.iter().cloned());
    let rules = Rules::new(layers, sources.facts(settings))?;
    Ok(match said.mode {
        Some(mode) => rules.in_mode(mode),
        None => rules,
    })
}

/// Looks at the files as long as a question waits.
fn poll(book: Weak<Shared>) -> std::io::Result<()> {
    let watch = move || {
        loop {
            std::thread::sleep(BETWEEN_POLLS);
            let Some(book) = book.upgrade() else {
                return;
            };
            book.look();
            let mut is_polled = book.is_polled.lock();
            if book.generation.receiver_count() == 0 {
                *is_polled = false;
                return;
            }
        }
    };
    let thread = std::thread::Builder::new().name("toolcall-rulebook".to_owned());
    thread.spawn(watch).map(drop)
}
