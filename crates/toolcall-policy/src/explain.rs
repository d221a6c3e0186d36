//! How a verdict comes about, as a plain value that can be printed in any form.
//! It tells what judging finds, nothing more and nothing else.

use crate::evaluation::Evaluation;
use crate::finding::{Finding, Outcome};
use crate::offers::offers;
use crate::rule_effect::RuleEffect;

/// How a verdict comes about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What becomes of the call.
    pub stance: RuleEffect,
    /// What decided it.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Everything that was found, in the order in which it was looked at.
    pub steps: Vec<Step>,
    /// The rules that "always" may write.
    pub offers: Vec<toolcall::Rule>,
}

/// One thing that the call does, and what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What the call does, as it was read.
    pub what: String,
    /// What is said about it.
    pub stance: RuleEffect,
    /// What decided that.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// What would have to be different for another verdict.
    pub change: Option<String>,
}

impl Explanation {
    pub(crate) fn of(hearing: &Evaluation<'_>) -> Self {
        let mut steps = Vec::new();
        hearing.hear(&mut |finding| steps.push(step(&finding)));
        let Outcome {
            stance,
            rule,
            reason,
        } = hearing.outcome();
        Self {
            stance,
            rule,
            reason: reason.to_string(),
            steps,
            offers: match stance {
                RuleEffect::Ask => offers(hearing),
                RuleEffect::Allow | RuleEffect::Deny => Vec::new(),
            },
        }
    }
}

fn step(finding: &Finding<'_>) -> Step {
    Step {
        what: finding.subject.words(),
        stance: finding.stance,
        rule: finding.cause.name(),
        reason: finding.cause.reason(),
        change: finding.cause.change(finding.stance),
    }
}
