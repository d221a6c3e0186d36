//! Records one session in the history.
//! If the history cannot be written, it warns; calls are refused only if the user's settings say so.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use toolcall::{EngineBuilder, SessionId};
use toolcall_history::{
    History, HistoryConfig, HistoryError, OnFailure, SessionEvent, SessionFacts,
};

/// How long to wait for a history that another process has locked.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// The history that a session is recorded in, if it is recorded.
pub(crate) struct SessionRecording(Option<Arc<History>>);

impl SessionRecording {
    /// Records nothing.
    pub(crate) fn off() -> Self {
        Self(None)
    }

    /// Opens the history at a path and begins a session there.
    pub(crate) fn begin(
        path: PathBuf,
        config: HistoryConfig,
        session: &SessionId,
        facts: SessionFacts,
    ) -> anyhow::Result<Self> {
        let on_failure = config.on_failure;
        let config = HistoryConfig {
            tell: Some(Arc::new(report_health)),
            ..config
        };
        let history = match (History::open(path, config), on_failure) {
            (Ok(history), _) => history,
            (Err(error), OnFailure::RunUnrecorded) => {
                report_health(Some(&error));
                return Ok(Self::off());
            }
            (Err(error), OnFailure::Refuse) => bail!(
                "the history cannot be written, and `history.on_failure` is \"refuse\": {error}"
            ),
        };
        if let Some(aside) = history.set_aside() {
            let (place, damage) = (aside.place.display(), &aside.damage);
            anstream::eprintln!(
                "warning: the history was damaged ({damage}); it was moved to `{place}`, and a new one was created"
            );
        }
        drop(history.record(session, SessionEvent::Opened(facts)));
        Ok(Self(Some(Arc::new(history))))
    }

    /// Adds the history to an engine, so that its calls are recorded.
    pub(crate) fn attach(&self, engine: EngineBuilder) -> EngineBuilder {
        match &self.0 {
            Some(history) => engine.store(history.clone()),
            None => engine,
        }
    }

    /// Waits until everything is written.
    pub(crate) fn finish(&self) {
        let Some(history) = &self.0 else {
            return;
        };
        // A known error was reported when it occurred.
        if let (Err(error), None) = (history.flush(), history.health().trouble) {
            report_health(Some(&error));
        }
    }
}

/// Returns the config of the history, apart from what the user's settings choose.
pub(crate) fn history_config() -> HistoryConfig {
    HistoryConfig {
        patience: LOCK_TIMEOUT,
        ..HistoryConfig::default()
    }
}

/// Warns that recording stopped because of an error, or that it works again.
fn report_health(error: Option<&HistoryError>) {
    match error {
        Some(error) => {
            anstream::eprintln!("warning: calls are not recorded in the history: {error}");
        }
        None => anstream::eprintln!("warning: calls are recorded in the history again"),
    }
}
