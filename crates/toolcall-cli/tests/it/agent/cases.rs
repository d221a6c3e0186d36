//! The recorded cases: the model's calls, the client's features and answers, and the expected result.
//! A case is a value; `wire.rs` runs it.

mod changing;
mod commands;
mod failing;
mod looking;
mod stopping;

use crate::agent::client::{CancelTrigger, ClientBehavior, ClientFeatures, QuestionAnswer};

pub(crate) const DONE: &str = "pending in_progress completed";
pub(crate) const FAILED: &str = "pending in_progress failed";
/// The call never ran: it was refused or invalid.
pub(crate) const REFUSED: &str = "pending failed";

/// A case.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The script of the model, one turn for every prompt.
    pub(crate) script: &'static str,
    pub(crate) features: ClientFeatures,
    pub(crate) behavior: ClientBehavior,
    pub(crate) mode: &'static str,
    /// The user's policy.
    pub(crate) policy: &'static str,
    /// The statuses of every call, in any order: parallel calls are announced as their tools are ready.
    pub(crate) call_statuses: &'static [(&'static str, &'static str)],
    /// The number of permission questions.
    pub(crate) questions: usize,
    pub(crate) stop: &'static str,
    /// A file of the project and its final text; `None` if it must not exist.
    pub(crate) file: Option<(&'static str, Option<&'static str>)>,
}

/// A client without features that always answers yes.
pub(crate) const PLAIN: Case = Case {
    name: "",
    script: "",
    features: ClientFeatures::Nothing,
    behavior: YES,
    mode: "ask",
    policy: "",
    call_statuses: &[],
    questions: 0,
    stop: "end_turn",
    file: None,
};

pub(crate) const YES: ClientBehavior = answering("allow_once");
pub(crate) const ALWAYS: ClientBehavior = answering("allow_always");
pub(crate) const NO: ClientBehavior = answering("reject_once");

pub(crate) const fn answering(kind: &'static str) -> ClientBehavior {
    ClientBehavior {
        answer: QuestionAnswer::Choose(kind),
        cancel: CancelTrigger::Never,
    }
}

pub(crate) const fn cancelling(cancel: CancelTrigger) -> ClientBehavior {
    ClientBehavior {
        answer: QuestionAnswer::Choose("allow_once"),
        cancel,
    }
}

/// Returns all cases.
pub(crate) fn all() -> Vec<Case> {
    [
        looking::CASES,
        changing::CASES,
        commands::CASES,
        failing::CASES,
        stopping::CASES,
    ]
    .concat()
}
