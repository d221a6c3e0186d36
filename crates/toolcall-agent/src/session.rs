//! The agent's side of an open session: its resources, its model, its conversation.
//! It holds state; the turn loop is in `turn.rs`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::time::timeout;
use toolcall::{Content, SessionId};
use toolcall_acp::Session;
use toolcall_acp::service::{ConfigOption, ConfigOptionCategory, ConfigOptionValue, ServiceError};
use toolcall_history::{SessionEvent, Speaker};
use toolcall_policy::Mode;
use toolcall_tools::mcp::ServerState;

use crate::markdown::line;
use crate::model::{Conversation, Message, Model, Models};
use crate::session_history::{SessionHistory, title};
use crate::session_resources::SessionResources;

/// The ids of the options that the user may set.
pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";

/// How long the first prompt waits for servers that are still starting.
const PATIENCE: Duration = Duration::from_secs(5);

/// The agent's side of an open session.
pub(crate) struct AgentSession {
    pub(crate) resources: SessionResources,
    pub(crate) client_session: Arc<Session>,
    pub(crate) history: SessionHistory,
    models: Models,
    state: Mutex<State>,
}

struct State {
    model: Arc<dyn Model>,
    said: Vec<Message>,
    /// The servers that were reported as failed.
    told_servers: Vec<Arc<str>>,
    /// Whether a prompt has waited for the servers.
    has_waited: bool,
}

impl AgentSession {
    pub(crate) fn new(
        resources: SessionResources,
        client_session: Arc<Session>,
        history: SessionHistory,
        models: Models,
        said: Vec<Message>,
    ) -> Self {
        Self {
            resources,
            client_session,
            history,
            state: Mutex::new(State {
                model: models.first().clone(),
                said,
                told_servers: Vec::new(),
                has_waited: false,
            }),
            models,
        }
    }

    pub(crate) fn id(&self) -> &SessionId {
        self.client_session.id()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Returns the model that answers.
    pub(crate) fn model(&self) -> Arc<dyn Model> {
        self.state().model.clone()
    }

    /// Returns the conversation so far and the current tools.
    pub(crate) fn conversation(&self) -> Arc<Conversation> {
        Arc::new(Conversation {
            messages: self.state().said.clone(),
            tools: self.resources.tools().snapshot(),
        })
    }

    /// Adds a message to the conversation.
    pub(crate) fn add(&self, message: Message) {
        self.state().said.push(message);
    }

    /// Adds the user's message. The first one gives the session its title.
    pub(crate) async fn add_user_message(&self, said: Vec<Content>) {
        let about = title(&as_text(&said));
        let is_first = self.state().said.is_empty();
        self.add(Message::Person(said));
        if is_first {
            self.client_session.send_title(about).await;
        }
    }

    /// Records the beginning of a turn and the user's message.
    pub(crate) fn begin_turn(&self, said: &[Content]) {
        self.keep(SessionEvent::TurnBegan);
        self.keep(SessionEvent::Said {
            by: Speaker::Person,
            text: as_text(said).into(),
        });
    }

    /// Records an event in the history.
    pub(crate) fn keep(&self, event: SessionEvent) {
        self.history.record(self.id(), event);
    }

    /// Sends a message of the agent and records it.
    pub(crate) async fn say(&self, text: String) {
        self.keep(SessionEvent::Said {
            by: Speaker::Agent,
            text: text.as_str().into(),
        });
        let _gone = self.client_session.say(text).await;
    }

    /// Waits once, for a limited time, for servers that are still starting. The tools of slower
    /// servers are added when they arrive.
    pub(crate) async fn await_servers(&self) {
        let has_waited = std::mem::replace(&mut self.state().has_waited, true);
        if !has_waited {
            let _slow = timeout(PATIENCE, self.resources.servers().settled()).await;
        }
    }

    /// Keeps a notice for the user until the next turn.
    pub(crate) fn note(&self, notice: impl Into<String>) {
        self.client_session.note(notice);
    }

    /// Sends the notices that were kept for the user.
    pub(crate) async fn say_notices(&self) {
        self.note_servers();
        for notice in self.client_session.take_notices() {
            self.say(format!("**Note:** {}\n\n", line(&notice))).await;
        }
    }

    /// Keeps one notice for each server that failed.
    fn note_servers(&self) {
        for status in self.resources.servers().status() {
            let is_told = self.state().told_servers.contains(&status.name);
            if let (ServerState::Failed { reason }, false) = (&status.state, is_told) {
                self.note(format!(
                    "the server `{}` cannot be used: {reason}",
                    status.name
                ));
                self.state().told_servers.push(status.name);
            }
        }
    }

    /// Returns the options with their current values.
    pub(crate) fn choices(&self) -> Vec<ConfigOption> {
        vec![self.modes(), self.models()]
    }

    fn modes(&self) -> ConfigOption {
        ConfigOption {
            id: MODE.to_owned(),
            name: "Permission mode".to_owned(),
            description: "How much is done without asking".to_owned(),
            sort: ConfigOptionCategory::Mode,
            current: self.resources.policy().rules().mode().as_str().to_owned(),
            values: Mode::ALL.into_iter().rev().map(mode_value).collect(),
        }
    }

    fn models(&self) -> ConfigOption {
        let values = self.models.iter().map(|model| ConfigOptionValue {
            id: model.name().to_owned(),
            name: model.name().to_owned(),
            description: model.description().to_owned(),
        });
        ConfigOption {
            id: MODEL.to_owned(),
            name: "Model".to_owned(),
            description: "Who answers".to_owned(),
            sort: ConfigOptionCategory::Model,
            current: self.model().name().to_owned(),
            values: values.collect(),
        }
    }

    /// Sets an option to a value.
    pub(crate) fn choose(
        &self,
        option: &str,
        value: &str,
    ) -> Result<Vec<ConfigOption>, ServiceError> {
        match option {
            MODE => self.choose_mode(value)?,
            MODEL => self.choose_model(value)?,
            other => {
                return Err(ServiceError::InvalidParams(format!(
                    "there is no option `{other}`; there are `{MODE}` and `{MODEL}`"
                )));
            }
        }
        Ok(self.choices())
    }

    fn choose_mode(&self, name: &str) -> Result<(), ServiceError> {
        let mode =
            Mode::named(name).ok_or_else(|| unknown("mode", name, Mode::ALL.map(Mode::as_str)))?;
        self.resources.policy().set_mode(mode);
        if let Some(warning) = mode.warning() {
            self.note(warning);
        }
        Ok(())
    }

    pub(crate) fn choose_model(&self, name: &str) -> Result<(), ServiceError> {
        let known = self.models.iter().map(|model| model.name());
        let model = self.models.iter().find(|model| model.name() == name);
        let model = model.ok_or_else(|| unknown("model", name, known))?;
        self.state().model = model.clone();
        Ok(())
    }
}

fn unknown<'a>(what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> ServiceError {
    let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    ServiceError::InvalidParams(format!(
        "there is no {what} `{name}`; there are {}",
        known.join(", ")
    ))
}

