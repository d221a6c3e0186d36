//! The history of the agent's sessions: recording, listing, loading, deleting.
//! Without a history it records nothing and everything else works.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use toolcall::text::clean_line;
use toolcall::{EngineBuilder, SessionId, Timestamp, ToolCall, replay};
use toolcall_acp::service::{ListSessionsRequest, ServiceError, SessionInfo, SessionPage};
use toolcall_history::{Archive, History, HistoryError, SessionEvent, SessionRow, Speaker};

use crate::commands;

/// How many sessions a page lists.
const PAGE: usize = 50;

/// The length limit of a title, in characters.
const LONGEST_TITLE: usize = 60;

/// The history of the agent's sessions, if one is configured.
#[derive(Clone, Default)]
pub(crate) struct SessionHistory(Option<Arc<History>>);

/// A recorded session.
#[derive(Debug, Default)]
pub(crate) struct Recalled {
    pub(crate) cwd: PathBuf,
    /// Messages and calls in order.
    pub(crate) scenes: Vec<Scene>,
}

/// One message or call of a recorded session.
#[derive(Clone, Debug)]
pub(crate) enum Scene {
    Said { by: Speaker, text: Arc<str> },
    Called(Box<ToolCall>),
}

impl SessionHistory {
    pub(crate) fn of(history: Arc<History>) -> Self {
        Self(Some(history))
    }

    /// Returns what the user should know about the history when a session begins.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let Some(history) = &self.0 else {
            return Vec::new();
        };
        let error = history.health().trouble;
        let error = error.map(|error| unkept(&error));
        let damaged = history.set_aside().map(|aside| {
            let (place, damage) = (aside.place.display(), &aside.damage);
            format!("the history was damaged ({damage}); it is set aside as `{place}`, and a new one began")
        });
        error.into_iter().chain(damaged).collect()
    }

    /// Records an event of a session.
    pub(crate) fn record(&self, session: &SessionId, event: SessionEvent) {
        if let Some(history) = &self.0 {
            // The history reports its own errors.
            drop(history.record(session, event));
        }
    }

    /// Makes an engine record its calls.
    pub(crate) fn keep(&self, engine: EngineBuilder) -> EngineBuilder {
        match &self.0 {
            Some(history) => engine.store(history.clone()),
            None => engine,
        }
    }

    /// Reads from the history on a blocking thread.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Archive) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, ServiceError> {
        let Some(history) = self.0.clone() else {
            let why = "no history is kept, so there is nothing to tell; see `toolcall config show`";
            return Err(ServiceError::InvalidParams(why.to_owned()));
        };
        let done = spawn_blocking(move || read(&history.archive()?)).await;
        match done {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(missing @ HistoryError::Missing(_))) => {
                Err(ServiceError::InvalidParams(missing.to_string()))
            }
            Ok(Err(error)) => Err(ServiceError::Failed(format!(
                "the history cannot be read: {error}"
            ))),
            Err(_panicked) => Err(ServiceError::Failed(
                "the history cannot be read".to_owned(),
            )),
        }
    }

    /// Loads a session of this agent. Sessions of other agents are not found.
    pub(crate) async fn recall(
        &self,
        agent: &'static str,
        id: &SessionId,
    ) -> Result<Recalled, ServiceError> {
        let session = id.clone();
        let recall = move |archive: &Archive| recall(archive, agent, &session);
        let recalled = self.read(recall).await?;
        recalled.ok_or_else(|| ServiceError::SessionNotFound(id.as_str().to_owned()))
    }

    /// Lists a page of the sessions of `agent`.
    pub(crate) async fn list(
        &self,
        agent: &'static str,
        page: ListSessionsRequest,
    ) -> Result<SessionPage, ServiceError> {
        let from = match page.after.as_deref().map(str::parse) {
            None => 0,
            Some(Ok(from)) => from,
            Some(Err(_)) => {
                return Err(ServiceError::InvalidParams(
                    "`cursor` is not one that was told".to_owned(),
                ));
            }
        };
        let list = move |archive: &Archive| list(archive, agent, page.cwd, from);
        self.read(list).await
    }

    /// Deletes a session of this agent. A session that does not exist is no error.
    pub(crate) async fn forget(
        &self,
        agent: &'static str,
        id: SessionId,
    ) -> Result<(), ServiceError> {
        let Some(history) = self.0.clone() else {
            return Ok(());
        };
        let forget = move || match find(&history.archive()?, agent, &id)? {
            Some(_) => history.forget(&id).map(drop),
            None => Ok(()),
        };
        match spawn_blocking(forget).await {
            Ok(Ok(()) | Err(HistoryError::Missing(_))) => Ok(()),
            Ok(Err(error)) => Err(ServiceError::Failed(format!(
                "the session cannot be forgotten: {error}"
            ))),
            Err(_panicked) => Err(ServiceError::Failed(
                "the session cannot be forgotten".to_owned(),
            )),
        }
    }

    /// Waits until everything is written.
    pub(crate) async fn finish(&self) {
        if let Some(history) = self.0.clone() {
            let _told_already = spawn_blocking(move || history.flush()).await;
        }
    }
}

