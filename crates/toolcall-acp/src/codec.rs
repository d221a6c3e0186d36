//! The codec of a protocol version: decodes the client's requests and encodes everything that is sent to it.
//! A codec translates; it holds no session, keeps no order and decides nothing.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use toolcall::{
    Answer, CallId, Content, Event, FormAnswer, FormQuestion, Host, Question, SessionId, ToolCall,
};

use crate::lane::Group;
use crate::peer::{Peer, PeerError, RpcError};
use crate::report::{Fields, Urgency};
use crate::service::{
    CommandPlacement, ConfigOption, ListSessionsRequest, OpenSessionRequest, OpenedSession,
    SessionPage, SlashCommand, StopReason,
};
use crate::trace::TraceContext;
use crate::version::ProtocolVersion;

/// The codec of one protocol version for one client.
pub(crate) trait Codec: Send + Sync + 'static {
    /// Returns the version.
    fn version(&self) -> ProtocolVersion;

    /// Decodes a request of the client.
    fn request(&self, method: &str, params: Option<&RawValue>) -> Result<ClientRequest, RpcError>;

    /// Decodes a notification of the client. Returns `None` for one that is ignored.
    fn notification(&self, method: &str, params: Option<&RawValue>) -> Option<ClientNotification>;

    /// Encodes the result of a request.
    fn response(&self, response: &Response) -> Box<RawValue>;

    /// Appends the line of a notice. Appends nothing if the version has no such line.
    fn notice(&self, session: &SessionId, notice: &Notice<'_>, line: &mut Vec<u8>);

    /// Returns the fields of a call's report that an event changed, and how soon to send them.
    fn changed(&self, call: &ToolCall, event: &Event) -> (Fields, Urgency);

    /// Appends the lines that report these fields of a call.
    fn report(&self, report: &Report<'_>, lines: &mut Group<'_>) -> SentReport;

    /// Appends the lines that report a whole call at once, for a replay.
    fn replay(&self, session: &SessionId, call: &ToolCall, lines: &mut Group<'_>);

    /// Builds the request that asks the user for permission.
    fn permission(&self, question: &Arc<Question>, trace: &TraceContext)
    -> OutgoingRequest<Answer>;

    /// Builds the request that asks the user to fill in a form. Returns `None` if the client shows no
    /// forms.
    fn form(
        &self,
        question: &FormQuestion,
        trace: &TraceContext,
    ) -> Option<OutgoingRequest<FormAnswer>>;

    /// Creates the host of a session, which uses what the client offers and `local` for the rest.
    fn host(
        &self,
        session: &SessionId,
        peer: &Peer,
        commands: CommandPlacement,
        local: Arc<dyn Host>,
    ) -> Arc<dyn Host>;
}

/// A request of the client.
#[derive(Debug)]
pub(crate) enum ClientRequest {
    Authenticate {
        method: String,
    },
    Open(OpenSessionRequest),
    List(ListSessionsRequest),
    Close(SessionId),
    Delete(SessionId),
    SetMode {
        session: SessionId,
        mode: String,
    },
    SetOption {
        session: SessionId,
        option: String,
        value: String,
    },
    Prompt {
        session: SessionId,
        content: Vec<Content>,
        trace: TraceContext,
    },
    CancelCall {
        session: SessionId,
        call: CallId,
    },
}

/// A notification of the client.
#[derive(Debug)]
pub(crate) enum ClientNotification {
    /// Cancels the turn of a session.
    Cancel(SessionId),
    /// Cancels one call.
    CancelCall { session: SessionId, call: CallId },
}

/// The result of a request.
pub(crate) enum Response {
    Authenticated,
    /// A new session was opened.
    New(OpenedSession),
    /// A stored session was opened and replayed.
    Loaded(OpenedSession),
    /// A stored session was opened without a replay.
    Resumed(OpenedSession),
    Sessions(SessionPage),
    Closed,
    Deleted,
    ModeSet,
    Options(Vec<ConfigOption>),
    Stopped(StopReason),
    /// Whether the call was open.
    CallCancelled(bool),
}

/// An update of a session that is not about a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice<'a> {
    /// More text of the agent.
    AgentText(&'a str),
    /// Text of the user, for a replay.
    UserText(&'a str),
    /// More of the model's thoughts.
    Thought(&'a str),
    /// The title of the session.
    Title(&'a str),
    /// How full the model's context window is.
    Usage { used: u64, window: u64 },
    /// The current mode.
    Mode(&'a str),
    /// The current options.
    Options(&'a [ConfigOption]),
    /// The slash commands that the user may type.
    Commands(&'a [SlashCommand]),
}

/// The fields of a call to report.
pub(crate) struct Report<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) call: &'a ToolCall,
    pub(crate) fields: Fields,
    pub(crate) trace: &'a TraceContext,
    /// How much of the call's output was reported before, in bytes.
    pub(crate) output_start: u64,
}

/// What a report sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentReport {
    /// The number of updates.
    pub(crate) updates: u64,
    /// How much of the call's output is reported now, in bytes.
    pub(crate) output_end: u64,
}

/// A request to the client, with the function that parses its response.
pub(crate) struct OutgoingRequest<T> {
    pub(crate) method: &'static str,
    pub(crate) params: serde_json::Result<Box<RawValue>>,
    pub(crate) read: Box<dyn FnOnce(Result<Value, PeerError>) -> T + Send>,
}

impl<T> OutgoingRequest<T> {
    /// Sends the request and waits for its response. If the future is dropped before that, the request
    /// is withdrawn.
    pub(crate) async fn send(self, peer: &Peer) -> T {
        let answer = match &self.params {
            Ok(params) => peer.request(self.method, params).await,
            Err(_) => Err(PeerError::Malformed),
        };
        (self.read)(answer)
    }
}
