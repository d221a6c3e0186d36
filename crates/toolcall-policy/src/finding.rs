//! What was found out about one thing that a call does, and why.
//! Findings are borrowed and cheap; words are made of them only when somebody wants to read them.

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

/// What somebody does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Read,
    Write,
    Delete,
}

/// One thing and what is said about it.
pub(crate) struct Finding<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) stance: RuleEffect,
    pub(crate) cause: Cause<'a>,
}

/// What a finding is about.
pub(crate) enum Subject<'a> {
    Call,
    File(Verb, &'a Path),
    /// A whole command, as its text stands.
    Text(&'a str),
    Part(&'a Part),
    /// A word of a part.
    Word(&'a Part, &'a str),
    Reach(&'a str),
}

/// Why.
pub(crate) enum Cause<'a> {
    Rule(&'a PolicyRule),
    Protected(Protection),
    /// The mode decides what no rule covers, or holds in spite of one.
    Mode {
        mode: Mode,
        deed: ActionClass,
        gap: Option<Gap>,
    },
    Limit(&'static str),
    /// There is no mode of this name.
    NoMode(&'a str),
    Broken(&'a str),
}

/// Why no rule covers something, and what would make one cover it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) why: String,
    pub(crate) change: Cow<'static, str>,
}

impl Gap {
    pub(crate) fn new(why: impl Into<String>, change: impl Into<Cow<'static, str>>) -> Self {
        Self {
            why: why.into(),
            change: change.into(),
        }
    }
}

impl Cause<'_> {
    /// What the decision is called.
    pub(crate) fn name(&self) -> String {
        match self {
            Cause::Rule(rule) => rule.name.to_string(),
            Cause::Protected(protection) => format!("protected path {}", protection.name),
            Cause::Mode { mode, .. } => format!("mode {}", mode.as_str()),
            Cause::Limit(_) => "limits of what is judged".to_owned(),
            Cause::NoMode(_) => "unknown mode".to_owned(),
            Cause::Broken(_) => "broken policy".to_owned(),
        }
    }

    /// Why, in one sentence for the person and the model.
    pub(crate) fn reason(&self) -> String {
        match self {
            Cause::Rule(rule) => match &rule.body.because {
                Some(because) => because.to_string(),
                None => format!("a rule says so: {}", rule.name),
            },
            Cause::Protected(protection) => {
                format!(
                    "`{}` is protected, whatever rules and modes say",
                    protection.name
                )
            }
            Cause::Mode { mode, deed, gap } => {
                let why = gap.as_ref().map(|gap| format!(": {}", gap.why));
                let (deed, mode) = (deed.words(), mode.as_str());
                format!(
                    "no rule covers {deed} in mode {mode}{}",
                    why.unwrap_or_default()
                )
            }
            Cause::Limit(what) => (*what).to_owned(),
            Cause::NoMode(name) => {
                let all = Mode::ALL.map(Mode::as_str).join("`, `");
                format!("there is no mode `{name}`; choose one of `{all}`")
            }
            Cause::Broken(error) => format!("the policy cannot be used: {error}"),
        }
    }

    /// What would have to be different for another verdict.
    pub(crate) fn change(&self, stance: RuleEffect) -> Option<String> {
        match (self, stance) {
            (Cause::Rule(rule), RuleEffect::Ask | RuleEffect::Deny) => {
                Some(format!("change or take out the rule `{}`", rule.name))
            }
            (Cause::Mode { gap: Some(gap), .. }, RuleEffect::Ask) => {
                Some(format!("{}, or answer the question", gap.change))
            }
            (Cause::Mode { .. }, RuleEffect::Ask) => {
                Some("add an `[[allow]]` rule, or answer the question".to_owned())
            }
            (Cause::Mode { mode, .. }, RuleEffect::Deny) => {
                Some(format!("choose another mode than {}", mode.as_str()))
            }
            (Cause::Broken(_), _) => Some("mend the policy file".to_owned()),
            (Cause::Rule(_) | Cause::Mode { .. }, RuleEffect::Allow)
            | (Cause::Protected(_) | Cause::Limit(_) | Cause::NoMode(_), _) => None,
        }
    }
}

impl Subject<'_> {
    /// What it is about, in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Subject::Call => "the call".to_owned(),
            Subject::File(Verb::Read, path) => format!("reads {}", path.display()),
            Subject::File(Verb::Write, path) => format!("writes {}", path.display()),
            Subject::File(Verb::Delete, path) => format!("deletes {}", path.display()),
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

/// The strongest finding so far, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stance: RuleEffect,
    pub(crate) rule: String,
    pub(crate) reason: Arc<str>,
}

impl Outcome {
    /// Keeps the stronger one; of two that are equally strong, the one whose name comes first, so
    /// that the order of rules does not matter.
    pub(crate) fn keep(best: &mut Option<Outcome>, finding: &Finding<'_>) {
        let is_weaker = best
            .as_ref()
            .is_some_and(|best| finding.stance < best.stance);
        if is_weaker {
            return;
        }
        let found = Outcome {
            stance: finding.stance,
            rule: finding.cause.name(),
            reason: finding.cause.reason().into(),
        };
        let is_better = best.as_ref().is_none_or(|best| {
            (found.stance, &best.rule, &best.reason) > (best.stance, &found.rule, &found.reason)
        });
        if is_better {
            *best = Some(found);
        }
    }
}
