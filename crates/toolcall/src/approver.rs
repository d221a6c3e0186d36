//! The one two-way door: a question goes out, an answer comes back.
//! An approver answers; it never runs anything and never changes a call.

use std::sync::Arc;

use crate::event::{Question, Rule};
use crate::form::{FormAnswer, FormQuestion};
use crate::host::BoxFuture;

/// Answers questions: a person behind an editor, a terminal, a script.
pub trait Approver: Send + Sync + 'static {
    /// Asks. The engine drops the future when the question is no longer open: the call was
    /// cancelled, or a new rule decided it.
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer>;

    /// Asks somebody to fill in the form of a tool's server. The engine drops the future when the
    /// form is no longer open. What is not known to show forms declines them.
    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        let _unseen = question;
        let declined = FormAnswer::declined_because("nobody here can fill in a form");
        Box::pin(std::future::ready(declined))
    }
}

/// A closure that returns a future is an approver.
impl<F, Fut> Approver for F
where
    F: Fn(Arc<Question>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send + 'static,
{
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(self(question.clone()))
    }
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this once.
    AllowOnce,
    /// Yes, and keep this rule, which must be one of those offered.
    AllowAlways(Rule),
    /// No, this once.
    RejectOnce {
        /// Why, for the model.
        reason: Option<Arc<str>>,
    },
    /// No, and keep this rule, which must be one of those offered.
    RejectAlways {
        /// The rule.
        rule: Rule,
        /// Why, for the model.
        reason: Option<Arc<str>>,
    },
    /// Neither: the turn was cancelled.
    Cancelled,
    /// Neither: nobody could be reached, or what came back is no answer. Never a yes.
    Unanswered {
        /// What went wrong.
        reason: Arc<str>,
    },
}

impl Answer {
    /// No, this once, for no stated reason.
    pub fn reject() -> Self {
        Answer::RejectOnce { reason: None }
    }

    /// Nobody answered, for this reason.
    pub fn unanswered(reason: impl Into<Arc<str>>) -> Self {
        Answer::Unanswered {
            reason: reason.into(),
        }
    }

    /// No, this once, for this reason.
    pub fn reject_because(reason: impl Into<Arc<str>>) -> Self {
        Answer::RejectOnce {
            reason: Some(reason.into()),
        }
    }
}
