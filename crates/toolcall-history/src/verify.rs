//! Verifies a history: that no record was changed, left out or put in, and that rows say what records say.
//! It finds what does not fit together; who rewrites everything, hashes included, is not found.

use std::collections::HashMap;

use rusqlite::Connection;
use thiserror::Error;
use toolcall::{CallId, SessionId};

use crate::archive::Archive;
use crate::call_summary::Life;
use crate::chain::{self, Link};
use crate::error::HistoryError;
use crate::redact::Redactor;
use crate::rows::{Stored, Summary, moment};
use crate::settings::KeepContent;
use crate::stored::{self, Hash, Packer, hash_of};

/// What was looked at, when everything fits together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Sessions.
    pub sessions: u64,
    /// Records.
    pub records: u64,
}

/// The first thing that does not fit.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum VerifyError {
    /// A record does not have the hash that follows from it and what is before it.
    #[error("record {seq} of `{session}` was changed, or one before it was taken out")]
    Changed {
        /// The session.
        session: SessionId,
        /// Its place, counted from 1.
        seq: i64,
    },
    /// A record is missing.
    #[error("record {seq} of `{session}` is missing")]
    Missing {
        /// The session.
        session: SessionId,
        /// Its place, counted from 1.
        seq: i64,
    },
    /// A session does not end as it says.
    #[error("`{session}` does not end at record {seq}, as it says")]
    Cut {
        /// The session.
        session: SessionId,
        /// Where it should end.
        seq: i64,
    },
    /// A long text is not what its hash says.
    #[error("a text of `{session}` was changed: `{hash}`")]
    Text {
        /// A session that needs it.
        session: SessionId,
        /// Its hash.
        hash: String,
    },
    /// The row of a call says something else than its records.
    #[error("the row of the call `{call}` of `{session}` says something else than its records")]
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
    /// Goes through every record, text and row. An unkeyed chain shows what was edited or is missing,
    /// not a full rewrite by somebody who computes the hashes anew.
    pub fn verify(&self) -> Result<VerifyReport, VerifyError> {
        // One look at the file, whatever is written meanwhile.
        let look = self.db.unchecked_transaction()?;
        let mut verified = VerifyReport::default();
        for ends in sessions(&look)? {
            verified.records += verify_session(&look, &ends)?;
            verified.sessions += 1;
        }
        Ok(verified)
    }
}

/// A session and where it says it ends.
struct Ends {
    row: i64,
    id: SessionId,
    length: i64,
    head: Hash,
}

fn sessions(db: &Connection) -> Result<Vec<Ends>, VerifyError> {
    let mut find = db.prepare("SELECT id, name, length, head FROM sessions ORDER BY id")?;
    let rows = find.query_map([], |row| {
        Ok(Ends {
            row: row.get(0)?,
            id: SessionId::new(row.get::<_, String>(1)?),
            length: row.get(2)?,
            head: row.get(3)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn verify_session(db: &Connection, ends: &Ends) -> Result<u64, VerifyError> {
    verify_texts(db, ends)?;
    let sql =
        "SELECT seq, at, sort, coalesce(calls.name, ''), body, hash, records.call FROM records
               LEFT JOIN calls ON calls.id = records.call
               WHERE records.session = ?1 ORDER BY seq";
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query([ends.row])?;
    let (mut length, mut head) = (0, chain::root(ends.id.as_str()));
    let mut lives: HashMap<i64, Life> = HashMap::new();
    while let Some(row) = rows.next()? {
        let text = |at: usize| {
            row.get_ref(at)
                .map(|text| text.as_str().unwrap_or_default())
        };
        let link = Link {
            seq: row.get(0)?,
            at: row.get(1)?,
            sort: text(2)?,
            call: text(3)?,
            body: text(4)?,
        };
        length += 1;
        if link.seq != length {
            return Err(VerifyError::Missing {
                session: ends.id.clone(),
                seq: length,
            });
        }
        head = link.after(&head);
        if row.get::<_, Hash>(5)? != head {
            return Err(VerifyError::Changed {
                session: ends.id.clone(),
                seq: length,
            });
        }
        if let Some(call) = row.get::<_, Option<i64>>(6)? {
            fold(db, ends, call, &link, &mut lives)?;
        }
    }
    if length != ends.length || head != ends.head {
        return Err(VerifyError::Cut {
            session: ends.id.clone(),
            seq: ends.length,
        });
    }
    verify_rows(db, ends, &lives)?;
    Ok(length.unsigned_abs())
}

fn fold(
    db: &Connection,
    ends: &Ends,
    row: i64,
    link: &Link<'_>,
    lives: &mut HashMap<i64, Life>,
) -> Result<(), VerifyError> {
    let event = stored::event_from_json(link.body, &Stored(db)).map_err(HistoryError::from)?;
    let at = moment(link.at);
    match lives.get_mut(&row) {
        Some(life) => life.apply(link.seq, at, &event),
        None => {
            let id = CallId::new(link.call);
            lives.insert(row, Life::begin(&ends.id, &id, link.seq, at, &event));
        }
    }
    Ok(())
}

fn verify_rows(
    db: &Connection,
    ends: &Ends,
    lives: &HashMap<i64, Life>,
) -> Result<(), VerifyError> {
    let packer = Packer::new(Redactor::get(), KeepContent::Contents, usize::MAX);
    for (row, life) in lives {
        if !Summary::of(life, &packer).is_stored(db, *row)? {
            return Err(VerifyError::Row {
                session: ends.id.clone(),
                call: life.call.id().clone(),
            });
        }
    }
    Ok(())
}

fn verify_texts(db: &Connection, ends: &Ends) -> Result<(), VerifyError> {
    let sql = "SELECT hash, body FROM blob_uses JOIN blobs ON blobs.id = blob WHERE session = ?1";
    let mut find = db.prepare_cached(sql)?;
    let mut rows = find.query([ends.row])?;
    while let Some(row) = rows.next()? {
        let hash: Hash = row.get(0)?;
        let body = row.get_ref(1)?.as_blob().unwrap_or_default();
        if hash_of(body) != hash {
            return Err(VerifyError::Text {
                session: ends.id.clone(),
                hash: stored::hex(&hash),
            });
        }
    }
    Ok(())
}
