//! All layers of a policy together: an immutable snapshot that judges.
//! It is searched, never changed; new rules make a new snapshot.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use toolcall::{Intent, Policy, SessionContext, Verdict};

use crate::error::{Fault, PolicyError};
use crate::evaluation::Evaluation;
use crate::explain::Explanation;
use crate::finding::{Outcome, Verb};
use crate::layer::{Layer, LayerSource, Trust};
use crate::mode::Mode;
use crate::offers::offers;
use crate::paths::{PathSet, Pattern};
use crate::position::Position;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;
use crate::runs::{Anywhere, Prefixes};

/// What is known about the surroundings when the rules are put together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleContext {
    /// Our own files and folders: policies, trust, history. Nobody writes there through us.
    pub own_files: Vec<PathBuf>,
    /// What the repositories of the roots make `git` run ([`crate::helpers_named`]). If there is
    /// anything, no rule about programs allows `git`.
    pub git_helpers: Vec<String>,
}

/// A policy of rules.
///
/// ```
/// use toolcall::{Command, Intent, Kind, Policy, SessionId, SessionContext, Verdict};
/// use toolcall_policy::{RuleContext, Layer, Rules, LayerSource, PolicyText, Trust};
///
/// let layer = Layer::parse(PolicyText {
///     file: "policy.toml",
///     text: "[[allow]]\nrun = ['cargo test', 'tail']\n",
///     scope: LayerSource::User,
///     trust: Trust::Trusted,
///     home: None,
/// })?;
/// let rules = Rules::new([layer], RuleContext::default())?;
/// let text = "cargo test 2>&1 | tail -20";
/// let command = Command::new(text, "/w", toolcall_shell::read(text, "/w".as_ref()));
/// let intent = Intent::new(Kind::Execute, text).running(command);
/// let verdict = rules.judge(&intent, &SessionContext::new(SessionId::new("s"), "/w"));
/// assert!(matches!(verdict, Verdict::Allow { .. }));
/// # Ok::<(), toolcall_policy::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    snapshot: Arc<Snapshot>,
    mode: Mode,
    /// The most lenient mode that projects let anybody choose.
    least: Mode,
}

/// The rules, ready to be searched.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) rules: Vec<PolicyRule>,
    pub(crate) facts: RuleContext,
    /// Why there are no rules to go by.
    pub(crate) broken: Option<String>,
    /// Programs that are allowed.
    pub(crate) prefixes: Prefixes,
    /// Rules that ask or deny whatever a tool does.
    pub(crate) tools: Vec<usize>,
    /// Rules that allow what a tool does unseen.
    pub(crate) grants: Vec<usize>,
    /// Rules that ask about or deny whole commands.
    pub(crate) barriers: Vec<usize>,
    asked: Anywhere,
    denied: Anywhere,
    exactly: HashMap<String, Vec<usize>>,
    paths: Vec<PathSet>,
    reaches: [Vec<usize>; 3],
    has_path_rules: bool,
}

impl Rules {
    /// Puts layers together. Their order does not matter.
    ///
    /// The mode is that of the flags, or else the person's own, or else [`Mode::Ask`]; a project's
    /// mode only makes it stricter.
    pub fn new(
        layers: impl IntoIterator<Item = Layer>,
        facts: RuleContext,
    ) -> Result<Self, PolicyError> {
        let layers: Vec<_> = layers.into_iter().collect();
        let least = tightened(&layers);
        let mode = chosen(&layers).max(least);
        let rules = layers.into_iter().flat_map(Layer::effective).collect();
        let snapshot = Snapshot::new(rules, facts).map_err(|error| {
            let fault = Fault::new(
                format!("patterns that do not go together: {error}"),
                "write fewer or simpler patterns",
            );
            fault.at(&"all layers".into(), Position { line: 1, column: 1 })
        })?;
        Ok(Self {
            snapshot: Arc::new(snapshot),
            mode,
            least,
        })
    }

    /// What is left when a policy is broken: everything is denied, and the reason says what to mend.
    pub fn refusing(error: &PolicyError) -> Self {
        let snapshot = Snapshot {
            broken: Some(error.to_string()),
            ..Snapshot::default()
        };
        Self {
            snapshot: Arc::new(snapshot),
            mode: Mode::DenyAll,
            least: Mode::DenyAll,
        }
    }

    /// The same rules in another mode, or in the strictest that a project asks for.
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self {
            mode: mode.max(self.least),
            ..self.clone()
        }
    }

    /// The mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How the verdict on an intent comes about, part by part.
    pub fn explain(&self, intent: &Intent, setting: &SessionContext) -> Explanation {
        Explanation::of(&self.hearing(intent, setting))
    }

    fn hearing<'a>(&'a self, intent: &'a Intent, setting: &'a SessionContext) -> Evaluation<'a> {
        Evaluation {
            rules: &self.snapshot,
            mode: self.mode,
            intent,
            setting,
            extra: None,
        }
    }
}

