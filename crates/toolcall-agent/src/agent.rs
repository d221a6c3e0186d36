//! The agent as its clients use it: it opens sessions, answers prompts, lists and deletes sessions.
//! It connects the parts; each of them does its own work.

mod answering;
mod opening;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::sync::{Mutex, MutexGuard};
use toolcall::{AnyTool, BoxFuture, Content, Engine, EngineBuilder, Limits, SessionId};
use toolcall_acp::service::{
    AgentCapabilities, AgentInfo, AuthMethod, ConfigOption, Implementation, ListSessionsRequest,
    OpenSessionRequest, OpenedSession, Service, ServiceError, SessionPage,
};
use toolcall_acp::{ClientConnection, Prompt, Session, StopReason};
use toolcall_history::{History, HistoryConfig, HistoryError};
use toolcall_policy::{Layer, UserDirs};
use toolcall_tools::command::{Sandbox, Supervisor};
use toolcall_tools::web::SearchSettings;

use crate::model::Models;
use crate::session::{AgentSession, AgentSessions};
use crate::session_history::{SessionHistory, unkept};

/// The agent name under which the history records its sessions.
const NAME: &str = "toolcall agent";

/// How many sessions can be reopened, closed or deleted at the same time.
const LOCKS: usize = 16;

/// The configuration of an agent.
pub struct AgentConfig {
    /// The user's configuration and state directories.
    pub places: UserDirs,
    /// The home directory that `~` stands for.
    pub home: Option<PathBuf>,
    /// The supervisor of commands.
    pub supervisor: Option<Supervisor>,
    /// The sandbox for commands.
    pub sandbox: Option<Sandbox>,
    /// The web search provider.
    pub search: Option<SearchSettings>,
    /// Rules in addition to the user's and the project's.
    pub layers: Vec<Layer>,
    /// The limits of each session's engine.
    pub limits: Limits,
    /// The history file and its configuration; `None` records nothing.
    pub history: Option<(PathBuf, HistoryConfig)>,
    /// The models to choose from; the first one answers.
    pub models: Models,
    /// Tools of every session in addition to the built-in ones.
    pub guests: Vec<Arc<dyn AnyTool>>,
    /// Observes every call and turn, besides the client.
    pub observer: Option<Arc<dyn Observer>>,
    /// The agent's version.
    pub version: String,
}

/// Observes every call and turn of an agent, such as telemetry does.
pub trait Observer: Send + Sync + 'static {
    /// Attaches the observer to an engine.
    fn attach(&self, engine: EngineBuilder) -> EngineBuilder;

    /// Begins to observe a turn of this engine. The turn ends when the returned guard is dropped.
    fn turn(&self, engine: &Engine) -> Box<dyn Send>;
}

/// The agent, a [`Service`] for one client.
pub struct Agent {
    client: ClientConnection,
    settings: AgentConfig,
    sessions: Arc<AgentSessions>,
    /// Locks by session id: one task at a time reopens, closes or deletes a recorded session.
    locks: [Mutex<()>; LOCKS],
    /// Opened with the first session, so that `initialize` does not wait for it.
    history: OnceLock<Result<SessionHistory, HistoryError>>,
}

impl Agent {
    /// Returns an agent for this client.
    pub fn new(client: ClientConnection, settings: AgentConfig) -> Arc<Self> {
        Arc::new(Self {
            client,
            settings,
            sessions: Arc::default(),
            locks: Default::default(),
            history: OnceLock::new(),
        })
    }

    /// Ends every session and waits until its servers and background commands have ended.
    pub async fn close(&self) {
        let closing = self.sessions.take_all().into_iter();
        futures::future::join_all(
            closing.map(|session| async move { session.resources.close().await }),
        )
        .await;
        if let Some(Ok(history)) = self.history.get() {
            history.finish().await;
        }
    }

    fn history(&self) -> Result<SessionHistory, ServiceError> {
        let history = self.history.get_or_init(|| self.open_history());
        history.clone().map_err(|error| {
            ServiceError::Failed(format!(
                "the history cannot be used: {error}; `toolcall agent --no-history` works without one"
            ))
        })
    }

