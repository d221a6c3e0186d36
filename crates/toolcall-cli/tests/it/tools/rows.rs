//! The table: which tool is called with what, and what a client is told of it.
//! It plays nothing.

mod changing;
mod commands;
mod looking;
mod web;
mod words;

use expect_test::Expect;
use serde_json::Value;

/// How the call of a row ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sort {
    Success,
    Failure,
}

/// One call, and what is told of it. `PORT` is the port of the site.
pub(crate) struct Row {
    pub(crate) tool: &'static str,
    pub(crate) sort: Sort,
    /// Calls that are made before, in the same session.
    pub(crate) before: Vec<(&'static str, Value)>,
    pub(crate) input: Value,
    pub(crate) expected: Expect,
}

impl Row {
    fn succeeds(tool: &'static str, input: Value, expected: Expect) -> Self {
        Self {
            tool,
            sort: Sort::Success,
            before: Vec::new(),
            input,
            expected,
        }
    }

    fn fails(tool: &'static str, input: Value, expected: Expect) -> Self {
        Self {
            sort: Sort::Failure,
            ..Self::succeeds(tool, input, expected)
        }
    }

    /// A call whose story is for another test.
    pub(crate) fn of(tool: &'static str, input: Value) -> Self {
        Self::succeeds(tool, input, expect_test::expect![[""]])
    }

    fn after(mut self, tool: &'static str, input: Value) -> Self {
        self.before.push((tool, input));
        self
    }
}

/// Every row.
pub(crate) fn all() -> Vec<Row> {
    [
        looking::rows(),
        changing::rows(),
        commands::rows(),
        web::rows(),
        words::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
