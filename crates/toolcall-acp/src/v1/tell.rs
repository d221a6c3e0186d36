//! What a session tells beside its calls: words, thoughts, choices, its title.
//! It says what it is told to; a client that is gone hears nothing, and that is no failure.

use agent_client_protocol::v1::schema::{
    ConfigOptionUpdate, ContentBlock, ContentChunk, CurrentModeUpdate, SessionInfoUpdate,
    SessionUpdate, UsageUpdate,
};

use super::{Session, offer};
use crate::service::{Choice, Sort};

/// Clients that are known to take `usage_update`; others were seen to break off at it.
const COUNTING: [&str; 1] = ["zed"];

impl Session {
    /// Says what the person said, for one who was not there.
    pub async fn repeat(&self, text: impl Into<String>) {
        let chunk = ContentChunk::new(ContentBlock::from(text.into()));
        let _gone = self.send(SessionUpdate::UserMessageChunk(chunk)).await;
    }

    /// Shows a thought of the model's.
    pub async fn think(&self, text: impl Into<String>) {
        let chunk = ContentChunk::new(ContentBlock::from(text.into()));
        let _gone = self.send(SessionUpdate::AgentThoughtChunk(chunk)).await;
    }

    /// Tells what the session is about.
    pub async fn tell_title(&self, title: impl Into<String>) {
        let update = SessionInfoUpdate::new().title(title.into());
        let _gone = self.send(SessionUpdate::SessionInfoUpdate(update)).await;
    }

    /// Tells how full the model's window is, if the client is known to take that.
    pub async fn tell_usage(&self, used: u64, window: u64) {
        let name = self.who().name.to_ascii_lowercase();
        if COUNTING.contains(&&*name) {
            let update = UsageUpdate::new(used, window);
            let _gone = self.send(SessionUpdate::UsageUpdate(update)).await;
        }
    }

    /// Tells which choices hold now, if the client does not know that.
    pub async fn tell_choices(&self, choices: &[Choice]) {
        if self.choices() == choices {
            return;
        }
        self.tell_mode_of(choices).await;
        let update = ConfigOptionUpdate::new(offer::options(choices));
        let _gone = self.send(SessionUpdate::ConfigOptionUpdate(update)).await;
    }

    /// Tells which mode holds now, if that changed.
    pub(crate) async fn tell_mode_of(&self, choices: &[Choice]) {
        let mode = |choices: &[Choice]| {
            let mode = choices.iter().find(|choice| choice.sort == Sort::Mode);
            mode.map(|mode| mode.current.clone())
        };
        let before = mode(&self.replace_choices(choices.to_vec()));
        if let Some(now) = mode(choices).filter(|now| before.as_ref() != Some(now)) {
            let update = CurrentModeUpdate::new(now);
            let _gone = self.send(SessionUpdate::CurrentModeUpdate(update)).await;
        }
    }
}
