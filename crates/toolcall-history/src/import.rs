//! An export, read back line by line.
//! It reads what was exported; it neither opens nor changes a history.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcall::{CallId, Record, SessionId, Timestamp};

use crate::rows::moment;
use crate::stored::{self, Blobs, DecodeError, Hash, SessionEvent};

/// One line of an export.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportLine {
    /// Something happened to a call.
    Call(Record),
    /// Something happened to a session beside its calls.
    Session {
        /// The session.
        session: SessionId,
        /// When.
        at: Timestamp,
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

impl ExportLine {
    /// Reads a line as [`Archive::export`](crate::Archive::export) writes it.
    pub fn read(line: &str) -> Result<Self, DecodeError> {
        let line: Line = stored::from_json(line)?;
        let (session, at) = (SessionId::new(line.session), moment(line.at));
        Ok(match line.call {
            Some(call) => ExportLine::Call(Record {
                session,
                call: CallId::new(call),
                at,
                event: stored::event_from_json(line.body.get(), &EveryTextInPlace)?,
            }),
            None => ExportLine::Session {
                session,
                at,
                event: stored::session_from_json(line.body.get(), &EveryTextInPlace)?,
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
