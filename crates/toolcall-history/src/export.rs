//! A history as lines of JSON: one record a line, with every text in its place.
//! What leaves is redacted once more, by the rules of the day it leaves.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;
use toolcall::SessionId;

use crate::archive::Archive;
use crate::error::HistoryError;
use crate::redact::Redactor;
use crate::rows::Stored;
use crate::stored::{
    self, Hash, Packer, event_from_json, event_to_json, session_from_json, session_to_json,
};

/// An export broke off.
#[derive(Debug, Error)]
pub enum ExportError {
    /// It could not be written.
    #[error("the export could not be written: {0}")]
    Write(#[from] io::Error),
    /// The history could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl From<rusqlite::Error> for ExportError {
    fn from(error: rusqlite::Error) -> Self {
        ExportError::History(error.into())
    }
}

/// Which sessions are exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// All of them.
    Everything,
    /// This one.
    Session(SessionId),
}

#[derive(Serialize)]
struct Line<'a> {
    session: &'a str,
    seq: i64,
    at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    event: &'a str,
    body: &'a RawValue,
    hash: String,
}

impl Archive {
    /// Writes one line a record, session by session, in order; gives their number.
    pub fn export(&self, extent: &ExportScope, out: &mut dyn Write) -> Result<u64, ExportError> {
        let sql = "SELECT sessions.name, seq, at, calls.name, sort, body, hash FROM records
                   JOIN sessions ON sessions.id = records.session
                   LEFT JOIN calls ON calls.id = records.call
                   WHERE ?1 IS NULL OR sessions.name = ?1 ORDER BY records.session, seq";
        let session = match extent {
            ExportScope::Everything => None,
            ExportScope::Session(session) => Some(session.as_str()),
        };
        let redactor = Redactor::get();
        let look = self.db.unchecked_transaction()?;
        let mut find = look.prepare(sql)?;
        let mut rows = find.query([session])?;
        let mut lines = 0;
        while let Some(row) = rows.next()? {
            let text = |at: usize| {
                row.get_ref(at)
                    .map(|text| text.as_str().unwrap_or_default())
            };
            let call = Some(text(3)?).filter(|name| !name.is_empty());
            let body = self.exported(text(5)?, call, redactor)?;
            let line = Line {
                session: text(0)?,
                seq: row.get(1)?,
                at: row.get(2)?,
                call,
                event: text(4)?,
                body: &body,
                hash: stored::hex(&row.get::<_, Hash>(6)?),
            };
            serde_json::to_writer(&mut *out, &line).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
            lines += 1;
        }
        Ok(lines)
    }

    fn exported(
        &self,
        body: &str,
        call: Option<&str>,
        redactor: &Redactor,
    ) -> Result<Box<RawValue>, ExportError> {
        let blobs = Stored(&self.db);
        let mut packer = Packer::inline(redactor);
        let written = match call {
            Some(_) => {
                let event = event_from_json(body, &blobs).map_err(HistoryError::from)?;
                event_to_json(&event, &mut packer)
            }
            None => {
                let event = session_from_json(body, &blobs).map_err(HistoryError::from)?;
                session_to_json(&event, &mut packer)
            }
        };
        RawValue::from_string(written).map_err(|error| ExportError::Write(error.into()))
    }
}
