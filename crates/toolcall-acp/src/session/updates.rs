//! What a session tells beside its calls: words, thoughts, options, its title.
//! It says what it is told to; a client that is gone hears nothing, and that is no failure.

use super::Session;
use crate::codec::Notice;
use crate::lane::Closed;
use crate::service::{ConfigOption, ConfigOptionCategory, SlashCommand};

/// Clients that are known to take how full the model's window is; others were seen to break off.
const COUNTING: [&str; 1] = ["zed"];

impl Session {
    /// Says something to the user.
    pub async fn say(&self, text: impl AsRef<str>) -> Result<(), Closed> {
        self.notify(Notice::AgentText(text.as_ref())).await
    }

    /// Repeats what the user said, for a client that was not there.
    pub async fn repeat(&self, text: impl AsRef<str>) {
        let _gone = self.notify(Notice::UserText(text.as_ref())).await;
    }

    /// Shows a thought of the model's.
    pub async fn think(&self, text: impl AsRef<str>) {
        let _gone = self.notify(Notice::Thought(text.as_ref())).await;
    }

    /// Tells what the session is about.
    pub async fn send_title(&self, title: impl AsRef<str>) {
        let _gone = self.notify(Notice::Title(title.as_ref())).await;
    }

    /// Tells how full the model's window is, if the client is known to take that.
    pub async fn send_usage(&self, used: u64, window: u64) {
        let name = self.client_info().name.to_ascii_lowercase();
        if COUNTING.contains(&&*name) {
            let _gone = self.notify(Notice::Usage { used, window }).await;
        }
    }

    /// Tells which commands the user may type, if there are any.
    pub(crate) async fn send_commands(&self, commands: &[SlashCommand]) {
        if !commands.is_empty() {
            let _gone = self.notify(Notice::Commands(commands)).await;
        }
    }

    /// Tells which choices hold now, if the client does not know that.
    pub async fn send_config_options(&self, choices: &[ConfigOption]) {
        if self.choices() == choices {
            return;
        }
        self.send_mode_of(choices).await;
        let _gone = self.notify(Notice::Options(choices)).await;
    }

    /// Tells which mode holds now, if that changed.
    pub(crate) async fn send_mode_of(&self, choices: &[ConfigOption]) {
        let mode = |choices: &[ConfigOption]| {
            let mode = choices
                .iter()
                .find(|choice| choice.sort == ConfigOptionCategory::Mode);
            mode.map(|mode| mode.current.clone())
        };
        let before = mode(&self.replace_config_options(choices.to_vec()));
        if let Some(now) = mode(choices).filter(|now| before.as_ref() != Some(now)) {
            let _gone = self.notify(Notice::Mode(&now)).await;
        }
    }
}
