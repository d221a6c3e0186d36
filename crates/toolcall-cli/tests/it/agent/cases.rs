//! The cases that are recorded: what a model asks for, what the client offers and answers, and what must come of it.
//! A case is a value; playing it is done elsewhere.

mod changing;
mod commands;
mod failing;
mod looking;
mod stopping;

use crate::agent::client::{Answer, Cancel, Manner, Offer};

pub(crate) const DONE: &str = "pending in_progress completed";
pub(crate) const FAILED: &str = "pending in_progress failed";
/// It never ran: it was refused, or there was nothing to run.
pub(crate) const REFUSED: &str = "pending failed";

/// One case.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What the model says and calls, one turn for every prompt.
    pub(crate) script: &'static str,
    pub(crate) offer: Offer,
    pub(crate) manner: Manner,
    pub(crate) mode: &'static str,
    /// What the person's policy says.
    pub(crate) policy: &'static str,
    /// What every call did, in any order: calls of one answer are announced as their tools are ready.
    pub(crate) lives: &'static [(&'static str, &'static str)],
    /// How many questions were asked.
    pub(crate) questions: usize,
    pub(crate) stop: &'static str,
    /// A file of the project, and what it says in the end; nothing if it must not be there.
    pub(crate) file: Option<(&'static str, Option<&'static str>)>,
}

/// A client that offers nothing and says yes.
pub(crate) const PLAIN: Case = Case {
    name: "",
    script: "",
    offer: Offer::Nothing,
    manner: YES,
    mode: "ask",
    policy: "",
    lives: &[],
    questions: 0,
    stop: "end_turn",
    file: None,
};

pub(crate) const YES: Manner = answering("allow_once");
pub(crate) const ALWAYS: Manner = answering("allow_always");
pub(crate) const NO: Manner = answering("reject_once");

pub(crate) const fn answering(kind: &'static str) -> Manner {
    Manner {
        answer: Answer::Choose(kind),
        cancel: Cancel::Never,
    }
}

pub(crate) const fn cancelling(cancel: Cancel) -> Manner {
    Manner {
        answer: Answer::Choose("allow_once"),
        cancel,
    }
}

/// All of them.
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
