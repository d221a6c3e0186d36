//! An export, read back line by line.
//! It reads what was exported; it neither opens nor changes a history.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcall::{CallId, Moment, Record, SessionId};

use crate::form::{self, Blobs, FormError, Hash, SessionEvent};
use crate::rows::moment;

/// One line of an export.
#[derive(Clone, Debug, PartialEq)]
pub enum Exported {
    /// Something happened to a call.
    Call(Record),
    /// Something happened to a session beside its calls.
    Session {
        /// The session.
        session: SessionId,
        /// When.
        at: Moment,
        /// What.
        event: SessionEvent,
    },
}

#[derive(Deserialize)]
struct Line {
    session: String,
    at: i64,
    call: Option<String>,
    body: Box<RawValue>,
}

impl Exported {
    /// Reads a line as [`Archive::export`](crate::Archive::export) writes it.
    pub fn read(line: &str) -> Result<Self, FormError> {
        let line: Line = form::from_json(line)?;
        let (session, at) = (SessionId::new(line.session), moment(line.at));
        Ok(match line.call {
            Some(call) => Exported::Call(Record {
                session,
                call: CallId::new(call),
                at,
                event: form::event_from_json(line.body.get(), &EveryTextInPlace)?,
            }),
            None => Exported::Session {
                session,
                at,
                event: form::session_from_json(line.body.get(), &EveryTextInPlace)?,
            },
        })
    }
}

/// An export puts nothing aside.
struct EveryTextInPlace;

impl Blobs for EveryTextInPlace {
    fn blob(&self, _hash: &Hash) -> Option<Vec<u8>> {
        None
    }
}
