//! Where a client shows the output of a call: in text, in a terminal that the agent fills, or in its own terminal.
//! It inspects the call and chooses; it writes nothing.

use toolcall::{Content, ToolCall};

use super::OutputFormat;

/// Where a client shows the output of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputView {
    pub(crate) printing: OutputFormat,
    pub(crate) terminals: TerminalState,
}

/// Whether the client still has the terminals of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TerminalState {
    /// The call is reported while it runs.
    Live,
    /// The call is replayed, and its terminal ended with its session.
    Gone,
}

impl OutputView {
    /// Creates the view of a call that is reported while it runs.
    pub(crate) fn live(printing: OutputFormat) -> Self {
        Self {
            printing,
            terminals: TerminalState::Live,
        }
    }

    /// Whether a terminal shows the call's output: the client's own, or one that the agent fills.
    pub(crate) fn is_shown_in_terminal(self, call: &ToolCall) -> bool {
        self.has_client_terminal(call) || self.printing.uses_agent_terminal(call)
    }

    /// Whether a terminal that the agent fills shows the call's output.
    pub(crate) fn is_in_agent_terminal(self, call: &ToolCall) -> bool {
        self.printing.uses_agent_terminal(call) && !self.has_client_terminal(call)
    }

    /// Whether the call runs in a terminal of the client, which shows its output.
    pub(crate) fn has_client_terminal(self, call: &ToolCall) -> bool {
        self.client_terminals(call).next().is_some()
    }

    /// Returns the terminals of the client that the call runs in.
    pub(crate) fn client_terminals(self, call: &ToolCall) -> impl Iterator<Item = &Content> {
        self.shown(call).filter(|content| is_terminal(content))
    }

    /// Returns the content that the tool shows now, without terminals that are gone.
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