/// Says that nothing is recorded, and why.
pub(crate) fn unkept(error: &HistoryError) -> String {
    format!("what happens is not kept in the history: {error}")
}

fn find(
    archive: &Archive,
    agent: &str,
    id: &SessionId,
) -> Result<Option<SessionRow>, HistoryError> {
    let mut sessions = archive.sessions()?.into_iter();
    Ok(sessions.find(|line| line.id == *id && line.agent == agent))
}

fn recall(
    archive: &Archive,
    agent: &str,
    id: &SessionId,
) -> Result<Option<Recalled>, HistoryError> {
    let Some(line) = find(archive, agent, id)? else {
        return Ok(None);
    };
    let said = archive.session_events(id)?;
    let said = said.into_iter().filter_map(|(at, event)| match event {
        SessionEvent::Said { by, text } => Some((at, Scene::Said { by, text })),
        // Plans are replayed with the calls that made them.
        SessionEvent::Planned(_)
        | SessionEvent::Opened(_)
        | SessionEvent::TurnBegan
        | SessionEvent::TurnEnded { .. } => None,
    });
    let calls = replay(&archive.records(id)?).into_iter();
    let calls = calls.map(|call| (call.announced_at(), Scene::Called(Box::new(call))));
    let mut scenes: Vec<(Timestamp, Scene)> = said.chain(calls).collect();
    // A stable sort: of the same time, messages come before calls.
    scenes.sort_by_key(|(at, _)| *at);
    Ok(Some(Recalled {
        cwd: PathBuf::from(line.cwd),
        scenes: scenes.into_iter().map(|(_, scene)| scene).collect(),
    }))
}

fn list(
    archive: &Archive,
    agent: &str,
    cwd: Option<PathBuf>,
    from: usize,
) -> Result<SessionPage, HistoryError> {
    let is_wanted = |line: &SessionRow| {
        line.agent == agent && cwd.as_ref().is_none_or(|cwd| cwd == Path::new(&line.cwd))
    };
    let mut wanted: Vec<SessionRow> = archive.sessions()?;
    wanted.retain(is_wanted);
    let until = from.saturating_add(PAGE);
    let next = (until < wanted.len()).then(|| until.to_string());
    let mut sessions = Vec::new();
    for line in wanted.into_iter().skip(from).take(PAGE) {
        sessions.push(SessionInfo {
            title: archive
                .first_user_message(&line.id, is_for_model)?
                .map(|text| title(&text)),
            cwd: PathBuf::from(line.cwd),
            updated: line.latest.to_string(),
            id: line.id,
        });
    }
    Ok(SessionPage { sessions, next })
}

/// Slash commands make no title.
fn is_for_model(text: &str) -> bool {
    commands::read_text(text).is_none()
}

/// Returns the title of a session: the user's first words.
pub(crate) fn title(words: &str) -> String {
    let first = words.lines().find(|line| !line.trim().is_empty());
    clean_line(first.unwrap_or(words).trim(), LONGEST_TITLE)
}
