//! Opens sessions, new or recorded: resources, engine, replay.
//! A request that cannot be fulfilled is refused before anything is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcall::{CallIds, EngineBuilder, SessionId};
use toolcall_acp::Session;
use toolcall_acp::service::{
    CommandPlacement, OpenSessionRequest, OpenedSession, Replay, ServiceError, SessionSelector,
};
use toolcall_history::{SessionEvent, SessionFacts, Speaker};
use toolcall_tools::mcp::ServerSettings;

use super::{Agent, NAME};
use crate::client_servers::servers;
use crate::commands;
use crate::conversation::rebuilt;
use crate::servers::ConfiguredServers;
use crate::session::AgentSession;
use crate::session_history::{Recalled, Scene, SessionHistory};
use crate::session_resources::{SessionResources, SessionResourcesOptions, new_session};
use crate::switch_mode::SwitchMode;

impl Agent {
    pub(super) async fn open_session(
        &self,
        request: OpenSessionRequest,
    ) -> Result<OpenedSession, ServiceError> {
        let roots = roots(&request)?;
        let history = self.history()?;
        let session = match &request.which {
            SessionSelector::New => {
                self.start_session(new_session(), roots, &request, history, &[])?
            }
            SessionSelector::Stored { id, replay } => {
                let _guard = self.lock_session(id).await;
                self.reopen_session(id, *replay, roots, &request, history)
                    .await?
            }
        };
        Ok(OpenedSession {
            session: session.client_session.clone(),
            choices: session.choices(),
            commands: commands::known(),
        })
    }

    async fn reopen_session(
        &self,
        id: &SessionId,
        replay: Replay,
        roots: Vec<PathBuf>,
        request: &OpenSessionRequest,
        history: SessionHistory,
    ) -> Result<Arc<AgentSession>, ServiceError> {
        let mut recalled = recall(&history, id, &roots[0]).await?;
        if let Closing::WasOpen = self.close_if_open(id).await {
            recalled = recall(&history, id, &roots[0]).await?;
        }
        let session = self.start_session(id.clone(), roots, request, history, &recalled.scenes)?;
        if replay == Replay::Full {
            let session = &session.client_session;
            session
                .run_between_prompts(tell_again(session, &recalled.scenes))
                .await;
        }
        Ok(session)
    }

    /// Closes a session that is about to be reopened, so that its last events are in the history.
    async fn close_if_open(&self, id: &SessionId) -> Closing {
        let Some(open) = self.sessions.remove(id) else {
            return Closing::WasNot;
        };
        self.client.close(id.as_str());
        open.client_session.end().await;
        open.resources.close().await;
        Closing::WasOpen
    }

    /// Creates a session and starts its servers.
    fn start_session(
        &self,
        id: SessionId,
        roots: Vec<PathBuf>,
        request: &OpenSessionRequest,
        history: SessionHistory,
        before: &[Scene],
    ) -> Result<Arc<AgentSession>, ServiceError> {
        let set_up = ConfiguredServers::read(&self.settings.places, &roots[0]);
        let (servers, complaints) = servers(&request.servers, set_up.usable());
        let resources = self.resources(id.clone(), roots, servers)?;
        let engine = self.engine(&resources, &history, &request.which);
        let session = self.client.open_with(engine, self.commands());
        let said = rebuilt(before);
        let models = self.settings.models.clone();
        history.record(&id, SessionEvent::Opened(self.facts(&resources, &session)));
        let session = Arc::new(AgentSession::new(resources, session, history, models, said));
        let notices = complaints
            .into_iter()
            .chain(set_up.warnings())
            .chain(session.resources.warnings())
            .chain(session.history.warnings());
        notices.for_each(|notice| session.note(notice));
        tracing::info!(session = %session.id(), cwd = %session.resources.cwd().display(), "a session is open");
        session.resources.servers().start();
        self.sessions.add(session.clone());
        Ok(session)
    }

