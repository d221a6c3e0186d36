//! The agent, as clients use it: it opens sessions, answers prompts, lists and forgets.
//! It brings the parts together; each of them does its own work.

mod answering;
mod opening;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tokio::sync::{Mutex as Door, MutexGuard as Inside};
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

/// The name under which its sessions are kept.
const NAME: &str = "toolcall agent";

/// So many sessions can be opened again, closed or deleted side by side.
const DOORS: usize = 16;

/// What an agent is made from.
pub struct AgentConfig {
    /// Where the person's settings are, and where things are kept.
    pub places: UserDirs,
    /// What `~` stands for, if anything.
    pub home: Option<PathBuf>,
    /// What supervises commands.
    pub supervisor: Option<Supervisor>,
    /// The sandbox that commands run in, if they run in one.
    pub sandbox: Option<Sandbox>,
    /// Where the web is searched, if it is.
    pub search: Option<SearchSettings>,
    /// Rules besides those of the person and the project.
    pub layers: Vec<Layer>,
    /// What each session's engine holds at most.
    pub limits: Limits,
    /// Where and how sessions are kept, if they are.
    pub history: Option<(PathBuf, HistoryConfig)>,
    /// Who may answer; the first does.
    pub models: Models,
    /// Tools of every session besides the built-in ones.
    pub guests: Vec<Arc<dyn AnyTool>>,
    /// Who is told of every call and turn, besides the client.
    pub observer: Option<Arc<dyn Observer>>,
    /// The agent's version.
    pub version: String,
}

/// Somebody who is told of every call and turn.
pub trait Observer: Send + Sync + 'static {
    /// An engine that tells of its calls.
    fn attach(&self, engine: EngineBuilder) -> EngineBuilder;

    /// A turn of this engine begins; it ends when what is returned is dropped.
    fn turn(&self, engine: &Engine) -> Box<dyn Send>;
}

/// The agent.
pub struct Agent {
    client: ClientConnection,
    settings: AgentConfig,
    sessions: Arc<AgentSessions>,
    /// What opens, closes and deletes a kept session goes through the door of its id, one at a time.
    doors: [Door<()>; DOORS],
    /// OpenedSession with the first session: a client that only greets waits for nothing.
    history: OnceLock<Result<SessionHistory, HistoryError>>,
}

impl Agent {
    /// For this client.
    pub fn new(client: ClientConnection, settings: AgentConfig) -> Arc<Self> {
        Arc::new(Self {
            client,
            settings,
            sessions: Arc::default(),
            doors: Default::default(),
            history: OnceLock::new(),
        })
    }

    /// Ends every session, and waits until nothing of them is left.
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

    /// Waits until nobody else opens, closes or deletes a session of this id.
    async fn enter(&self, id: &SessionId) -> Inside<'_, ()> {
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let door = hasher.finish() as usize % DOORS;
        self.doors[door].lock().await
    }

    fn session(&self, session: &Session) -> Result<Arc<AgentSession>, ServiceError> {
        let open = self.sessions.get(session.id());
        open.ok_or_else(|| ServiceError::NoSession(session.id().as_str().to_owned()))
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
                keeps_sessions: self.settings.history.is_some(),
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
        // Sessions are kept with every link in their folder's path followed.
        let cwd = page.cwd.map(|cwd| cwd.canonicalize().unwrap_or(cwd));
        let page = ListSessionsRequest { cwd, ..page };
        Box::pin(async move { self.history()?.list(NAME, page).await })
    }

    fn close(
        self: Arc<Self>,
        session: Arc<Session>,
    ) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async move {
            let _inside = self.enter(session.id()).await;
            if let Some(session) = self.sessions.remove_this(&session) {
                session.resources.close().await;
            }
            Ok(())
        })
    }

    fn delete(self: Arc<Self>, session: SessionId) -> BoxFuture<'static, Result<(), ServiceError>> {
        Box::pin(async move {
            let _inside = self.enter(&session).await;
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
            match known {
                true => Ok(()),
                false => Err(ServiceError::Wrong(format!(
                    "there is no way to sign in `{way}`"
                ))),
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
