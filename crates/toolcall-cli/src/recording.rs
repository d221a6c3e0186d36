//! One session's place in the history, while its calls are made.
//! What cannot be kept is told; calls are refused for it only where the person set it so.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use toolcall::{EngineBuilder, SessionId};
use toolcall_history::{
    History, HistoryConfig, HistoryError, OnFailure, SessionEvent, SessionFacts,
};

/// How long a person waits for a history that somebody else holds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a session is kept, if it is.
pub(crate) struct Recording(Option<Arc<History>>);

impl Recording {
    /// Keeps nothing.
    pub(crate) fn off() -> Self {
        Self(None)
    }

    /// Opens the history at a path and begins a session there.
    pub(crate) fn begin(
        path: PathBuf,
        settings: HistoryConfig,
        session: &SessionId,
        facts: SessionFacts,
    ) -> anyhow::Result<Self> {
        let on_failure = settings.on_failure;
        let settings = HistoryConfig {
            tell: Some(Arc::new(tell)),
            ..settings
        };
        let history = match (History::open(path, settings), on_failure) {
            (Ok(history), _) => history,
            (Err(trouble), OnFailure::GoOn) => {
                tell(Some(&trouble));
                return Ok(Self::off());
            }
            (Err(trouble), OnFailure::Refuse) => bail!(
                "nothing can be kept in the history, and `history.on_failure` is \"refuse\": {trouble}"
            ),
        };
        if let Some(aside) = history.set_aside() {
            let (place, damage) = (aside.place.display(), &aside.damage);
            anstream::eprintln!(
                "warning: the history was damaged ({damage}); it is set aside as `{place}`, and a new one begins"
            );
        }
        drop(history.tell(session, SessionEvent::Opened(facts)));
        Ok(Self(Some(Arc::new(history))))
    }

    /// An engine whose calls are kept.
    pub(crate) fn keep(&self, engine: EngineBuilder) -> EngineBuilder {
        match &self.0 {
            Some(history) => engine.store(history.clone()),
            None => engine,
        }
    }

    /// Waits until everything is kept that can be.
    pub(crate) fn finish(&self) {
        let Some(history) = &self.0 else {
            return;
        };
        // What is known already was told when it came about.
        if let (Err(trouble), None) = (history.flush(), history.health().trouble) {
            tell(Some(&trouble));
        }
    }
}

/// How this program works with its history, where nobody can choose.
pub(crate) fn settings() -> HistoryConfig {
    HistoryConfig {
        patience: PATIENCE,
        ..HistoryConfig::default()
    }
}

fn tell(trouble: Option<&HistoryError>) {
    match trouble {
        Some(trouble) => {
            anstream::eprintln!("warning: what happens is not kept in the history: {trouble}");
        }
        None => anstream::eprintln!("warning: what happens is kept in the history again"),
    }
}
