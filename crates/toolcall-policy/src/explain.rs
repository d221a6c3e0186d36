//! Explains a verdict: every finding, as a plain value that can be printed in any form.
//! It reports what the evaluation finds and adds nothing.

use crate::evaluation::Evaluation;
use crate::finding::{Finding, Outcome};
use crate::offers::offers;
use crate::rule_effect::RuleEffect;

/// The explanation of a verdict ([`crate::Rules::explain`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// What the verdict is.
    pub effect: RuleEffect,
    /// The name of the rule, protected path or mode that decided.
    pub rule: String,
    /// Why it decided so.
    pub reason: String,
    /// Every finding, in the order of evaluation.
    pub steps: Vec<ExplanationStep>,
    /// The rules that an "always" answer may remember; empty unless the call is asked about.
    pub offers: Vec<toolcall::Rule>,
}

/// One thing that the call does, and the effect of the policy on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplanationStep {
    /// What the call does.
    pub what: String,
    /// The effect on it.
    pub effect: RuleEffect,
    /// The name of the rule, protected path or mode that decided.
    pub rule: String,
    /// Why it decided so.
    pub reason: String,
    /// What the user can change to get another verdict, if anything.
    pub change: Option<String>,
}

impl Explanation {
    pub(crate) fn of(evaluation: &Evaluation<'_>) -> Self {
        let mut steps = Vec::new();
        evaluation.evaluate(&mut |finding| steps.push(step(&finding)));
        let Outcome {
            effect,
            rule,
            reason,
        } = evaluation.outcome();
        Self {
            effect,
            rule,
            reason: reason.to_string(),
            steps,
            offers: match effect {
                RuleEffect::Ask => offers(evaluation),
                RuleEffect::Allow | RuleEffect::Deny => Vec::new(),
            },
        }
    }
}

fn step(finding: &Finding<'_>) -> ExplanationStep {
    ExplanationStep {
        what: finding.subject.description(),
        effect: finding.effect,
        rule: finding.cause.name(),
        reason: finding.cause.reason(finding.effect),
        change: finding.cause.change(finding.effect),
    }
}