impl Policy for Rules {
    fn judge(&self, intent: &Intent, setting: &SessionContext) -> Verdict {
        let hearing = self.hearing(intent, setting);
        let outcome = hearing.outcome();
        match outcome.stance {
            RuleEffect::Allow => Verdict::allow(outcome.rule),
            RuleEffect::Ask => Verdict::Ask {
                rule: toolcall::RuleName::new(outcome.rule),
                offers: offers(&hearing),
            },
            RuleEffect::Deny => Verdict::deny(outcome.rule, outcome.reason),
        }
    }
}

impl Evaluation<'_> {
    /// The strongest of all findings. Where there is none, a person decides.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut best = None;
        self.hear(&mut |finding| Outcome::keep(&mut best, &finding));
        best.unwrap_or_else(|| Outcome {
            stance: RuleEffect::Ask,
            rule: "nothing to go by".to_owned(),
            reason: "nothing to go by".into(),
        })
    }
}

/// The mode of the flags, or else the person's own.
fn chosen(layers: &[Layer]) -> Mode {
    let strictest = |scope: LayerSource| {
        let is_own = move |layer: &&Layer| layer.scope == scope && layer.trust == Trust::Trusted;
        let own = layers.iter().filter(is_own);
        own.filter_map(|layer| layer.mode).max()
    };
    let chosen = strictest(LayerSource::Flags).or_else(|| strictest(LayerSource::User));
    chosen.unwrap_or_default()
}

/// The strictest mode of layers that may only tighten.
fn tightened(layers: &[Layer]) -> Mode {
    let only_tightens =
        |layer: &&Layer| layer.scope == LayerSource::Project || layer.trust == Trust::Untrusted;
    let modes = layers.iter().filter(only_tightens);
    let modes = modes.filter_map(|layer| layer.mode);
    modes.fold(Mode::AllowAll, Mode::max)
}

impl Snapshot {
    fn new(mut rules: Vec<PolicyRule>, facts: RuleContext) -> Result<Self, globset::Error> {
        // The same rules are the same snapshot, whatever order they came in.
        rules.sort_by(|one, other| one.name.cmp(&other.name));
        let mut snapshot = Self {
            facts,
            ..Self::default()
        };
        for (at, rule) in rules.iter().enumerate() {
            snapshot.index(at, rule);
        }
        for stance in RuleEffect::ALL {
            for verb in [Verb::Read, Verb::Write, Verb::Delete] {
                let patterns = patterns(&rules, stance, verb);
                snapshot.has_path_rules |= stance != RuleEffect::Allow && !patterns.is_empty();
                snapshot.paths.push(PathSet::new(stance, &patterns)?);
            }
        }
        snapshot.rules = rules;
        Ok(snapshot)
    }

    fn index(&mut self, at: usize, rule: &PolicyRule) {
        let anywhere = match rule.stance {
            RuleEffect::Allow => None,
            RuleEffect::Ask => Some(&mut self.asked),
            RuleEffect::Deny => Some(&mut self.denied),
        };
        match anywhere {
            None => rule
                .body
                .runs
                .iter()
                .for_each(|words| self.prefixes.add(words, at)),
            Some(anywhere) => {
                rule.body
                    .runs
                    .iter()
                    .for_each(|words| anywhere.add(words, at));
                if rule.body.runs_anything {
                    anywhere.add(&[], at);
                }
            }
        }
        match rule.stance {
            RuleEffect::Allow => rule.body.exactly.iter().for_each(|text| {
                self.exactly.entry(text.clone()).or_default().push(at);
            }),
            RuleEffect::Ask | RuleEffect::Deny if rule.body.exactly.is_empty() => {}
            RuleEffect::Ask | RuleEffect::Deny => self.barriers.push(at),
        }
        if !rule.body.reaches.is_empty() {
            self.reaches[rule.stance as usize].push(at);
        }
        if rule.stance != RuleEffect::Allow && rule.is_about_tool_alone() {
            self.tools.push(at);
        }
        if rule.grants_tool() {
            self.grants.push(at);
        }
    }

    pub(crate) fn anywhere(&self, stance: RuleEffect) -> &Anywhere {
        match stance {
            RuleEffect::Deny => &self.denied,
            RuleEffect::Ask | RuleEffect::Allow => &self.asked,
        }
    }

    pub(crate) fn exactly(&self, text: &str) -> &[usize] {
        self.exactly.get(text).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn paths(&self, stance: RuleEffect, verb: Verb) -> &PathSet {
        &self.paths[stance as usize * 3 + verb as usize]
    }

    pub(crate) fn reaches(&self, stance: RuleEffect) -> &[usize] {
        &self.reaches[stance as usize]
    }

    pub(crate) fn has_path_rules(&self) -> bool {
        self.has_path_rules
    }
}

fn patterns(rules: &[PolicyRule], stance: RuleEffect, verb: Verb) -> Vec<(&Pattern, usize)> {
    let of_stance = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| rule.stance == stance);
    let of_verb = of_stance.flat_map(|(at, rule)| {
        let patterns = match verb {
            Verb::Read => &rule.body.reads,
            Verb::Write => &rule.body.writes,
            Verb::Delete => &rule.body.deletes,
        };
        patterns.iter().map(move |pattern| (pattern, at))
    });
    of_verb.collect()
}
