//! Version 1 of the protocol: its codec, with an encoder and a decoder for tool calls.
//! It uses its own schema only; another version is another module.

mod changed;
mod content;
pub mod decode;
mod encode;
mod form;
mod host;
mod notices;
mod output;
mod permission;
mod question;
mod requests;
mod responses;
mod signal;
mod terminal;
mod update;
mod update_meta;
mod view;

use std::sync::Arc;

use serde_json::value::RawValue;
use toolcall::{
    Answer, Event, FormAnswer, FormQuestion, Host, Kind, Question, SessionId, ToolCall,
};

use self::host::ClientHost;
pub(crate) use self::requests::initialize;
use self::view::TerminalState;
use crate::codec::{
    ClientNotification, ClientRequest, Codec, Notice, OutgoingRequest, Report, Response, SentReport,
};
use crate::lane::Group;
use crate::peer::{Peer, RpcError};
use crate::report::{Fields, Urgency};
use crate::service::CommandPlacement;
use crate::trace::TraceContext;
use crate::version::ProtocolVersion;

pub use encode::{encode, snapshot};
pub use update::Update;

/// The codec of version 1, for a client with these capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct V1 {
    offers: Capabilities,
}

/// The capabilities of a client that tool calls use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capabilities {
    /// `fs/read_text_file`.
    pub(crate) read_text: bool,
    /// `fs/write_text_file`.
    pub(crate) write_text: bool,
    /// `terminal/*`.
    pub(crate) terminal: bool,
    /// Zed's extension for the output of commands.
    pub(crate) terminal_output: bool,
    /// `elicitation/create` in its form mode.
    pub(crate) forms: bool,
}

impl V1 {
    fn printing(self) -> OutputFormat {
        if self.offers.terminal_output {
            OutputFormat::Terminal
        } else {
            OutputFormat::Text
        }
    }
}

impl Codec for V1 {
    fn version(&self) -> ProtocolVersion {
        ProtocolVersion::V1
    }

    fn request(&self, method: &str, params: Option<&RawValue>) -> Result<ClientRequest, RpcError> {
        requests::request(method, params)
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) -> Option<ClientNotification> {
        requests::notification(method, params)
    }

    fn response(&self, response: &Response) -> Box<RawValue> {
        responses::response(response)
    }

    fn notice(&self, session: &SessionId, notice: &Notice<'_>, line: &mut Vec<u8>) {
        notices::write(session, notice, line);
    }

    fn changed(&self, call: &ToolCall, event: &Event) -> (Fields, Urgency) {
        changed::changed(call, event, self.printing())
    }

    fn report(&self, report: &Report<'_>, lines: &mut Group<'_>) -> SentReport {
        let mut sent = SentReport {
            updates: 0,
            output_end: report.output_start,
        };
        let dialect = encode::EncodeOptionsRef {
            printing: self.printing(),
            trace: report.trace,
        };
        let updates = encode::updates(
            report.call,
            report.fields,
            dialect,
            TerminalState::Live,
            report.output_start,
        );
        for update in updates {
            lines.line(|line| update.write_line(report.session, line));
            sent.output_end = update
                .chunk
                .as_ref()
                .map_or(sent.output_end, |chunk| chunk.to);
            sent.updates += 1;
        }
        sent
    }

    fn replay(&self, session: &SessionId, call: &ToolCall, lines: &mut Group<'_>) {
        let dialect = EncodeOptions {
            printing: self.printing(),
            trace: TraceContext::default(),
        };
        for update in snapshot(call, &dialect) {
            lines.line(|line| update.write_line(session, line));
        }
    }

    fn permission(
        &self,
        question: &Arc<Question>,
        trace: &TraceContext,
    ) -> OutgoingRequest<Answer> {
        permission::request(question, trace)
    }

    fn form(
        &self,
        question: &FormQuestion,
        trace: &TraceContext,
    ) -> Option<OutgoingRequest<FormAnswer>> {
        self.offers.forms.then(|| form::form(question, trace))
    }

    fn host(
        &self,
        session: &SessionId,
        peer: &Peer,
        commands: CommandPlacement,
        local: Arc<dyn Host>,
    ) -> Arc<dyn Host> {
        Arc::new(ClientHost {
            session: session.clone(),
            peer: peer.clone(),
            offers: self.offers,
            commands,
            local,
        })
    }
}

/// How updates are encoded for one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodeOptions {
    /// How the client shows the output of commands.
    pub printing: OutputFormat,
    /// The trace context of the turn.
    pub trace: TraceContext,
}

/// How a client shows the output of a command that does not run in its own terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputFormat {
    /// As text: head and tail, sent again as it grows.
    #[default]
    Text,
    /// In a terminal that the agent fills chunk by chunk, by Zed's extension.
    Terminal,
}

impl OutputFormat {
    /// Whether the agent fills a terminal for this call. The first report announces the terminal, so it
    /// depends on the announcement only.
    pub(crate) fn uses_agent_terminal(self, call: &ToolCall) -> bool {
        self == OutputFormat::Terminal && call.announced().kind() == Kind::Execute
    }
}
