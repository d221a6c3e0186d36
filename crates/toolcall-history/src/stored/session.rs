//! Events of a session beside its calls (opening, turns, messages, plans), and their stored form.
//! Values only; callers record them.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::Plan;
use toolcall::serde_forms::path;

use super::intent::StoredPlan;
use super::text::{BlobSource, StoredText};
use super::{DecodeError, Encoder};

/// An event of a session that belongs to none of its calls.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The session was opened, or opened again.
    Opened(SessionFacts),
    /// A turn began.
    TurnBegan,
    /// A turn ended.
    TurnEnded {
        /// The stop reason as the protocol names it, such as `end_turn`.
        stop: Arc<str>,
    },
    /// The user or the agent sent a message.
    Said {
        /// Who sent it.
        by: Speaker,
        /// The text of the message.
        text: Arc<str>,
    },
    /// The agent made or changed its plan, outside of any call.
    Planned(Plan),
}

/// The agent, the client and the working directory of a session when it opens.
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
    /// The protocol version between them.
    pub protocol: Arc<str>,
    /// The working directory.
    pub cwd: PathBuf,
}

/// The author of a message in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The user.
    Person,
    /// The agent, to the user.
    Agent,
    /// The agent, as a thought.
    Thought,
}

impl SessionEvent {
    /// Returns the name of the event in records and exports.
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
pub(crate) enum StoredSessionEvent {
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
        text: StoredText,
    },
    Planned(StoredPlan),
}

impl StoredSessionEvent {
    pub(crate) fn encode(event: &SessionEvent, encoder: &mut Encoder<'_>) -> Self {
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
                StoredSessionEvent::Opened {
                    agent: encoder.redacted(agent),
                    agent_version: encoder.redacted(agent_version),
                    client: encoder.redacted(client),
                    client_version: encoder.redacted(client_version),
                    protocol: encoder.redacted(protocol),
                    cwd: encoder.path(cwd),
                }
            }
            SessionEvent::TurnBegan => StoredSessionEvent::TurnBegan,
            SessionEvent::TurnEnded { stop } => StoredSessionEvent::TurnEnded {
                stop: encoder.redacted(stop),
            },
            SessionEvent::Said { by, text } => StoredSessionEvent::Said {
                by: *by,
                text: encoder.text(text),
            },
            SessionEvent::Planned(plan) => {
                StoredSessionEvent::Planned(StoredPlan::encode(plan, encoder))
            }
        }
    }

    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<SessionEvent, DecodeError> {
        Ok(match self {
            StoredSessionEvent::Opened {
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
            StoredSessionEvent::TurnBegan => SessionEvent::TurnBegan,
            StoredSessionEvent::TurnEnded { stop } => SessionEvent::TurnEnded { stop },
            StoredSessionEvent::Said { by, text } => SessionEvent::Said {
                by,
                text: text.decode(blobs)?,
            },
            StoredSessionEvent::Planned(plan) => SessionEvent::Planned(plan.decode()),
        })
    }
}
