//! How a session is opened, new or again: its workplace, its engine, what is told of it again.
//! What a client may not have is refused here, before anything is opened.

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
use crate::session_resources::{Plan, SessionResources, new_session};
use crate::switch_mode::SwitchMode;

impl Agent {
    pub(super) async fn open_session(
        &self,
        wish: OpenSessionRequest,
    ) -> Result<OpenedSession, ServiceError> {
        let roots = roots(&wish)?;
        let memory = self.memory()?;
        let sitting = match &wish.which {
            SessionSelector::New => self.sit(new_session(), roots, &wish, memory, &[])?,
            SessionSelector::Kept { id, replay } => {
                let _inside = self.enter(id).await;
                self.sit_again(id, *replay, roots, &wish, memory).await?
            }
        };
        Ok(OpenedSession {
            session: sitting.session.clone(),
            choices: sitting.choices(),
            commands: commands::known(),
        })
    }

    async fn sit_again(
        &self,
        id: &SessionId,
        replay: Replay,
        roots: Vec<PathBuf>,
        wish: &OpenSessionRequest,
        memory: SessionHistory,
    ) -> Result<Arc<AgentSession>, ServiceError> {
        let mut recalled = recall(&memory, id, &roots[0]).await?;
        if let PutAway::WasOpen = self.put_away(id).await {
            recalled = recall(&memory, id, &roots[0]).await?;
        }
        let sitting = self.sit(id.clone(), roots, wish, memory, &recalled.scenes)?;
        if replay == Replay::Whole {
            let session = &sitting.session;
            session
                .undisturbed(tell_again(session, &recalled.scenes))
                .await;
        }
        Ok(sitting)
    }

    /// Ends a session that is open: it is opened again. What it did last is in the history then.
    async fn put_away(&self, id: &SessionId) -> PutAway {
        let Some(open) = self.sittings.remove(id) else {
            return PutAway::WasNot;
        };
        self.client.close(id.as_str());
        open.session.end().await;
        open.place.close().await;
        PutAway::WasOpen
    }

    /// Puts a session together, with its servers under way.
    fn sit(
        &self,
        id: SessionId,
        roots: Vec<PathBuf>,
        wish: &OpenSessionRequest,
        memory: SessionHistory,
        before: &[Scene],
    ) -> Result<Arc<AgentSession>, ServiceError> {
        let set_up = ConfiguredServers::read(&self.settings.places, &roots[0]);
        let (servers, complaints) = servers(&wish.servers, set_up.usable());
        let place = self.workplace(id.clone(), roots, servers)?;
        let engine = self.engine(&place, &memory, &wish.which);
        let session = self.client.open_with(engine, self.commands());
        let said = rebuilt(before);
        let models = self.settings.models.clone();
        memory.tell(&id, SessionEvent::Opened(self.facts(&place, &session)));
        let sitting = Arc::new(AgentSession::new(place, session, memory, models, said));
        let notices = complaints
            .into_iter()
            .chain(set_up.warnings())
            .chain(sitting.place.warnings())
            .chain(sitting.memory.warnings());
        notices.for_each(|notice| sitting.note(notice));
        tracing::info!(session = %sitting.id(), cwd = %sitting.place.cwd().display(), "a session is open");
        sitting.place.servers().start();
        self.sittings.add(sitting.clone());
        Ok(sitting)
    }

    fn workplace(
        &self,
        session: SessionId,
        roots: Vec<PathBuf>,
        servers: Vec<ServerSettings>,
    ) -> Result<SessionResources, ServiceError> {
        let settings = &self.settings;
        let place = SessionResources::open(Plan {
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
        let place = place.map_err(|error| ServiceError::Failed(error.to_string()))?;
        let added = place.tools().change(|tools| {
            tools.add(SwitchMode::new(place.book().clone()))?;
            let mut guests = settings.guests.iter();
            guests.try_for_each(|guest| tools.add_any(guest.clone()).map(drop))
        });
        added.map_err(|error| ServiceError::Failed(error.to_string()))?;
        Ok(place)
    }

    /// Who opens a session again counts behind a name of their own: others may have it open, too, and
    /// a call's id is its own in the whole session.
    fn engine(
        &self,
        place: &SessionResources,
        memory: &SessionHistory,
        which: &SessionSelector,
    ) -> EngineBuilder {
        let ids = match which {
            SessionSelector::New => CallIds::new("call"),
            SessionSelector::Kept { .. } => CallIds::random(),
        };
        let engine = place.engine().ids(ids).limits(self.settings.limits);
        let engine = memory.keep(engine);
        match &self.settings.onlooker {
            Some(onlooker) => onlooker.attach(engine),
            None => engine,
        }
    }

    /// A client's terminal would be outside of the sandbox.
    fn commands(&self) -> CommandPlacement {
        match self.settings.sandbox {
            Some(_) => CommandPlacement::Here,
            None => CommandPlacement::InClient,
        }
    }

    fn facts(&self, place: &SessionResources, session: &Session) -> SessionFacts {
        let client = session.client_info();
        SessionFacts {
            agent: NAME.into(),
            agent_version: self.settings.version.as_str().into(),
            client: client.name.as_str().into(),
            client_version: client.version.as_str().into(),
            protocol: session.protocol().number().to_string().into(),
            cwd: place.cwd().to_owned(),
        }
    }
}

/// Whether a session was open when it was put away.
enum PutAway {
    WasOpen,
    WasNot,
}

/// The folders of a session, with every link in their own paths followed, as tools name them.
fn roots(wish: &OpenSessionRequest) -> Result<Vec<PathBuf>, ServiceError> {
    let mut roots: Vec<PathBuf> = Vec::new();
    for folder in std::iter::once(&wish.cwd).chain(&wish.additional_roots) {
        let root = folder.canonicalize().map_err(|error| {
            ServiceError::Wrong(format!(
                "`{}` is no folder to work in: {error}",
                folder.display()
            ))
        })?;
        if !root.is_dir() {
            return Err(ServiceError::Wrong(format!(
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

/// What is kept of a session, which works in the folder that it always did.
async fn recall(
    memory: &SessionHistory,
    id: &SessionId,
    cwd: &Path,
) -> Result<Recalled, ServiceError> {
    let recalled = memory.recall(NAME, id).await?;
    match recalled.cwd == cwd {
        true => Ok(recalled),
        false => Err(ServiceError::Wrong(format!(
            "the session works in `{}`, not in `{}`",
            recalled.cwd.display(),
            cwd.display()
        ))),
    }
}

/// Tells again what was said and done.
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