fn mode_value(mode: Mode) -> ConfigOptionValue {
    ConfigOptionValue {
        id: mode.as_str().to_owned(),
        name: mode.as_str().to_owned(),
        description: mode.description().to_owned(),
    }
}

/// Returns a prompt as the history records it: content that is not text is only named.
fn as_text(said: &[Content]) -> String {
    let parts = said.iter().map(|content| match content {
        Content::Text(text) => text.to_string(),
        Content::Image(blob) => format!("[an image, {}]", blob.mime),
        Content::Audio(blob) => format!("[a sound, {}]", blob.mime),
        Content::Resource(resource) => format!("[{}]", resource.uri),
        Content::Link(link) => format!("[{}]", link.uri),
        Content::Edit(edit) => format!("[a change of {}]", edit.path.display()),
        Content::Terminal(_) => "[a terminal]".to_owned(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// The open sessions by id.
#[derive(Default)]
pub(crate) struct AgentSessions(Mutex<HashMap<SessionId, Arc<AgentSession>>>);

impl AgentSessions {
    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<AgentSession>>> {
        self.0.lock()
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<Arc<AgentSession>> {
        self.open().get(id).cloned()
    }

    /// Adds a session. No other session of this id is open: it was closed before.
    pub(crate) fn add(&self, session: Arc<AgentSession>) {
        self.open().insert(session.id().clone(), session);
    }

    pub(crate) fn remove(&self, id: &SessionId) -> Option<Arc<AgentSession>> {
        self.open().remove(id)
    }

    /// Removes this very session; another one with the same id stays.
    pub(crate) fn remove_this(&self, session: &Arc<Session>) -> Option<Arc<AgentSession>> {
        let mut open = self.open();
        let is_this = |open: &Arc<AgentSession>| Arc::ptr_eq(&open.client_session, session);
        if open.get(session.id()).is_some_and(is_this) {
            open.remove(session.id())
        } else {
            None
        }
    }

    pub(crate) fn take_all(&self) -> Vec<Arc<AgentSession>> {
        self.open().drain().map(|(_, session)| session).collect()
    }

    /// Keeps a notice for the users of all sessions.
    pub(crate) fn note(&self, notice: &str) {
        for session in self.open().values() {
            session.note(notice);
        }
    }
}
