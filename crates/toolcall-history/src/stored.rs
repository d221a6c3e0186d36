//! The stored form of events: JSON with secrets redacted and long texts replaced by their hash.
//! It encodes values of the core and decodes them again; it opens and writes nothing.

mod command;
mod content;
mod event;
mod finish;
mod form;
mod intent;
mod session;
mod text;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toolcall::Event;

pub use session::{SessionEvent, SessionFacts, Speaker};
pub(crate) use text::{BlobSource, Encoder, Hash, hash_of, hex};

/// Why a stored record cannot be decoded.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// The JSON is not what this version writes.
    #[error("a stored record cannot be decoded: {0}")]
    Malformed(String),
    /// No stored text has this hash.
    #[error("the text `{0}` is missing; the history was changed from outside")]
    MissingText(String),
}

/// Encodes an event of a call as JSON.
pub(crate) fn event_to_json(event: &Event, encoder: &mut Encoder<'_>) -> String {
    to_json(&event::StoredEvent::encode(event, encoder))
}

/// Decodes an event of a call.
pub(crate) fn event_from_json(body: &str, blobs: &dyn BlobSource) -> Result<Event, DecodeError> {
    from_json::<event::StoredEvent>(body)?.decode(blobs)
}

/// Encodes an event of a session as JSON.
pub(crate) fn session_to_json(event: &SessionEvent, encoder: &mut Encoder<'_>) -> String {
    to_json(&session::StoredSessionEvent::encode(event, encoder))
}

/// Decodes an event of a session.
pub(crate) fn session_from_json(
    body: &str,
    blobs: &dyn BlobSource,
) -> Result<SessionEvent, DecodeError> {
    from_json::<session::StoredSessionEvent>(body)?.decode(blobs)
}

/// Serializes a stored value. It has string keys and no fallible parts, so this cannot fail.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Deserializes a stored value.
pub(crate) fn from_json<T: DeserializeOwned>(body: &str) -> Result<T, DecodeError> {
    serde_json::from_str(body).map_err(|error| DecodeError::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests;
