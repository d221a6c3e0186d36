//! What happens to a session beside its calls: it opens, turns begin and end, people and agents speak.
//! Values and their stored form; nothing here knows where they come from.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::Plan;
use toolcall::serde_forms::path;

use super::intent;
use super::text::{Blobs, Text};
use super::{DecodeError, Packer};

/// Something that happened to a session, not to one of its calls.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// It was opened, or opened again.
    Opened(SessionFacts),
    /// A prompt began to be worked on.
    TurnBegan,
    /// It was worked on, and this is why it ended.
    TurnEnded {
        /// As the protocol names it, such as `end_turn`.
        stop: Arc<str>,
    },
    /// Somebody said something.
    Said {
        /// Who.
        by: Speaker,
        /// What.
        text: Arc<str>,
    },
    /// The agent made or changed its plan, outside of any call.
    Planned(Plan),
}

/// What is known of a session when it opens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFacts {
    /// The agent's name.
    pub agent: Arc<str>,
    /// The agent's version.
    pub agent_version: Arc<str>,
    /// The client's name.
    pub client: Arc<str>,
    /// The client's version.
    pub client_version: Arc<str>,
    /// The version of the protocol between them.
    pub protocol: Arc<str>,
    /// The folder it works in.
    pub cwd: PathBuf,
}

/// Who says something in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The person.
    Person,
    /// The agent, to the person.
    Agent,
    /// The agent, to itself.
    Thought,
}

impl SessionEvent {
    /// Its name, for lists and exports.
    pub fn name(&self) -> &'static str {
        match self {
            SessionEvent::Opened(_) => "session opened",
            SessionEvent::TurnBegan => "turn began",
            SessionEvent::TurnEnded { .. } => "turn ended",
            SessionEvent::Said { .. } => "said",
            SessionEvent::Planned(_) => "session planned",
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    Opened {
        agent: Arc<str>,
        agent_version: Arc<str>,
        client: Arc<str>,
        client_version: Arc<str>,
        protocol: Arc<str>,
        #[serde(with = "path")]
        cwd: PathBuf,
    },
    TurnBegan,
    TurnEnded {
        stop: Arc<str>,
    },
    Said {
        by: Speaker,
        text: Text,
    },
    Planned(intent::Plan),
}

impl Form {
    pub(crate) fn pack(event: &SessionEvent, packer: &mut Packer<'_>) -> Self {
        match event {
            SessionEvent::Opened(facts) => {
                let SessionFacts {
                    agent,
                    agent_version,
                    client,
                    client_version,
                    protocol,
                    cwd,
                } = facts;
                Form::Opened {
                    agent: packer.shared(agent),
                    agent_version: packer.shared(agent_version),
                    client: packer.shared(client),
                    client_version: packer.shared(client_version),
                    protocol: packer.shared(protocol),
                    cwd: packer.path(cwd),
                }
            }
            SessionEvent::TurnBegan => Form::TurnBegan,
            SessionEvent::TurnEnded { stop } => Form::TurnEnded {
                stop: packer.shared(stop),
            },
            SessionEvent::Said { by, text } => Form::Said {
                by: *by,
                text: packer.text(text),
            },
            SessionEvent::Planned(plan) => Form::Planned(intent::Plan::pack(plan, packer)),
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<SessionEvent, DecodeError> {
        Ok(match self {
            Form::Opened {
                agent,
                agent_version,
                client,
                client_version,
                protocol,
                cwd,
            } => SessionEvent::Opened(SessionFacts {
                agent,
                agent_version,
                client,
                client_version,
                protocol,
                cwd,
            }),
            Form::TurnBegan => SessionEvent::TurnBegan,
            Form::TurnEnded { stop } => SessionEvent::TurnEnded { stop },
            Form::Said { by, text } => SessionEvent::Said {
                by,
                text: text.unpack(blobs)?,
            },
            Form::Planned(plan) => SessionEvent::Planned(plan.unpack()),
        })
    }
}