    fn open_history(&self) -> Result<SessionHistory, HistoryError> {
        let Some((path, settings)) = &self.settings.history else {
            return Ok(SessionHistory::default());
        };
        let sessions = Arc::downgrade(&self.sessions);
        let tell = move |error: Option<&HistoryError>| {
            if let Some(sessions) = sessions.upgrade() {
                sessions.note(&notice(error));
            }
        };
        let settings = HistoryConfig {
            tell: Some(Arc::new(tell)),
            ..settings.clone()
        };
        History::open(path.clone(), settings).map(|history| SessionHistory::of(Arc::new(history)))
    }

    /// Waits until no other task opens, closes or deletes the session of this id.
    async fn lock_session(&self, id: &SessionId) -> MutexGuard<'_, ()> {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let lock = hasher.finish() as usize % LOCKS;
        self.locks[lock].lock().await
    }

    fn session(&self, session: &Session) -> Result<Arc<AgentSession>, ServiceError> {
        let open = self.sessions.get(session.id());
        open.ok_or_else(|| ServiceError::SessionNotFound(session.id().as_str().to_owned()))
    }
}

impl Service for Agent {
    fn about(&self) -> AgentInfo {
        AgentInfo {
            party: Implementation {
                name: "toolcall".to_owned(),
                version: self.settings.version.clone(),
            },
            title: "toolcall".to_owned(),
            authenticate: vec![AuthMethod {
                id: "none".to_owned(),
                name: "No sign-in".to_owned(),
                description: "toolcall itself needs no account; models bring their own keys"
                    .to_owned(),
            }],
            skills: AgentCapabilities {
                closes_sessions: true,
                stores_sessions: self.settings.history.is_some(),
                several_roots: true,
                images: true,
                resources: true,
                mcp_over_http: true,
            },
        }
    }

    fn open(
        self: Arc<Self>,
        request: OpenSessionRequest,
    ) -> BoxFuture<'static, Result<OpenedSession, ServiceError>> {
        Box::pin(async move { self.open_session(request).await })
    }

    fn answer(
        self: Arc<Self>,
        prompt: Arc<Prompt>,
        said: Vec<Content>,
    ) -> BoxFuture<'static, Result<StopReason, ServiceError>> {
        Box::pin(async move { self.answer_prompt(&prompt, said).await })
    }

    fn list(
        self: Arc<Self>,
        page: ListSessionsRequest,
    ) -> BoxFuture<'static, Result<SessionPage, ServiceError>> {
        // The history records the directory of a session with every symlink resolved.
        let cwd = page.cwd.map(|cwd| cwd.canonicalize().unwrap_or(cwd));
        let page = ListSessionsRequest { cwd, ..page };
        Box::pin(async move { self.history()?.list(NAME, page).await })
    }

    fn close(
        self: Arc<Self>,
        session: Arc<Session>,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async move {
            let _guard = self.lock_session(session.id()).await;
            if let Some(session) = self.sessions.remove_this(&session) {
                session.resources.close().await;
            }
            Ok(())
        })
    }

    fn delete(self: Arc<Self>, session: SessionId) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async move {
            let _guard = self.lock_session(&session).await;
            self.history()?.forget(NAME, session).await
        })
    }

    fn choose(
        self: Arc<Self>,
        session: Arc<Session>,
        option: String,
        value: String,
    ) -> BoxFuture<'static, Result<Vec<ConfigOption>, ServiceError>> {
        Box::pin(async move { self.session(&session)?.choose(&option, &value) })
    }

    fn authenticate(self: Arc<Self>, way: String) -> BoxFuture<'static, Result<(), ServiceError>> {
        let known = self
            .about()
            .authenticate
            .into_iter()
            .any(|known| known.id == way);
        Box::pin(async move {
            if known {
                Ok(())
            } else {
                Err(ServiceError::InvalidParams(format!(
                    "there is no way to sign in `{way}`"
                )))
            }
        })
    }
}

fn notice(error: Option<&HistoryError>) -> String {
    match error {
        Some(error) => unkept(error),
        None => "what happens is kept in the history again".to_owned(),
    }
}
