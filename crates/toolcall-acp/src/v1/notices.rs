//! Encodes updates of a session that are not about calls, as `session/update` of v1.
//! It writes lines; the session decides when they are sent.

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, ConfigOptionUpdate,
    ContentBlock, ContentChunk, CurrentModeUpdate, SessionInfoUpdate, SessionNotification,
    SessionUpdate, UnstructuredCommandInput, UsageUpdate,
};
use toolcall::SessionId;

use super::responses::options;
use crate::codec::Notice;
use crate::service::SlashCommand;
use crate::wire;

/// Appends the line of a notice.
pub(super) fn write(session: &SessionId, notice: &Notice<'_>, line: &mut Vec<u8>) {
    let notification = SessionNotification::new(session.as_str().to_owned(), update(notice));
    if let Err(error) = wire::notification(line, "session/update", &notification) {
        tracing::error!(%error, "an update cannot be serialized");
    }
}

fn update(notice: &Notice<'_>) -> SessionUpdate {
    match notice {
        Notice::AgentText(text) => SessionUpdate::AgentMessageChunk(chunk(text)),
        Notice::UserText(text) => SessionUpdate::UserMessageChunk(chunk(text)),
        Notice::Thought(text) => SessionUpdate::AgentThoughtChunk(chunk(text)),
        Notice::Title(title) => {
            SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title((*title).to_owned()))
        }
        Notice::Usage { used, window } => {
            SessionUpdate::UsageUpdate(UsageUpdate::new(*used, *window))
        }
        Notice::Mode(mode) => {
            SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new((*mode).to_owned()))
        }
        Notice::Options(choices) => {
            SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options(choices)))
        }
        Notice::Commands(commands) => {
            let known = commands.iter().map(command).collect::<Vec<_>>();
            SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(known))
        }
    }
}

fn chunk(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::from(text.to_owned()))
}

fn command(command: &SlashCommand) -> AvailableCommand {
    let known = AvailableCommand::new(command.name.clone(), command.description.clone());
    match &command.hint {
        Some(hint) => known.input(AvailableCommandInput::Unstructured(
            UnstructuredCommandInput::new(hint.clone()),
        )),
        None => known,
    }
}
