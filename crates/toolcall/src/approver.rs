//! Where permission questions and forms are answered: an editor, a terminal, a script.
//! An approver answers; it never runs anything and never changes a call.

use std::sync::Arc;

use crate::event::{Question, Rule};
use crate::form::{FormAnswer, FormQuestion};
use crate::host::BoxFuture;

/// Answers permission questions and forms, usually by asking the user.
///
/// A closure that returns a future is an approver:
///
/// ```
/// use std::sync::Arc;
/// use toolcall::{Answer, Engine, Question, Registry};
///
/// let approver = |question: Arc<Question>| async move {
///     println!("{}: allowed once", question.subject.intent.title);
///     Answer::AllowOnce
/// };
/// let engine = Engine::builder(Registry::new()).approver(approver).build();
/// ```
pub trait Approver: Send + Sync + 'static {
    /// Asks the question. The engine drops the future when the question is no longer open: the call
    /// was cancelled, or a new rule decided it.
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer>;

    /// Shows a form of a tool's server. The engine drops the future when the form is no longer
    /// open. The default declines every form.
    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        let _unseen = question;
        let declined = FormAnswer::declined_because("nobody here can fill in a form");
        Box::pin(std::future::ready(declined))
    }
}

/// Lets a closure that returns a future be an approver.
impl<F, Fut> Approver for F
where
    F: Fn(Arc<Question>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Answer> + Send + 'static,
{
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(self(question.clone()))
    }
}

/// The answer to a permission question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Allows this call.
    AllowOnce,
    /// Allows this call and remembers this rule, which must be one of those offered.
    AllowAlways(Rule),
    /// Rejects this call.
    RejectOnce {
        /// Why, for the model.
        reason: Option<Arc<str>>,
    },
    /// Rejects this call and remembers this rule, which must be one of those offered.
    RejectAlways {
        /// The rule to remember.
        rule: Rule,
        /// Why, for the model.
        reason: Option<Arc<str>>,
    },
    /// No answer: the turn was cancelled.
    Cancelled,
    /// No answer: no user could be reached, or the response was invalid. Never counts as a yes.
    Unanswered {
        /// What went wrong.
        reason: Arc<str>,
    },
}

impl Answer {
    /// Rejects this call without a reason.
    pub fn reject() -> Self {
        Answer::RejectOnce { reason: None }
    }

    /// Reports that nobody answered, with the reason.
    pub fn unanswered(reason: impl Into<Arc<str>>) -> Self {
        Answer::Unanswered {
            reason: reason.into(),
        }
    }

    /// Rejects this call with a reason, which the model sees.
    pub fn reject_because(reason: impl Into<Arc<str>>) -> Self {
        Answer::RejectOnce {
            reason: Some(reason.into()),
        }
    }
}
