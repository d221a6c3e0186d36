//! Reads an export back, line by line.
//! It neither opens nor changes a history.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolcall::{CallId, Record, SessionId, Timestamp};

use crate::rows::timestamp;
use crate::stored::{self, BlobSource, DecodeError, Hash, SessionEvent};

/// One line of an export.
#[derive(Clone, Debug, PartialEq)]
pub enum ExportLine {
    /// A record of a call.
    Call(Record),
    /// An event of a session.
    Session {
        /// The session.
        session: SessionId,
        /// When it happened.
        at: Timestamp,
        /// What happened.
        event: SessionEvent,
    },
}

#[derive(Deserialize)]
struct ImportedLine {
    session: String,
    at: i64,
    call: Option<String>,
    body: Box<RawValue>,
}

impl ExportLine {
    /// Parses a line that [`Archive::export`](crate::Archive::export) wrote.
    pub fn read(line: &str) -> Result<Self, DecodeError> {
        let line: ImportedLine = stored::from_json(line)?;
        let (session, at) = (SessionId::new(line.session), timestamp(line.at));
        Ok(match line.call {
            Some(call) => ExportLine::Call(Record {
                session,
                call: CallId::new(call),
                at,
                event: stored::event_from_json(line.body.get(), &NoBlobs)?,
            }),
            None => ExportLine::Session {
                session,
                at,
                event: stored::session_from_json(line.body.get(), &NoBlobs)?,
            },
        })
    }
}

/// An export holds every text inline, so there are no blobs.
struct NoBlobs;

impl BlobSource for NoBlobs {
    fn blob(&self, _hash: &Hash) -> Option<Vec<u8>> {
        None
    }
}
