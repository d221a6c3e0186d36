//! Answers a prompt: notices before and after it, the command or the model, and the record of how the turn ended.
//! Slash commands and the turn loop do the work; nothing here calls a tool.

use std::sync::Arc;

use toolcall::Content;
use toolcall_acp::service::ServiceError;
use toolcall_acp::{Prompt, StopReason};
use toolcall_history::SessionEvent;

use super::Agent;
use crate::commands::{self, Typed};
use crate::markdown::line;
use crate::model::ModelError;
use crate::session::AgentSession;
use crate::turn;

impl Agent {
    pub(super) async fn answer_prompt(
        &self,
        prompt: &Prompt,
        said: Vec<Content>,
    ) -> Result<StopReason, ServiceError> {
        let session = self.session(prompt.session())?;
        let observer = self.settings.observer.as_ref();
        let _told = observer.map(|observer| observer.turn(prompt.session().engine()));
        session.begin_turn(&said);
        let ending = TurnEnding::new(session.clone());
        let command = commands::read(&said);
        if command.as_ref().is_none_or(Typed::is_about_tools) {
            session.await_servers().await;
        }
        session.say_notices().await;
        // A turn that was cancelled may have changed them.
        session
            .client_session
            .send_config_options(&session.choices())
            .await;
        let stop = match command {
            Some(command) => commands::run(&command, &session).await,
            None => {
                session.add_user_message(said).await;
                turn::run(&session, prompt).await
            }
        };
        let stop = report_error(&session, stop).await;
        session.say_notices().await;
        ending.stopped(stop);
        Ok(stop)
    }
}

/// Reports a model error to the user; the turn ends normally.
async fn report_error(session: &AgentSession, stop: Result<StopReason, ModelError>) -> StopReason {
    match stop {
        Ok(stop) => stop,
        Err(error) => {
            let why = line(&error.to_string());
            session.say(format!("\n\n**This went wrong:** {why}")).await;
            StopReason::EndTurn
        }
    }
}

/// Records how a turn ended. Dropped before [`TurnEnding::stopped`], it records the turn as cancelled.
struct TurnEnding {
    session: Arc<AgentSession>,
    stop: StopReason,
}

impl TurnEnding {
    fn new(session: Arc<AgentSession>) -> Self {
        Self {
            session,
            stop: StopReason::Cancelled,
        }
    }

    fn stopped(mut self, stop: StopReason) {
        self.stop = stop;
    }
}

impl Drop for TurnEnding {
    fn drop(&mut self) {
        let stop = self.stop.as_str();
        tracing::info!(session = %self.session.id(), stop, "a turn ended");
        self.session
            .keep(SessionEvent::TurnEnded { stop: stop.into() });
    }
}