    fn resources(
        &self,
        session: SessionId,
        roots: Vec<PathBuf>,
        servers: Vec<ServerSettings>,
    ) -> Result<SessionResources, ServiceError> {
        let settings = &self.settings;
        let resources = SessionResources::open(SessionResourcesOptions {
            session,
            roots,
            places: settings.places.clone(),
            home: settings.home.clone(),
            supervisor: settings.supervisor.clone(),
            sandbox: settings.sandbox.clone(),
            search: settings.search.clone(),
            layers: settings.layers.clone(),
            servers,
        });
        let resources = resources.map_err(|error| ServiceError::Failed(error.to_string()))?;
        let added = resources.tools().change(|tools| {
            tools.add(SwitchMode::new(resources.policy().clone()))?;
            let mut guests = settings.guests.iter();
            guests.try_for_each(|guest| tools.add_any(guest.clone()).map(drop))
        });
        added.map_err(|error| ServiceError::Failed(error.to_string()))?;
        Ok(resources)
    }

    /// Call ids of a reopened session have a random prefix: another process may have the session open,
    /// and a call id is unique within its session.
    fn engine(
        &self,
        resources: &SessionResources,
        history: &SessionHistory,
        which: &SessionSelector,
    ) -> EngineBuilder {
        let ids = match which {
            SessionSelector::New => CallIds::new("call"),
            SessionSelector::Stored { .. } => CallIds::random(),
        };
        let engine = resources.engine().ids(ids).limits(self.settings.limits);
        let engine = history.keep(engine);
        match &self.settings.observer {
            Some(observer) => observer.attach(engine),
            None => engine,
        }
    }

    /// With a sandbox, commands run here: the client's terminal would be outside of it.
    fn commands(&self) -> CommandPlacement {
        match self.settings.sandbox {
            Some(_) => CommandPlacement::InAgent,
            None => CommandPlacement::InClient,
        }
    }

    fn facts(&self, resources: &SessionResources, session: &Session) -> SessionFacts {
        let client = session.client_info();
        SessionFacts {
            agent: NAME.into(),
            agent_version: self.settings.version.as_str().into(),
            client: client.name.as_str().into(),
            client_version: client.version.as_str().into(),
            protocol: session.protocol().number().to_string().into(),
            cwd: resources.cwd().to_owned(),
        }
    }
}

/// Whether the session was open.
enum Closing {
    WasOpen,
    WasNot,
}

/// Returns the directories of a session with every symlink resolved.
fn roots(request: &OpenSessionRequest) -> Result<Vec<PathBuf>, ServiceError> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for folder in std::iter::once(&request.cwd).chain(&request.additional_roots) {
        let root = folder.canonicalize().map_err(|error| {
            ServiceError::InvalidParams(format!(
                "`{}` is no folder to work in: {error}",
                folder.display()
            ))
        })?;
        if !root.is_dir() {
            return Err(ServiceError::InvalidParams(format!(
                "`{}` is no folder",
                folder.display()
            )));
        }
        if !roots.contains(&root) {
            roots.push(root);
        }
    }
    Ok(roots)
}

/// Loads a recorded session. It must have the same working directory as before.
async fn recall(
    history: &SessionHistory,
    id: &SessionId,
    cwd: &Path,
) -> Result<Recalled, ServiceError> {
    let recalled = history.recall(NAME, id).await?;
    if recalled.cwd == cwd {
        Ok(recalled)
    } else {
        Err(ServiceError::InvalidParams(format!(
            "the session works in `{}`, not in `{}`",
            recalled.cwd.display(),
            cwd.display()
        )))
    }
}

/// Replays messages and calls to the client.
async fn tell_again(session: &Session, scenes: &[Scene]) {
    for scene in scenes {
        match scene {
            Scene::Said { by, text } => match by {
                Speaker::Person => session.repeat(text.to_string()).await,
                Speaker::Agent => drop(session.say(text.to_string()).await),
                Speaker::Thought => session.think(text.to_string()).await,
            },
            Scene::Called(call) => drop(session.replay(std::slice::from_ref(call)).await),
        }
    }
}
