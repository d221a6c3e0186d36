//! All layers of a policy, combined into an immutable snapshot that judges calls.
//! It never changes; new rules make a new snapshot.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use toolcall::{Intent, Policy, SessionContext, Verdict};

use crate::error::{PolicyError, RuleError};
use crate::evaluation::Evaluation;
use crate::explain::Explanation;
use crate::finding::{FileAction, Outcome};
use crate::layer::{Layer, LayerSource, Trust};
use crate::mode::Mode;
use crate::offers::offers;
use crate::paths::{PathSet, Pattern};
use crate::position::Position;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;
use crate::run_index::{PrefixIndex, WordIndex};

/// What rules need to know about the machine and the repositories.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleContext {
    /// The files and directories of this program: policies, trust, history. No tool call may write there.
    pub own_files: Vec<PathBuf>,
    /// The programs that the repositories of the roots make `git` run ([`crate::find_git_helpers`]). If there
    /// are any, no rule about programs allows `git`.
    pub git_helpers: Vec<String>,
}

/// A policy of rules, which judges calls.
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
    /// The most lenient mode that the projects permit.
    min_mode: Mode,
}

/// The rules and the indexes that find them.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) rules: Vec<PolicyRule>,
    pub(crate) context: RuleContext,
    /// The error of the policy, if it has one. Then there are no rules.
    pub(crate) broken: Option<String>,
    /// Allow rules by the first words of programs.
    pub(crate) prefixes: PrefixIndex,
    /// Ask and deny rules about everything that a tool does.
    pub(crate) tools: Vec<usize>,
    /// Allow rules about a tool as it is defined now.
    pub(crate) grants: Vec<usize>,
    /// Ask and deny rules about whole commands (`exactly`).
    pub(crate) restricted_commands: Vec<usize>,
    asked: WordIndex,
    denied: WordIndex,
    exactly: HashMap<String, Vec<usize>>,
    paths: Vec<PathSet>,
    reaches: [Vec<usize>; 3],
    has_path_rules: bool,
}

impl Rules {
    /// Combines layers. Their order does not matter.
    ///
    /// The mode is that of the flags, else the user's own, else [`Mode::Ask`]; a project's
    /// mode only makes it stricter.
    pub fn new(
        layers: impl IntoIterator<Item = Layer>,
        context: RuleContext,
    ) -> Result<Self, PolicyError> {
        let layers: Vec<_> = layers.into_iter().collect();
        let min_mode = project_mode(&layers);
        let mode = chosen_mode(&layers).max(min_mode);
        let rules = layers.into_iter().flat_map(Layer::effective).collect();
        let snapshot = Snapshot::new(rules, context).map_err(|error| {
            let error = RuleError::new(
                format!("patterns that do not go together: {error}"),
                "write fewer or simpler patterns",
            );
            error.at(&"all layers".into(), Position { line: 1, column: 1 })
        })?;
        Ok(Self {
            snapshot: Arc::new(snapshot),
            mode,
            min_mode,
        })
    }

    /// Returns rules that deny every call, because the policy has this error. The reason of each denial
    /// says what to correct.
    pub fn denying_all(error: &PolicyError) -> Self {
        let snapshot = Snapshot {
            broken: Some(error.to_string()),
            ..Snapshot::default()
        };
        Self {
            snapshot: Arc::new(snapshot),
            mode: Mode::DenyAll,
            min_mode: Mode::DenyAll,
        }
    }

    /// Returns the same rules in another mode, or in the projects' mode if that is stricter.
    pub fn in_mode(&self, mode: Mode) -> Self {
        Self {
            mode: mode.max(self.min_mode),
            ..self.clone()
        }
    }

    /// Returns the mode.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Explains the verdict on an intent, part by part.
    ///
    /// ```
    /// use toolcall::{Intent, Kind, SessionContext, SessionId, Touch};
    /// use toolcall_policy::{RuleContext, Rules};
    ///
    /// let rules = Rules::new([], RuleContext::default())?;
    /// let intent = Intent::new(Kind::Read, "read a file").touching(Touch::Reads("/w/a.txt".into()));
    /// let explanation = rules.explain(&intent, &SessionContext::new(SessionId::new("s"), "/w"));
    /// assert_eq!(
    ///     explanation.reason,
    ///     "allowed: reading inside the workspace needs no rule in mode `ask`"
    /// );
    /// # Ok::<(), toolcall_policy::PolicyError>(())
    /// ```
    pub fn explain(&self, intent: &Intent, context: &SessionContext) -> Explanation {
        Explanation::of(&self.evaluation(intent, context))
    }

    fn evaluation<'a>(&'a self, intent: &'a Intent, context: &'a SessionContext) -> Evaluation<'a> {
        Evaluation {
            rules: &self.snapshot,
            mode: self.mode,
            intent,
            context,
            extra: None,
        }
    }
}

