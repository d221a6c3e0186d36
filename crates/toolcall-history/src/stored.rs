//! The form in which events are stored: texts without secrets, long ones by hash, all of it JSON.
//! It changes values of the heart into that form and back; it opens nothing and writes nothing.

mod asked;
mod command;
mod content;
mod event;
mod finish;
mod intent;
mod session;
mod text;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toolcall::Event;

pub use session::{SessionEvent, SessionFacts, Speaker};
pub(crate) use text::{Blobs, Hash, Packer, hash_of, hex};

/// What is stored cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DecodeError {
    /// It is not written as this version writes it.
    #[error("what is stored cannot be read: {0}")]
    Malformed(String),
    /// A long text is not where its hash says.
    #[error("the text `{0}` is missing; the history was changed from outside")]
    MissingText(String),
}

/// An event as JSON.
pub(crate) fn event_to_json(event: &Event, packer: &mut Packer<'_>) -> String {
    to_json(&event::Event::pack(event, packer))
}

/// The event that this JSON is.
pub(crate) fn event_from_json(body: &str, blobs: &dyn Blobs) -> Result<Event, DecodeError> {
    from_json::<event::Event>(body)?.unpack(blobs)
}

/// What happened to a session as JSON.
pub(crate) fn session_to_json(event: &SessionEvent, packer: &mut Packer<'_>) -> String {
    to_json(&session::Form::pack(event, packer))
}

/// What happened to a session.
pub(crate) fn session_from_json(
    body: &str,
    blobs: &dyn Blobs,
) -> Result<SessionEvent, DecodeError> {
    from_json::<session::Form>(body)?.unpack(blobs)
}

/// The forms have string keys and no fallible parts, so that writing them cannot fail.
fn to_json(form: &impl Serialize) -> String {
    serde_json::to_string(form).unwrap_or_default()
}

/// What this JSON is.
pub(crate) fn from_json<T: DeserializeOwned>(body: &str) -> Result<T, DecodeError> {
    serde_json::from_str(body).map_err(|error| DecodeError::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests;
