//! Through what a client sees the output of a call: text, a terminal of ours, a terminal of its own.
//! It looks at the call and chooses; it writes nothing.

use toolcall::{Content, ToolCall};

use super::Printing;

/// How a client sees a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) printing: Printing,
    pub(crate) terminals: Terminals,
}

/// Whether the terminals that calls ran in are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminals {
    /// The call is told while it happens.
    There,
    /// The call is told again, and its terminal went with its session.
    Gone,
}

impl View {
    /// Of a call that is told while it happens.
    pub(crate) fn live(printing: Printing) -> Self {
        Self {
            printing,
            terminals: Terminals::There,
        }
    }

    /// Whether a terminal shows what the call prints: the client's, or else ours.
    pub(crate) fn is_by_terminal(self, call: &ToolCall) -> bool {
        self.has_own_terminal(call) || self.printing.has_terminal(call)
    }

    /// Whether a terminal of ours shows what the call prints.
    pub(crate) fn is_by_ours(self, call: &ToolCall) -> bool {
        self.printing.has_terminal(call) && !self.has_own_terminal(call)
    }

    /// Whether the call runs in a terminal of the client, which shows what it prints.
    pub(crate) fn has_own_terminal(self, call: &ToolCall) -> bool {
        self.own_terminals(call).next().is_some()
    }

    /// Terminals of the client that the call runs in.
    pub(crate) fn own_terminals(self, call: &ToolCall) -> impl Iterator<Item = &Content> {
        self.shown(call).filter(|content| is_terminal(content))
    }

    /// What the tool shows at the moment, without terminals that nobody has.
    pub(crate) fn shown(self, call: &ToolCall) -> impl Iterator<Item = &Content> {
        let shown = call.shown().map_or(&[][..], |shown| &**shown);
        let is_there =
            move |content: &&Content| self.terminals == Terminals::There || !is_terminal(content);
        shown.iter().filter(is_there)
    }
}

fn is_terminal(content: &Content) -> bool {
    matches!(content, Content::Terminal(_))
}
