//! One session that is open: what it works with, who answers, what was said.
//! It holds state and tells what holds; turns are carried elsewhere.

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

/// The options that a person may set.
pub(crate) const MODE: &str = "mode";
pub(crate) const MODEL: &str = "model";

/// How long the first prompt waits for servers that were not there yet.
const PATIENCE: Duration = Duration::from_secs(5);

/// One session that is open.
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
    /// Servers of which it was said that they cannot be used.
    told_servers: Vec<Arc<str>>,
    /// Whether servers were waited for.
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

    /// Who answers.
    pub(crate) fn model(&self) -> Arc<dyn Model> {
        self.state().model.clone()
    }

    /// What was said so far, and which tools there are now.
    pub(crate) fn conversation(&self) -> Arc<Conversation> {
        Arc::new(Conversation {
            messages: self.state().said.clone(),
            tools: self.resources.tools().snapshot(),
        })
    }

    /// Something was said.
    pub(crate) fn add(&self, message: Message) {
        self.state().said.push(message);
    }

    /// The person says something to the model. The first words are what the session is about.
    pub(crate) async fn add_user_message(&self, said: Vec<Content>) {
        let about = title(&as_text(&said));
        let is_first = self.state().said.is_empty();
        self.add(Message::Person(said));
        if is_first {
            self.client_session.send_title(about).await;
        }
    }

    /// A turn begins with what the person says.
    pub(crate) fn begin_turn(&self, said: &[Content]) {
        self.keep(SessionEvent::TurnBegan);
        self.keep(SessionEvent::Said {
            by: Speaker::Person,
            text: as_text(said).into(),
        });
    }

    /// Keeps what happened in the history.
    pub(crate) fn keep(&self, event: SessionEvent) {
        self.history.tell(self.id(), event);
    }

    /// Says something of the agent's own, and keeps that.
    pub(crate) async fn say(&self, text: String) {
        self.keep(SessionEvent::Said {
            by: Speaker::Agent,
            text: text.as_str().into(),
        });
        let _gone = self.client_session.say(text).await;
    }

    /// Waits for servers that were not there yet, once: those that hang are not waited for, and what
    /// they offer comes when it comes.
    pub(crate) async fn await_servers(&self) {
        let has_waited = std::mem::replace(&mut self.state().has_waited, true);
        if !has_waited {
            let _slow = timeout(PATIENCE, self.resources.servers().settled()).await;
        }
    }

    /// Something that the person should know when they listen next.
    pub(crate) fn note(&self, notice: impl Into<String>) {
        self.client_session.note(notice);
    }

    /// Says what the person should know.
    pub(crate) async fn say_notices(&self) {
        self.note_servers();
        for notice in self.client_session.take_notices() {
            self.say(format!("**Note:** {}\n\n", line(&notice))).await;
        }
    }

    /// Servers that cannot be used are told of once.
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

    /// What the person may choose, as it holds now.
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

    /// The person chooses.
    pub(crate) fn choose(
        &self,
        option: &str,
        value: &str,
    ) -> Result<Vec<ConfigOption>, ServiceError> {
        match option {
            MODE => self.choose_mode(value)?,
            MODEL => self.choose_model(value)?,
            other => {
                return Err(ServiceError::Wrong(format!(
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
    ServiceError::Wrong(format!(
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

/// A prompt as the history keeps it: what is not text is named.
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

/// The sessions that are open.
#[derive(Default)]
pub(crate) struct AgentSessions(Mutex<HashMap<SessionId, Arc<AgentSession>>>);

impl AgentSessions {
    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Arc<AgentSession>>> {
        self.0.lock()
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<Arc<AgentSession>> {
        self.open().get(id).cloned()
    }

    /// Adds one. No other of its id is open: that was put away before.
    pub(crate) fn add(&self, session: Arc<AgentSession>) {
        self.open().insert(session.id().clone(), session);
    }

    pub(crate) fn remove(&self, id: &SessionId) -> Option<Arc<AgentSession>> {
        self.open().remove(id)
    }

    /// Takes the session of this very session out; another one of its id stays.
    pub(crate) fn remove_this(&self, session: &Arc<Session>) -> Option<Arc<AgentSession>> {
        let mut open = self.open();
        let is_this = |open: &Arc<AgentSession>| Arc::ptr_eq(&open.client_session, session);
        match open.get(session.id()).is_some_and(is_this) {
            true => open.remove(session.id()),
            false => None,
        }
    }

    pub(crate) fn take_all(&self) -> Vec<Arc<AgentSession>> {
        self.open().drain().map(|(_, session)| session).collect()
    }

    /// Tells it to everybody when they listen next.
    pub(crate) fn note(&self, notice: &str) {
        for session in self.open().values() {
            session.note(notice);
        }
    }
}