impl Policy for Rules {
    fn judge(&self, intent: &Intent, context: &SessionContext) -> Verdict {
        let evaluation = self.evaluation(intent, context);
        let outcome = evaluation.outcome();
        match outcome.effect {
            RuleEffect::Allow => Verdict::allow(outcome.rule),
            RuleEffect::Ask => Verdict::Ask {
                rule: toolcall::RuleName::new(outcome.rule),
                offers: offers(&evaluation),
            },
            RuleEffect::Deny => Verdict::deny(outcome.rule, outcome.reason),
        }
    }
}

impl Evaluation<'_> {
    /// Returns the strongest finding. Without any finding, the user is asked.
    pub(crate) fn outcome(&self) -> Outcome {
        let mut best = None;
        self.evaluate(&mut |finding| Outcome::update(&mut best, &finding));
        best.unwrap_or_else(|| Outcome {
            effect: RuleEffect::Ask,
            rule: "nothing to go by".to_owned(),
            reason: "nothing to go by".into(),
        })
    }
}

/// Returns the mode of the flags, else the user's own.
fn chosen_mode(layers: &[Layer]) -> Mode {
    let strictest = |scope: LayerSource| {
        let is_own = move |layer: &&Layer| layer.scope == scope && layer.trust == Trust::Trusted;
        let own = layers.iter().filter(is_own);
        own.filter_map(|layer| layer.mode).max()
    };
    let chosen = strictest(LayerSource::Flags).or_else(|| strictest(LayerSource::User));
    chosen.unwrap_or_default()
}

/// Returns the strictest mode of the projects and of untrusted layers, which may only tighten.
fn project_mode(layers: &[Layer]) -> Mode {
    let only_tightens =
        |layer: &&Layer| layer.scope == LayerSource::Project || layer.trust == Trust::Untrusted;
    let modes = layers.iter().filter(only_tightens);
    let modes = modes.filter_map(|layer| layer.mode);
    modes.fold(Mode::AllowAll, Mode::max)
}

impl Snapshot {
    fn new(mut rules: Vec<PolicyRule>, context: RuleContext) -> Result<Self, globset::Error> {
        // The order in which rules are given must not matter.
        rules.sort_by(|one, other| one.name.cmp(&other.name));
        let mut snapshot = Self {
            context,
            ..Self::default()
        };
        for (at, rule) in rules.iter().enumerate() {
            snapshot.index(at, rule);
        }
        for effect in RuleEffect::ALL {
            for action in [FileAction::Read, FileAction::Write, FileAction::Delete] {
                let patterns = patterns(&rules, effect, action);
                snapshot.has_path_rules |= effect != RuleEffect::Allow && !patterns.is_empty();
                snapshot.paths.push(PathSet::new(effect, &patterns)?);
            }
        }
        snapshot.rules = rules;
        Ok(snapshot)
    }

    fn index(&mut self, at: usize, rule: &PolicyRule) {
        let anywhere = match rule.effect {
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
        match rule.effect {
            RuleEffect::Allow => rule.body.exactly.iter().for_each(|text| {
                self.exactly.entry(text.clone()).or_default().push(at);
            }),
            RuleEffect::Ask | RuleEffect::Deny if rule.body.exactly.is_empty() => {}
            RuleEffect::Ask | RuleEffect::Deny => self.restricted_commands.push(at),
        }
        if !rule.body.reaches.is_empty() {
            self.reaches[rule.effect as usize].push(at);
        }
        if rule.effect != RuleEffect::Allow && rule.is_about_tool_alone() {
            self.tools.push(at);
        }
        if rule.grants_tool() {
            self.grants.push(at);
        }
    }

    pub(crate) fn anywhere(&self, effect: RuleEffect) -> &WordIndex {
        match effect {
            RuleEffect::Deny => &self.denied,
            RuleEffect::Ask | RuleEffect::Allow => &self.asked,
        }
    }

    pub(crate) fn exactly(&self, text: &str) -> &[usize] {
        self.exactly.get(text).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn paths(&self, effect: RuleEffect, action: FileAction) -> &PathSet {
        &self.paths[effect as usize * 3 + action as usize]
    }

    pub(crate) fn reaches(&self, effect: RuleEffect) -> &[usize] {
        &self.reaches[effect as usize]
    }

    pub(crate) fn has_path_rules(&self) -> bool {
        self.has_path_rules
    }
}

fn patterns(
    rules: &[PolicyRule],
    effect: RuleEffect,
    action: FileAction,
) -> Vec<(&Pattern, usize)> {
    let of_stance = rules
        .iter()
        .enumerate()
        .filter(|(_, rule)| rule.effect == effect);
    let of_verb = of_stance.flat_map(|(at, rule)| {
        let patterns = match action {
            FileAction::Read => &rule.body.reads,
            FileAction::Write => &rule.body.writes,
            FileAction::Delete => &rule.body.deletes,
        };
        patterns.iter().map(move |pattern| (pattern, at))
    });
    of_verb.collect()
}
