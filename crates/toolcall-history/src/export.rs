//! Exports a history as JSON lines: one record a line, with long texts inline.
//! Every record is redacted again, with the patterns of this version.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error;
use toolcall::SessionId;

use crate::archive::Archive;
use crate::error::HistoryError;
use crate::redact::Redactor;
use crate::rows::DbBlobs;
use crate::stored::{
    self, Encoder, Hash, event_from_json, event_to_json, session_from_json, session_to_json,
};

/// Why an export failed.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The output could not be written.
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

/// The sessions to export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// All sessions.
    Everything,
    /// One session.
    Session(SessionId),
}

#[derive(Serialize)]
struct ExportedLine<'a> {
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
    /// Writes one line per record, session by session, in order; returns the number of lines.
    pub fn export(&self, scope: &ExportScope, out: &mut dyn Write) -> Result<u64, ExportError> {
        let sql = "SELECT sessions.name, seq, at, calls.name, sort, body, hash FROM records
                   JOIN sessions ON sessions.id = records.session
                   LEFT JOIN calls ON calls.id = records.call
                   WHERE ?1 IS NULL OR sessions.name = ?1 ORDER BY records.session, seq";
        let session = match scope {
            ExportScope::Everything => None,
            ExportScope::Session(session) => Some(session.as_str()),
        };
        let redactor = Redactor::get();
        let snapshot = self.db.unchecked_transaction()?;
        let mut find = snapshot.prepare(sql)?;
        let mut rows = find.query([session])?;
        let mut lines = 0;
        while let Some(row) = rows.next()? {
            let text = |at: usize| {
                row.get_ref(at)
                    .map(|text| text.as_str().unwrap_or_default())
            };
            let call = Some(text(3)?).filter(|name| !name.is_empty());
            let body = self.encode_body(text(5)?, call, redactor)?;
            let line = ExportedLine {
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

    fn encode_body(
        &self,
        body: &str,
        call: Option<&str>,
        redactor: &Redactor,
    ) -> Result<Box<RawValue>, ExportError> {
        let blobs = DbBlobs(&self.db);
        let mut encoder = Encoder::for_export(redactor);
        let written = match call {
            Some(_) => {
                let event = event_from_json(body, &blobs).map_err(HistoryError::from)?;
                event_to_json(&event, &mut encoder)
            }
            None => {
                let event = session_from_json(body, &blobs).map_err(HistoryError::from)?;
                session_to_json(&event, &mut encoder)
            }
        };
        RawValue::from_string(written).map_err(|error| ExportError::Write(error.into()))
    }
}
