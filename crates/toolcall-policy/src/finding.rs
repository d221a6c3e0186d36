//! A finding: what a rule, a protected path or the mode says about one thing that a call does.
//! Findings borrow and are cheap; their texts are made only when they are shown.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use toolcall::Part;
use toolcall_shell::quoted;

use crate::mode::{ActionClass, Mode};
use crate::protected::Protection;
use crate::reach::mode_name;
use crate::rule::PolicyRule;
use crate::rule_effect::RuleEffect;

/// What a call does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAction {
    Read,
    Write,
    Delete,
}

/// One thing that a call does, the effect on it, and the cause.
pub(crate) struct Finding<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) effect: RuleEffect,
    pub(crate) cause: Cause<'a>,
}

/// What a finding is about.
pub(crate) enum Subject<'a> {
    Call,
    File(FileAction, &'a Path),
    /// The text of a whole command.
    Text(&'a str),
    Part(&'a Part),
    /// A word of a part.
    Word(&'a Part, &'a str),
    Reach(&'a str),
}

/// What causes the effect of a finding.
pub(crate) enum Cause<'a> {
    Rule(&'a PolicyRule),
    Protected(Protection),
    /// The mode, because no rule allows the action or because the mode denies it regardless.
    Mode {
        mode: Mode,
        class: ActionClass,
        reason: Option<NoRuleReason>,
    },
    /// The call is too large to be evaluated.
    Limit(&'static str),
    /// There is no mode of this name.
    UnknownMode(&'a str),
    /// The policy has an error.
    Broken(&'a str),
}

/// Why no rule allows something, and what to change so that one does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoRuleReason {
    pub(crate) why: String,
    pub(crate) change: Cow<'static, str>,
}

impl NoRuleReason {
    pub(crate) fn new(why: impl Into<String>, change: impl Into<Cow<'static, str>>) -> Self {
        Self {
            why: why.into(),
            change: change.into(),
        }
    }
}

impl Cause<'_> {
    /// Returns the name under which the decision is recorded.
    pub(crate) fn name(&self) -> String {
        match self {
            Cause::Rule(rule) => rule.name.to_string(),
            Cause::Protected(protection) => format!("protected path {}", protection.name),
            Cause::Mode { mode, .. } => format!("mode {}", mode.as_str()),
            Cause::Limit(_) => "limits of what is judged".to_owned(),
            Cause::UnknownMode(_) => "unknown mode".to_owned(),
            Cause::Broken(_) => "broken policy".to_owned(),
        }
    }

    /// Returns why the finding has its effect, in one sentence for the user and the model.
    pub(crate) fn reason(&self, effect: RuleEffect) -> String {
        match self {
            Cause::Rule(rule) => match &rule.body.because {
                Some(because) => because.to_string(),
                None => format!("a rule says so: {}", rule.name),
            },
            Cause::Protected(protection) => {
                let consequence = match effect {
                    RuleEffect::Allow | RuleEffect::Ask => "it is always asked about",
                    RuleEffect::Deny => "tool calls may not change it",
                };
                let name = protection.name;
                format!("protected path `{name}`: {consequence}, whatever rules and modes say")
            }
            Cause::Mode {
                mode,
                class,
                reason,
            } => mode_reason(*mode, *class, reason.as_ref(), effect),
            Cause::Limit(what) => (*what).to_owned(),
            Cause::UnknownMode(name) => {
                let all = Mode::ALL.map(Mode::as_str).join("`, `");
                format!("there is no mode `{name}`; choose one of `{all}`")
            }
            Cause::Broken(error) => format!("the policy cannot be used: {error}"),
        }
    }

    /// Returns what the user can change to get another verdict, if anything.
    pub(crate) fn change(&self, effect: RuleEffect) -> Option<String> {
        match (self, effect) {
            (Cause::Rule(rule), RuleEffect::Ask | RuleEffect::Deny) => {
                Some(format!("change or remove the rule `{}`", rule.name))
            }
            (
                Cause::Mode {
                    reason: Some(reason),
                    ..
                },
                RuleEffect::Ask,
            ) => Some(format!("{}, or answer the question", reason.change)),
            (Cause::Mode { .. }, RuleEffect::Ask) => {
                Some("add an `[[allow]]` rule, or answer the question".to_owned())
            }
            (Cause::Mode { mode, .. }, RuleEffect::Deny) => {
                Some(format!("choose another mode than `{}`", mode.as_str()))
            }
            (Cause::Broken(_), _) => Some("correct the policy file".to_owned()),
            (Cause::Rule(_) | Cause::Mode { .. }, RuleEffect::Allow)
            | (Cause::Protected(_) | Cause::Limit(_) | Cause::UnknownMode(_), _) => None,
        }
    }
}

/// Returns why a mode has this effect on a class of actions.
fn mode_reason(
    mode: Mode,
    class: ActionClass,
    reason: Option<&NoRuleReason>,
    effect: RuleEffect,
) -> String {
    let (action, mode) = (class.description(), mode.as_str());
    match (effect, reason) {
        (RuleEffect::Allow, _) => format!("allowed: {action} needs no rule in mode `{mode}`"),
        (RuleEffect::Ask, Some(reason)) => {
            format!("mode `{mode}` asks before {action}: {}", reason.why)
        }
        (RuleEffect::Ask, None) => format!("mode `{mode}` asks before {action}"),
        // Only what a mode denies regardless of rules is denied by it (see `Mode::minimum_effect`).
        (RuleEffect::Deny, _) => format!("mode `{mode}` denies {action}, whatever rules say"),
    }
}

impl Subject<'_> {
    /// Returns what the finding is about, as text.
    pub(crate) fn description(&self) -> String {
        match self {
            Subject::Call => "the call".to_owned(),
            Subject::File(FileAction::Read, path) => format!("reads {}", path.display()),
            Subject::File(FileAction::Write, path) => format!("writes {}", path.display()),
            Subject::File(FileAction::Delete, path) => format!("deletes {}", path.display()),
            Subject::Text(text) => format!("runs the text {text:?}"),
            Subject::Part(part) => format!("runs {}", shown(part)),
            Subject::Word(part, word) => format!("names `{word}` in {}", shown(part)),
            Subject::Reach(target) => match mode_name(target) {
                Some(name) => format!("switches to mode {name}"),
                None => format!("reaches {target}"),
            },
        }
    }
}

fn shown(part: &Part) -> String {
    let line = quoted(part.argv.iter().map(String::as_str));
    format!("`{line}` in {}", part.cwd.display())
}

/// The strongest finding so far, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) effect: RuleEffect,
    pub(crate) rule: String,
    pub(crate) reason: Arc<str>,
}

impl Outcome {
    /// Replaces `best` by the finding if that is stronger. Of two equally strong ones, the one whose
    /// name sorts first stays, so that the order of rules does not matter.
    pub(crate) fn update(best: &mut Option<Outcome>, finding: &Finding<'_>) {
        let is_weaker = best
            .as_ref()
            .is_some_and(|best| finding.effect < best.effect);
        if is_weaker {
            return;
        }
        let found = Outcome {
            effect: finding.effect,
            rule: finding.cause.name(),
            reason: finding.cause.reason(finding.effect).into(),
        };
        let is_better = best.as_ref().is_none_or(|best| {
            (found.effect, &best.rule, &best.reason) > (best.effect, &found.rule, &found.reason)
        });
        if is_better {
            *best = Some(found);
        }
    }
}
