//! What an agent does for its clients beside carrying calls, in the terms of no protocol version.
//! It names what is asked and answered; how that looks on the wire is the codec's business.

use std::path::PathBuf;
use std::sync::Arc;

use toolcall::{BoxFuture, Content, SessionId};

use crate::session::{Prompt, Session};

/// An agent, as its clients use it. Whatever it does not do itself is refused.
pub trait Service: Send + Sync + 'static {
    /// What it is and can do.
    fn about(&self) -> AgentInfo;

    /// Opens a session. What is told of it before this returns arrives before the answer does.
    fn open(
        self: Arc<Self>,
        wish: OpenSessionRequest,
    ) -> BoxFuture<'static, Result<OpenedSession, ServiceError>>;

    /// Answers a prompt.
    fn answer(
        self: Arc<Self>,
        prompt: Arc<Prompt>,
        said: Vec<Content>,
    ) -> BoxFuture<'static, Result<StopReason, ServiceError>>;

    /// A part of the list of sessions that are kept, the latest first.
    fn list(
        self: Arc<Self>,
        _page: ListSessionsRequest,
    ) -> BoxFuture<'static, Result<SessionPage, ServiceError>> {
        Box::pin(async { Err(ServiceError::Unsupported) })
    }

    /// A session is closed; its prompts are cancelled already. It can be opened again.
    fn close(
        self: Arc<Self>,
        _session: Arc<Session>,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async { Ok(()) })
    }

    /// Forgets a session. It was closed before.
    fn delete(
        self: Arc<Self>,
        _session: SessionId,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async { Err(ServiceError::Unsupported) })
    }

    /// The person chooses a value of an option. What holds then is the answer.
    fn choose(
        self: Arc<Self>,
        _session: Arc<Session>,
        _option: String,
        _value: String,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, ServiceError>> {
        Box::pin(async { Err(ServiceError::Unsupported) })
    }

    /// Signs in by one of the ways it named.
    fn authenticate(self: Arc<Self>, way: String) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async move {
            Err(ServiceError::Wrong(format!(
                "there is no way to sign in `{way}`"
            )))
        })
    }
}

/// What an agent is and can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its name and version; nothing is said of one without a name.
    pub party: Implementation,
    /// Its name for people.
    pub title: String,
    /// How people sign in, if they do.
    pub authenticate: Vec<AuthMethod>,
    /// What else it can do.
    pub skills: AgentCapabilities,
}

/// One end of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Implementation {
    /// Its name, for programs.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A way to sign in that the agent handles itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthMethod {
    /// What it is called in a request.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// What an agent can do beside answering prompts of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentCapabilities {
    /// It closes sessions when asked to.
    pub closes_sessions: bool,
    /// It keeps sessions: they can be listed, opened again, replayed and deleted.
    pub keeps_sessions: bool,
    /// Sessions may work in several folders.
    pub several_roots: bool,
    /// Prompts may have images in them.
    pub images: bool,
    /// Prompts may have resources in them, with their bodies.
    pub resources: bool,
    /// It uses MCP servers over HTTP.
    pub mcp_over_http: bool,
}

/// A session that a client wants to have open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenSessionRequest {
    /// SessionSelector.
    pub which: SessionSelector,
    /// The folder it works in, absolute.
    pub cwd: PathBuf,
    /// Further folders that it works in, absolute.
    pub additional_roots: Vec<PathBuf>,
    /// The servers that the client wants it to have.
    pub servers: Vec<McpServerConfig>,
}

/// SessionSelector session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionSelector {
    /// A new one.
    New,
    /// One that is kept.
    Kept {
        /// Its id.
        id: SessionId,
        /// What of it is told again.
        replay: Replay,
    },
}

/// What of a kept session is told again when it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// All that was said and done.
    Whole,
    /// Nothing: the client has it.
    Nothing,
}

/// An MCP server that a client wants a session to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServerConfig {
    /// A program that is started.
    Program {
        /// The server's name.
        name: String,
        /// The program.
        command: PathBuf,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that are set for it.
        env: Vec<(String, String)>,
    },
    /// One that is spoken to by streamable HTTP.
    Http {
        /// The server's name.
        name: String,
        /// Its address.
        url: String,
        /// What goes along with every request.
        headers: Vec<(String, String)>,
    },
    /// One that cannot be reached in any way that is known.
    Other {
        /// How it would be reached, in a word.
        kind: String,
    },
}

/// A session that is open now.
pub struct OpenedSession {
    /// The session.
    pub session: Arc<Session>,
    /// What the person may choose in it.
    pub choices: Vec<ConfigOption>,
    /// What begins with `/` and is understood in it.
    pub commands: Vec<SlashCommand>,
}

/// Where a session's commands run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandPlacement {
    /// In the client's terminal if it has one and the command is simple or a user approved its
    /// text; else here.
    #[default]
    InClient,
    /// Here: a sandbox is on, which the client's terminal would be outside of.
    Here,
}

/// Something that the person may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOption {
    /// What it is called in a request.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it is about.
    pub description: String,
    /// SessionSelector sort of choice it is.
    pub sort: ConfigOptionCategory,
    /// The id of what holds now.
    pub current: String,
    /// What there is to choose from.
    pub values: Vec<ConfigOptionValue>,
}

/// SessionSelector sort of choice something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigOptionCategory {
    /// How much is done without asking.
    Mode,
    /// Who answers.
    Model,
}

/// One of the things to choose from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigOptionValue {
    /// What it is called in a request.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// What it means.
    pub description: String,
}

/// A command that the person may type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What may follow it, if anything.
    pub hint: Option<String>,
}

/// A part of a list of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListSessionsRequest {
    /// Only sessions of this folder.
    pub cwd: Option<PathBuf>,
    /// Where the part before ended, as it was told.
    pub after: Option<String>,
}

/// Sessions that are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionPage {
    /// The sessions.
    pub sessions: Vec<SessionInfo>,
    /// Where the next part begins, if there is one.
    pub next: Option<String>,
}

/// A session that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// The folder it works in.
    pub cwd: PathBuf,
    /// What it is about, if that is known.
    pub title: Option<String>,
    /// When it was last heard of, as ISO 8601 writes it.
    pub updated: String,
}

/// Why a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Everything is said.
    EndTurn,
    /// The model may not say more.
    MaxTokens,
    /// The model asked for more rounds of calls than there may be.
    MaxTurnRequests,
    /// The model does not want to go on.
    Refusal,
    /// The user cancelled it. A session answers so by itself, whatever its service returns.
    Cancelled,
}

impl StopReason {
    /// Returns the name under which histories keep it.
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

/// Why something is not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceError {
    /// What was asked for makes no sense; the reason says why and what would.
    Wrong(String),
    /// There is no such session.
    NoSession(String),
    /// This agent does not do that.
    Unsupported,
    /// It went wrong here.
    Failed(String),
}
