//! Through what a client sees the output of a call: text, a terminal of ours, a terminal of its own.
//! It looks at the call and chooses; it writes nothing.

use toolcall::{Content, ToolCall};

use super::OutputFormat;

/// How a client sees a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputView {
    pub(crate) printing: OutputFormat,
    pub(crate) terminals: TerminalState,
}

/// Whether the terminals that calls ran in are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalState {
    /// The call is told while it happens.
    Live,
    /// The call is told again, and its terminal went with its session.
    Gone,
}

impl OutputView {
    /// Of a call that is told while it happens.
    pub(crate) fn live(printing: OutputFormat) -> Self {
        Self {
            printing,
            terminals: TerminalState::Live,
        }
    }

    /// Whether a terminal shows what the call prints: the client's, or else ours.
    pub(crate) fn is_shown_in_terminal(self, call: &ToolCall) -> bool {
        self.has_client_terminal(call) || self.printing.uses_agent_terminal(call)
    }

    /// Whether a terminal of ours shows what the call prints.
    pub(crate) fn is_in_agent_terminal(self, call: &ToolCall) -> bool {
        self.printing.uses_agent_terminal(call) && !self.has_client_terminal(call)
    }

    /// Whether the call runs in a terminal of the client, which shows what it prints.
    pub(crate) fn has_client_terminal(self, call: &ToolCall) -> bool {
        self.client_terminals(call).next().is_some()
    }

    /// TerminalState of the client that the call runs in.
    pub(crate) fn client_terminals(self, call: &ToolCall) -> impl Iterator<Item = &Content> {
        self.shown(call).filter(|content| is_terminal(content))
    }

    /// What the tool shows at the moment, without terminals that nobody has.
    pub(crate) fn shown(self, call: &ToolCall) -> impl Iterator<Item = &Content> {
        let shown = call.shown().map_or(&[][..], |shown| &**shown);
        let is_there = move |content: &&Content| {
            self.terminals == TerminalState::Live || !is_terminal(content)
        };
        shown.iter().filter(is_there)
    }
}

fn is_terminal(content: &Content) -> bool {
    matches!(content, Content::Terminal(_))
}
