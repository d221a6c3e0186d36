//! Updates of a session other than calls: text, thoughts, options, its title.
//! It sends what it is given. A client that is gone receives nothing, which is no error.

use super::Session;
use crate::codec::Notice;
use crate::lane::Closed;
use crate::service::{ConfigOption, ConfigOptionCategory, SlashCommand};

/// Clients that accept usage updates. Some others end the connection when they receive one.
const USAGE_CLIENTS: [&str; 1] = ["zed"];

impl Session {
    /// Sends text of the agent.
    pub async fn say(&self, text: impl AsRef<str>) -> Result<(), Closed> {
        self.notify(Notice::AgentText(text.as_ref())).await
    }

    /// Sends text of the user again, to replay a session.
    pub async fn repeat(&self, text: impl AsRef<str>) {
        let _gone = self.notify(Notice::UserText(text.as_ref())).await;
    }

    /// Sends a thought of the model.
    pub async fn think(&self, text: impl AsRef<str>) {
        let _gone = self.notify(Notice::Thought(text.as_ref())).await;
    }

    /// Sends the title of the session.
    pub async fn send_title(&self, title: impl AsRef<str>) {
        let _gone = self.notify(Notice::Title(title.as_ref())).await;
    }

    /// Sends how full the model's context window is, if the client accepts usage updates.
    pub async fn send_usage(&self, used: u64, window: u64) {
        let name = self.client_info().name.to_ascii_lowercase();
        if USAGE_CLIENTS.contains(&&*name) {
            let _gone = self.notify(Notice::Usage { used, window }).await;
        }
    }

    /// Sends the slash commands of the session, if it has any.
    pub(crate) async fn send_commands(&self, commands: &[SlashCommand]) {
        if !commands.is_empty() {
            let _gone = self.notify(Notice::Commands(commands)).await;
        }
    }

    /// Sends the current options, if they differ from those that the client knows.
    pub async fn send_config_options(&self, options: &[ConfigOption]) {
        if self.config_options() == options {
            return;
        }
        self.send_mode_of(options).await;
        let _gone = self.notify(Notice::Options(options)).await;
    }

    /// Sends the current mode, if it changed.
    pub(crate) async fn send_mode_of(&self, options: &[ConfigOption]) {
        let mode = |options: &[ConfigOption]| {
            let mode = options
                .iter()
                .find(|option| option.sort == ConfigOptionCategory::Mode);
            mode.map(|mode| mode.current.clone())
        };
        let before = mode(&self.replace_config_options(options.to_vec()));
        if let Some(now) = mode(options).filter(|now| before.as_ref() != Some(now)) {
            let _gone = self.notify(Notice::Mode(&now)).await;
        }
    }
}
