//! Verifies a history: no record was changed, removed or inserted, and the rows of calls match their records.
//! It cannot find a complete rewrite that includes the hashes.

use std::collections::HashMap;

use rusqlite::Connection;
use thiserror::Error;
use toolcall::{CallId, SessionId};

use crate::archive::Archive;
use crate::call_summary::CallSummary;
use crate::chain::{self, ChainLink};
use crate::error::HistoryError;
use crate::redact::Redactor;
use crate::rows::{CallColumns, DbBlobs, timestamp};
use crate::settings::KeepContent;
use crate::stored::{self, Encoder, Hash, hash_of};

/// What was verified without an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of records.
    pub records: u64,
}

/// The first inconsistency that was found.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VerifyError {
    /// The hash of a record does not follow from the record and the hash before it.
    #[error("record {seq} of `{session}` was changed, or one before it was removed")]
    Changed {
        /// The session.
        session: SessionId,
        /// Its sequence number, counted from 1.
        seq: i64,
    },
    /// A record is missing.
    #[error("record {seq} of `{session}` is missing")]
    Missing {
        /// The session.
        session: SessionId,
        /// Its sequence number, counted from 1.
        seq: i64,
    },
    /// The last record of a session is not the one that the session names.
    #[error("`{session}` does not end at record {seq}, as its row states")]
    Cut {
        /// The session.
        session: SessionId,
        /// The sequence number where it should end.
        seq: i64,
    },
    /// A long text does not match its hash.
    #[error("a text of `{session}` was changed: `{hash}`")]
    Text {
        /// A session that uses it.
        session: SessionId,
        /// Its hash.
        hash: String,
    },
    /// The row of a call does not match its records.
    #[error("the row of call `{call}` of `{session}` does not match its records")]
    Row {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
    },
    /// The history could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

impl From<rusqlite::Error> for VerifyError {
    fn from(error: rusqlite::Error) -> Self {
        VerifyError::History(error.into())
    }
}

impl Archive {
    /// Verifies every record, text and row. The hash chain has no key: it reveals edits and gaps, not a
    /// complete rewrite with new hashes.
    pub fn verify(&self) -> Result<VerifyReport, VerifyError> {
        // One snapshot, whatever other processes write meanwhile.
        let snapshot = self.db.unchecked_transaction()?;
        let mut verified = VerifyReport::default();
        for session in sessions(&snapshot)? {
            verified.records += verify_session(&snapshot, &session)?;
            verified.sessions += 1;
        }
        Ok(verified)
    }
}

/// A session with the length and the last hash that its row states.
struct SessionChain {
    row: i64,
    id: SessionId,
    length: i64,
    head: Hash,
}

fn sessions(db: &Connection) -> Result<Vec<SessionChain>, VerifyError> {
    let mut find = db.prepare("SELECT id, name, length, head FROM sessions ORDER BY id")?;
    let rows = find.query_map([], |row| {
        Ok(SessionChain {
            row: row.get(0)?,
            id: SessionId::new(row.get::<_, String>(1)?),
            length: row.get(2)?,
            head: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn verify_session(db: &Connection, session: &SessionChain) -> Result<u64, VerifyError> {
    verify_texts(db, session)?;
    let sql =
        "SELECT seq, at, sort, coalesce(calls.name, ''), body, hash, records.call FROM records
               LEFT JOIN calls ON calls.id = records.call
               WHERE records.session = ?1 ORDER BY seq";
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query([session.row])?;
    let (mut length, mut head) = (0, chain::root(session.id.as_str()));
    let mut summaries: HashMap<i64, CallSummary> = HashMap::new();
    while let Some(row) = rows.next()? {
        let text = |at: usize| {
            row.get_ref(at)
                .map(|text| text.as_str().unwrap_or_default())
        };
        let link = ChainLink {
            seq: row.get(0)?,
            at: row.get(1)?,
            event_name: text(2)?,
            call: text(3)?,
            body: text(4)?,
        };
        length += 1;
        if link.seq != length {
            return Err(VerifyError::Missing {
                session: session.id.clone(),
                seq: length,
            });
        }
        head = link.after(&head);
        if row.get::<_, Hash>(5)? != head {
            return Err(VerifyError::Changed {
                session: session.id.clone(),
                seq: length,
            });
        }
        if let Some(call) = row.get::<_, Option<i64>>(6)? {
            fold_record(db, session, call, &link, &mut summaries)?;
        }
    }
    if length != session.length || head != session.head {
        return Err(VerifyError::Cut {
            session: session.id.clone(),
            seq: session.length,
        });
    }
    verify_rows(db, session, &summaries)?;
    Ok(length.unsigned_abs())
}

fn fold_record(
    db: &Connection,
    session: &SessionChain,
    row: i64,
    link: &ChainLink<'_>,
    summaries: &mut HashMap<i64, CallSummary>,
) -> Result<(), VerifyError> {
    let event = stored::event_from_json(link.body, &DbBlobs(db)).map_err(HistoryError::from)?;
    let at = timestamp(link.at);
    match summaries.get_mut(&row) {
        Some(summary) => summary.apply(link.seq, at, &event),
        None => {
            let id = CallId::new(link.call);
            summaries.insert(
                row,
                CallSummary::begin(&session.id, &id, link.seq, at, &event),
            );
        }
    }
    Ok(())
}

fn verify_rows(
    db: &Connection,
    session: &SessionChain,
    summaries: &HashMap<i64, CallSummary>,
) -> Result<(), VerifyError> {
    let encoder = Encoder::new(Redactor::get(), KeepContent::Contents, usize::MAX);
    for (row, summary) in summaries {
        if !CallColumns::new(summary, &encoder).is_stored(db, *row)? {
            return Err(VerifyError::Row {
                session: session.id.clone(),
                call: summary.call.id().clone(),
            });
        }
    }
    Ok(())
}

fn verify_texts(db: &Connection, session: &SessionChain) -> Result<(), VerifyError> {
    let sql = "SELECT hash, body FROM blob_uses JOIN blobs ON blobs.id = blob WHERE session = ?1";
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query([session.row])?;
    while let Some(row) = rows.next()? {
        let hash: Hash = row.get(0)?;
        let body = row.get_ref(1)?.as_blob().unwrap_or_default();
        if hash_of(body) != hash {
            return Err(VerifyError::Text {
                session: session.id.clone(),
                hash: stored::hex(&hash),
            });
        }
    }
    Ok(())
}
