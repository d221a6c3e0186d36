//! Version 1 of the protocol: what a call looks like there, both ways.
//! It speaks its own schema only; another version is another module.

mod agent;
mod ask;
mod client;
mod content;
pub mod decode;
mod encode;
mod extras;
mod fields;
mod fill;
mod host;
mod offer;
mod printed;
mod reporter;
mod serve;
mod session;
mod signal;
mod subject;
mod tell;
mod terminal;
mod update;
mod view;
mod wish;

use toolcall::{Kind, ToolCall};

use crate::trace::TraceContext;

pub use agent::{prompt_text, serve, stdio};
pub use agent_client_protocol::v1::schema::{PromptRequest, StopReason};
pub use client::{CANCEL_CALL, Capabilities, Client};
pub use encode::{encode, snapshot};
pub use host::Commands;
pub use reporter::{ReportCounters, Reporter, Reports};
pub use serve::serve_agent;
pub use session::{IntoStop, Prompt, Session};
pub use update::Update;

/// How one client wants to be told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// How it takes the output of commands.
    pub printing: Printing,
    /// The trace context of the turn.
    pub trace: TraceContext,
}

/// How a client takes the output of a command that does not run in its own terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Printing {
    /// As text: head and tail, sent anew as it grows.
    #[default]
    Text,
    /// In chunks for a terminal, by Zed's extension.
    Terminal,
}

impl Printing {
    /// Whether this call has a terminal of ours: told in its first report, so it depends on that alone.
    pub(crate) fn has_terminal(self, call: &ToolCall) -> bool {
        self == Printing::Terminal && call.announced().kind() == Kind::Execute
    }
}
