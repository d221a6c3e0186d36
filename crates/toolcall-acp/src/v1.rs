//! Version 1 of the protocol: what a call looks like there, both ways.
//! It speaks its own schema only; another version is another module.

mod ask;
mod changed;
mod content;
pub mod decode;
mod encode;
mod extras;
mod form;
mod host;
mod notices;
mod printed;
mod requests;
mod responses;
mod signal;
mod subject;
mod terminal;
mod update;
mod view;

use std::sync::Arc;

use serde_json::value::RawValue;
use toolcall::{
    Answer, Event, FormAnswer, FormQuestion, Host, Kind, Question, SessionId, ToolCall,
};

use self::host::ClientHost;
pub(crate) use self::requests::initialize;
use self::view::Terminals;
use crate::codec::{
    Ask, ClientNotification, ClientRequest, Codec, Notice, Report, Reported, Response,
};
use crate::lane::Group;
use crate::peer::{Peer, RpcError};
use crate::report::{Fields, Urgency};
use crate::service::CommandPlacement;
use crate::trace::TraceContext;
use crate::version::ProtocolVersion;

pub use encode::{encode, snapshot};
pub use update::Update;

/// Version 1, as it is spoken with a client that offers this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct V1 {
    offers: Capabilities,
}

/// What a client offers, as far as tool calls use it.
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
    fn printing(self) -> Printing {
        if self.offers.terminal_output {
            Printing::Terminal
        } else {
            Printing::Text
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

    fn report(&self, report: &Report<'_>, lines: &mut Group<'_>) -> Reported {
        let mut reported = Reported {
            updates: 0,
            to: report.from,
        };
        let dialect = encode::DialectRef {
            printing: self.printing(),
            trace: report.trace,
        };
        let updates = encode::updates(
            report.call,
            report.fields,
            dialect,
            Terminals::There,
            report.from,
        );
        for update in updates {
            lines.line(|line| update.write_line(report.session, line));
            reported.to = update.chunk.as_ref().map_or(reported.to, |chunk| chunk.to);
            reported.updates += 1;
        }
        reported
    }

    fn replay(&self, session: &SessionId, call: &ToolCall, lines: &mut Group<'_>) {
        let dialect = Dialect {
            printing: self.printing(),
            trace: TraceContext::default(),
        };
        for update in snapshot(call, &dialect) {
            lines.line(|line| update.write_line(session, line));
        }
    }

    fn permission(&self, question: &Arc<Question>, trace: &TraceContext) -> Ask<Answer> {
        ask::permission(question, trace)
    }

    fn form(&self, question: &FormQuestion, trace: &TraceContext) -> Option<Ask<FormAnswer>> {
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
