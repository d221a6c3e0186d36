//! The cases: a call of a tool, and what a client sees of it.
//! It runs nothing.

mod changing;
mod commands;
mod looking;
mod text;
mod web;

use expect_test::Expect;
use serde_json::Value;

/// How the call of a case ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExpectedEnding {
    Success,
    Failure,
}

/// A call, and what a client sees of it. `PORT` is the port of the test server.
pub(crate) struct CallCase {
    pub(crate) tool: &'static str,
    pub(crate) outcome: ExpectedEnding,
    /// Calls that are made first, in the same session.
    pub(crate) before: Vec<(&'static str, Value)>,
    pub(crate) input: Value,
    pub(crate) expected: Expect,
}

impl CallCase {
    fn succeeds(tool: &'static str, input: Value, expected: Expect) -> Self {
        Self {
            tool,
            outcome: ExpectedEnding::Success,
            before: Vec::new(),
            input,
            expected,
        }
    }

    fn fails(tool: &'static str, input: Value, expected: Expect) -> Self {
        Self {
            outcome: ExpectedEnding::Failure,
            ..Self::succeeds(tool, input, expected)
        }
    }

    /// A call that another test checks.
    pub(crate) fn of(tool: &'static str, input: Value) -> Self {
        Self::succeeds(tool, input, expect_test::expect![[""]])
    }

    fn after(mut self, tool: &'static str, input: Value) -> Self {
        self.before.push((tool, input));
        self
    }
}

/// Returns every case.
pub(crate) fn all() -> Vec<CallCase> {
    [
        looking::cases(),
        changing::cases(),
        commands::cases(),
        web::cases(),
        text::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
