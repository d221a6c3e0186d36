//! How a prompt is answered: what is said around it, and how the turn ended.
//! Commands and the model do the work; nothing here calls a tool.

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
        let sitting = self.sitting(prompt.session())?;
        let onlooker = self.settings.onlooker.as_ref();
        let _told = onlooker.map(|onlooker| onlooker.turn(prompt.session().engine()));
        sitting.begin_turn(&said);
        let ending = Ending::new(sitting.clone());
        let command = commands::read(&said);
        if command.as_ref().is_none_or(Typed::is_about_tools) {
            sitting.await_servers().await;
        }
        sitting.say_notices().await;
        // A turn that was broken off may have changed them.
        sitting
            .session
            .send_config_options(&sitting.choices())
            .await;
        let stop = match command {
            Some(command) => commands::run(&command, &sitting).await,
            None => {
                sitting.hear(said).await;
                turn::carry(&sitting, prompt).await
            }
        };
        let stop = tell_trouble(&sitting, stop).await;
        sitting.say_notices().await;
        ending.tell(stop);
        Ok(stop)
    }
}

/// What went wrong is said; the turn ends as any other.
async fn tell_trouble(sitting: &AgentSession, stop: Result<StopReason, ModelError>) -> StopReason {
    match stop {
        Ok(stop) => stop,
        Err(error) => {
            let why = line(&error.to_string());
            sitting.say(format!("\n\n**This went wrong:** {why}")).await;
            StopReason::EndTurn
        }
    }
}

/// Keeps how a turn ended. Dropped before that was said, it was cancelled.
struct Ending {
    sitting: Arc<AgentSession>,
    stop: StopReason,
}

impl Ending {
    fn new(sitting: Arc<AgentSession>) -> Self {
        Self {
            sitting,
            stop: StopReason::Cancelled,
        }
    }

    fn tell(mut self, stop: StopReason) {
        self.stop = stop;
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        let stop = self.stop.as_str();
        tracing::info!(session = %self.sitting.id(), stop, "a turn ended");
        self.sitting
            .keep(SessionEvent::TurnEnded { stop: stop.into() });
    }
}
