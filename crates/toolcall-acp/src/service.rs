//! What an agent offers to its clients: requests and their results, without a protocol version.
//! It holds plain values; the codec reads them from the wire and writes them to it.

use std::path::PathBuf;
use std::sync::Arc;

use toolcall::{BoxFuture, Content, SessionId};

use crate::session::{Prompt, Session};

/// An agent, as a client uses it. The default methods refuse their request.
///
/// Implement this for an agent that stores sessions, has options or authenticates users, and hand it to
/// [`serve`](crate::serve). [`SimpleAgent`](crate::SimpleAgent) implements it with two closures.
pub trait Service: Send + Sync + 'static {
    /// Returns the agent's name and capabilities, for the response to `initialize`.
    fn about(&self) -> AgentInfo;

    /// Opens a session. Updates that are sent before this returns arrive before the response.
    fn open(
        self: Arc<Self>,
        request: OpenSessionRequest,
    ) -> BoxFuture<'static, Result<OpenedSession, ServiceError>>;

    /// Handles a prompt: calls tools, sends text, and returns why the turn ended.
    fn answer(
        self: Arc<Self>,
        prompt: Arc<Prompt>,
        content: Vec<Content>,
    ) -> BoxFuture<'static, Result<StopReason, ServiceError>>;

    /// Returns one page of the stored sessions, the latest first.
    fn list(
        self: Arc<Self>,
        _request: ListSessionsRequest,
    ) -> BoxFuture<'static, Result<SessionPage, ServiceError>> {
        Box::pin(async { Err(ServiceError::Unsupported) })
    }

    /// Closes a session. Its prompts are cancelled already. It can be opened again.
    fn close(
        self: Arc<Self>,
        _session: Arc<Session>,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async { Ok(()) })
    }

    /// Deletes a stored session. It was closed before.
    fn delete(
        self: Arc<Self>,
        _session: SessionId,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async { Err(ServiceError::Unsupported) })
    }

    /// Sets an option to the value that the user chose. Returns all options as they are then.
    fn choose(
        self: Arc<Self>,
        _session: Arc<Session>,
        _option: String,
        _value: String,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, ServiceError>> {
        Box::pin(async { Err(ServiceError::Unsupported) })
    }

    /// Authenticates the user by one of [`AgentInfo::authenticate`].
    fn authenticate(
        self: Arc<Self>,
        method: String,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async move {
            Err(ServiceError::InvalidParams(format!(
                "there is no authentication method `{method}`"
            )))
        })
    }
}

/// An agent's name and capabilities, as sent in the response to `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its name and version. They are not sent if the name is empty.
    pub party: Implementation,
    /// Its display name.
    pub title: String,
    /// The ways to authenticate; empty if no user needs to.
    pub authenticate: Vec<AuthMethod>,
    /// Its optional capabilities.
    pub skills: AgentCapabilities,
}

/// The name and version of an agent or a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implementation {
    /// Its programmatic name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A way to authenticate that the agent handles itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthMethod {
    /// Its id in requests.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// What an agent can do beyond text prompts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentCapabilities {
    /// It handles `close`.
    pub closes_sessions: bool,
    /// It stores sessions: they can be listed, opened again, replayed and deleted.
    pub stores_sessions: bool,
    /// A session may work in several directories.
    pub several_roots: bool,
    /// Prompts may contain images.
    pub images: bool,
    /// Prompts may contain embedded resources.
    pub resources: bool,
    /// It connects to MCP servers over HTTP.
    pub mcp_over_http: bool,
}

/// A client's request to open a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSessionRequest {
    /// The session: a new one or a stored one.
    pub which: SessionSelector,
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// Further directories of the workspace, absolute.
    pub additional_roots: Vec<PathBuf>,
    /// The MCP servers to connect to.
    pub servers: Vec<McpServerConfig>,
}

/// The session that a client wants to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionSelector {
    /// A new session.
    New,
    /// A stored session.
    Stored {
        /// Its id.
        id: SessionId,
        /// How much of it is replayed.
        replay: Replay,
    },
}

/// How much of a stored session is sent to the client when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// All messages and calls.
    Full,
    /// Nothing, because the client has it already.
    None,
}

/// An MCP server that a client wants a session to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServerConfig {
    /// A program that is started and used over its standard input and output.
    Program {
        /// The server's name.
        name: String,
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Its additional environment variables.
        env: Vec<(String, String)>,
    },
    /// A server over streamable HTTP.
    Http {
        /// The server's name.
        name: String,
        /// Its address.
        url: String,
        /// The headers of every request.
        headers: Vec<(String, String)>,
    },
    /// A server with a transport that is not supported.
    Other {
        /// The name of the transport.
        kind: String,
    },
}

/// An open session, with what its client should know of it.
pub struct OpenedSession {
    /// The session.
    pub session: Arc<Session>,
    /// The options that the user may set.
    pub choices: Vec<ConfigOption>,
    /// The slash commands that it understands.
    pub commands: Vec<SlashCommand>,
}

/// Where a session's commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandPlacement {
    /// In the client's terminal if it has one, and the command is simple or the user approved its
    /// text; otherwise in the agent.
    #[default]
    InClient,
    /// In the agent, because the client's terminal is outside the sandbox.
    InAgent,
}

/// An option of a session that the user may set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    /// Its id in requests.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// What it controls.
    pub description: String,
    /// Its category.
    pub sort: ConfigOptionCategory,
    /// The id of its current value.
    pub current: String,
    /// Its possible values.
    pub values: Vec<ConfigOptionValue>,
}

/// The category of an option, so that a client can show it in the right place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigOptionCategory {
    /// How much the agent does without asking.
    Mode,
    /// The model that answers.
    Model,
}

/// A possible value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOptionValue {
    /// Its id in requests.
    pub id: String,
    /// Its display name.
    pub name: String,
    /// What it means.
    pub description: String,
}

/// A slash command that the user may type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// A hint at its argument, if it takes one.
    pub hint: Option<String>,
}

/// A request for one page of the stored sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListSessionsRequest {
    /// Only sessions in this working directory.
    pub cwd: Option<PathBuf>,
    /// The cursor of the page, from [`SessionPage::next`]; `None` for the first page.
    pub after: Option<String>,
}

/// One page of the stored sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionInfo>,
    /// The cursor of the next page, if there is one.
    pub next: Option<String>,
}

/// A stored session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// Its working directory.
    pub cwd: PathBuf,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// When it was last used, in ISO 8601.
    pub updated: String,
}

/// Why a turn ended.
///
/// ```
/// assert_eq!(toolcall_acp::StopReason::EndTurn.as_str(), "end_turn");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished its answer.
    EndTurn,
    /// The model reached its token limit.
    MaxTokens,
    /// The model reached the limit of requests in one turn.
    MaxTurnRequests,
    /// The model refused to continue.
    Refusal,
    /// The user cancelled the turn. A session answers so by itself, whatever its service returns.
    Cancelled,
}

impl StopReason {
    /// Returns the name that is stored in histories.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::MaxTurnRequests => "max_turn_requests",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a service could not handle a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceError {
    /// The parameters are invalid. The text says why, and what would be valid.
    InvalidParams(String),
    /// There is no session with this id.
    SessionNotFound(String),
    /// This agent does not support the request.
    Unsupported,
    /// The agent failed. The text says how.
    Failed(String),
}
