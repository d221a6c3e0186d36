//! What a protocol version brings to the wire: how requests are read, and how everything else is written.
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

/// One protocol version, as it is spoken with one client.
pub(crate) trait Codec: Send + Sync + 'static {
    /// The version.
    fn version(&self) -> ProtocolVersion;

    /// Reads a request of the client.
    fn request(&self, method: &str, params: Option<&RawValue>) -> Result<ClientRequest, RpcError>;

    /// Reads a notification of the client. Nothing if it means nothing here.
    fn notification(&self, method: &str, params: Option<&RawValue>) -> Option<ClientNotification>;

    /// Writes the result of a request.
    fn response(&self, response: &Response) -> Box<RawValue>;

    /// Appends the line that tells the client something beside calls. Nothing, if the version has
    /// no such line.
    fn notice(&self, session: &SessionId, notice: &Notice<'_>, line: &mut Vec<u8>);

    /// Says which parts of a call's report an event changed, and how soon the client should know.
    fn changed(&self, call: &ToolCall, event: &Event) -> (Fields, Urgency);

    /// Appends the lines that report these parts of a call.
    fn report(&self, report: &Report<'_>, lines: &mut Group<'_>) -> Reported;

    /// Appends the lines that tell everything about a call at once, as a replay does.
    fn replay(&self, session: &SessionId, call: &ToolCall, lines: &mut Group<'_>);

    /// Asks the user for permission.
    fn permission(&self, question: &Arc<Question>, trace: &TraceContext) -> Ask<Answer>;

    /// Asks the user to fill in a form. Nothing if the client shows none.
    fn form(&self, question: &FormQuestion, trace: &TraceContext) -> Option<Ask<FormAnswer>>;

    /// The host of a session: what the client offers goes through it, the rest stays local.
    fn host(
        &self,
        session: &SessionId,
        peer: &Peer,
        commands: CommandPlacement,
        local: Arc<dyn Host>,
    ) -> Arc<dyn Host>;
}

/// What a client asks an agent for.
#[derive(Debug)]
pub(crate) enum ClientRequest {
    Authenticate {
        way: String,
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

/// What a client tells an agent.
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
    /// A new session is open.
    New(OpenedSession),
    /// A kept session is open again, and was replayed.
    Loaded(OpenedSession),
    /// A kept session is open again.
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

/// What a session tells its client beside calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Notice<'a> {
    /// The agent says more.
    AgentText(&'a str),
    /// What the user said, for a client that was not there.
    UserText(&'a str),
    /// The model thinks more.
    Thought(&'a str),
    /// What the session is about.
    Title(&'a str),
    /// How full the model's context window is.
    Usage { used: u64, window: u64 },
    /// The mode that holds now.
    Mode(&'a str),
    /// The options as they hold now.
    Options(&'a [ConfigOption]),
    /// The commands that the user may type.
    Commands(&'a [SlashCommand]),
}

/// What is to be reported of a call.
pub(crate) struct Report<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) call: &'a ToolCall,
    pub(crate) fields: Fields,
    pub(crate) trace: &'a TraceContext,
    /// How far the call's output was reported before.
    pub(crate) from: u64,
}

/// What was reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reported {
    /// In how many updates.
    pub(crate) updates: u64,
    /// How far the call's output is reported now.
    pub(crate) to: u64,
}

/// A request to the client, and how its answer is read.
pub(crate) struct Ask<T> {
    pub(crate) method: &'static str,
    pub(crate) params: serde_json::Result<Box<RawValue>>,
    pub(crate) read: Box<dyn FnOnce(Result<Value, PeerError>) -> T + Send>,
}

impl<T> Ask<T> {
    /// Sends the request and waits for its answer. Dropped before that, the request is withdrawn.
    pub(crate) async fn send(self, peer: &Peer) -> T {
        let answer = match &self.params {
            Ok(params) => peer.request(self.method, params).await,
            Err(_) => Err(PeerError::Malformed),
        };
        (self.read)(answer)
    }
}
