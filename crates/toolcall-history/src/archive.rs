//! A history opened for reading: sessions, calls and their records.
//! It changes nothing. Several archives may read while others write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use toolcall::{CallId, Record, SessionId, Timestamp};

use crate::error::HistoryError;
use crate::file::{open_for_reading, with_suffix};
use crate::query::{CALL_COLUMNS, CallFilter, CallRow, QuestionRow, SessionRow};
use crate::rows::{self, DbBlobs, timestamp};
use crate::stored::{self, SessionEvent, Speaker};
use crate::undo::{self, UndoContent, UndoError};

/// A history opened for reading.
///
/// Reading never blocks the processes that write.
#[derive(Debug)]
pub struct Archive {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
}

/// One call with all of its records.
#[derive(Clone, Debug, PartialEq)]
pub struct CallHistory {
    /// The row that lists show.
    pub line: CallRow,
    /// Its records in order. [`toolcall::replay`] folds them into the call.
    pub records: Vec<Record>,
    /// The permission questions about it, with their times.
    pub questions: Vec<QuestionRow>,
    /// Whether it can be undone.
    pub undo: UndoState,
}

/// Whether the file contents needed to undo a call are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoState {
    /// They are stored.
    Yes,
    /// They are not stored, or the call changed no file.
    No,
}

/// The row ids of a call, and the range of its records.
struct CallPosition {
    session: i64,
    call: i64,
    first: i64,
    last: i64,
}

impl Archive {
    /// Opens an existing history.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        Ok(Self {
            db: open_for_reading(path)?,
            path: path.to_owned(),
        })
    }

    /// Returns every record of a session's calls, in order.
    pub fn records(&self, session: &SessionId) -> Result<Vec<Record>, HistoryError> {
        let sql = "SELECT calls.name, records.at, records.body FROM records
                   JOIN calls ON calls.id = records.call
                   WHERE records.session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY seq";
        let mut find = self.db.prepare_cached(sql)?;
        let mut rows = find.query([session.as_str()])?;
        let mut records = Vec::new();
        while let Some(row) = rows.next()? {
            records.push(Record {
                session: session.clone(),
                call: CallId::new(row.get::<_, String>(0)?),
                at: timestamp(row.get(1)?),
                event: stored::event_from_json(
                    row.get_ref(2)?.as_str().unwrap_or_default(),
                    &DbBlobs(&self.db),
                )?,
            });
        }
        Ok(records)
    }

    /// Returns every session, the most recently active first.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, HistoryError> {
        let sql = "SELECT name, agent, client, cwd, began, latest, length,
                     (SELECT count(*) FROM calls WHERE calls.session = sessions.id)
                   FROM sessions ORDER BY latest DESC, id DESC";
        let mut find = self.db.prepare_cached(sql)?;
        let rows = find.query_map([], |row| {
            Ok(SessionRow {
                id: SessionId::new(row.get::<_, String>(0)?),
                agent: row.get(1)?,
                client: row.get(2)?,
                cwd: row.get(3)?,
                began: timestamp(row.get(4)?),
                latest: timestamp(row.get(5)?),
                records: row.get::<_, i64>(6)?.unsigned_abs(),
                calls: row.get::<_, i64>(7)?.unsigned_abs(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the calls that match a filter, the newest first.
    pub fn calls(&self, filter: &CallFilter) -> Result<Vec<CallRow>, HistoryError> {
        let (sql, values) = filter.statement();
        let mut find = self.db.prepare_cached(&sql)?;
        let rows = find.query_map(params_from_iter(values), CallRow::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns one call with all of its records.
    pub fn call(&self, session: &SessionId, id: &CallId) -> Result<CallHistory, HistoryError> {
        let position = self.position(session, id)?;
        let sql = format!(
            "SELECT {CALL_COLUMNS} FROM calls JOIN sessions ON sessions.id = calls.session
             WHERE calls.id = ?1"
        );
        let line = self.db.query_row(&sql, [position.call], CallRow::read)?;
        let mut records = Vec::new();
        let range = position.first..=position.last;
        for row in rows::read_records(&self.db, position.session, position.call, range)? {
            records.push(Record {
                session: session.clone(),
                call: id.clone(),
                at: row.at,
                event: stored::event_from_json(&row.body, &DbBlobs(&self.db))?,
            });
        }
        Ok(CallHistory {
            line,
            records,
            questions: self.questions(position.call)?,
            undo: match self.undo_file(position.call)? {
                Some(_) => UndoState::Yes,
                None => UndoState::No,
            },
        })
    }

    /// Returns the sessions that have a call with this id. Ids that another agent chose may repeat.
    pub fn sessions_of(&self, id: &CallId) -> Result<Vec<SessionId>, HistoryError> {
        let sql = "SELECT sessions.name FROM calls JOIN sessions ON sessions.id = calls.session
                   WHERE calls.name = ?1 ORDER BY calls.id";
        let mut find = self.db.prepare_cached(sql)?;
        let rows = find.query_map([id.as_str()], |row| row.get::<_, String>(0))?;
        let named = rows.map(|name| name.map(SessionId::new));
        Ok(named.collect::<Result<_, _>>()?)
    }

    /// Returns the file contents stored for undoing a call. [`UndoContent::restore`] writes them back.
    pub fn undo_content(&self, session: &SessionId, id: &CallId) -> Result<UndoContent, UndoError> {
        let position = self.position(session, id)?;
        let file = self.undo_file(position.call)?.ok_or(UndoError::NotKept)?;
        undo::read_undo_file(&with_suffix(&self.path, ".undo").join(file))
    }

    /// Returns the failures of the history itself, the oldest first.
    pub fn incidents(&self) -> Result<Vec<(Timestamp, String)>, HistoryError> {
        let mut find = self
            .db
            .prepare("SELECT at, what FROM incidents ORDER BY id")?;
        let rows = find.query_map([], |row| Ok((timestamp(row.get(0)?), row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn questions(&self, call: i64) -> Result<Vec<QuestionRow>, HistoryError> {
        let sql = "SELECT because, asked, answered, effect, judge, rule FROM questions
                   WHERE call = ?1 ORDER BY place";
        let mut find = self.db.prepare_cached(sql)?;
        let rows = find.query_map([call], QuestionRow::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn undo_file(&self, call: i64) -> Result<Option<String>, HistoryError> {
        let mut find = self
            .db
            .prepare_cached("SELECT file FROM undos WHERE call = ?1")?;
        Ok(find.query_row([call], |row| row.get(0)).optional()?)
    }

    fn position(&self, session: &SessionId, id: &CallId) -> Result<CallPosition, HistoryError> {
        let sql = "SELECT session, id, first, last FROM calls
                   WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND name = ?2";
        let mut find = self.db.prepare_cached(sql)?;
        let found = find.query_row([session.as_str(), id.as_str()], |row| {
            Ok(CallPosition {
                session: row.get(0)?,
                call: row.get(1)?,
                first: row.get(2)?,
                last: row.get(3)?,
            })
        });
        let missing = || HistoryError::Missing(format!("call `{id}` of `{session}`"));
        found.optional()?.ok_or_else(missing)
    }

    /// Returns the events of a session that belong to no call, in order.
    pub fn session_events(
        &self,
        session: &SessionId,
    ) -> Result<Vec<(Timestamp, SessionEvent)>, HistoryError> {
        let sql = "SELECT at, body FROM records WHERE call IS NULL
                   AND session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY seq";
        let mut find = self.db.prepare_cached(sql)?;
        let mut rows = find.query([session.as_str()])?;
        let mut events = Vec::new();
        while let Some(row) = rows.next()? {
            let body: String = row.get(1)?;
            let event = stored::session_from_json(&body, &DbBlobs(&self.db))?;
            events.push((timestamp(row.get(0)?), event));
        }
        Ok(events)
    }

    /// Returns the first message of the user in a session that satisfies a predicate.
    pub fn first_user_message(
        &self,
        session: &SessionId,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Arc<str>>, HistoryError> {
        let sql = "SELECT body FROM records WHERE call IS NULL
                   AND session = (SELECT id FROM sessions WHERE name = ?1) ORDER BY seq";
        let mut find = self.db.prepare_cached(sql)?;
        let mut rows = find.query([session.as_str()])?;
        while let Some(row) = rows.next()? {
            let body: String = row.get(0)?;
            let event = stored::session_from_json(&body, &DbBlobs(&self.db))?;
            if let SessionEvent::Said {
                by: Speaker::Person,
                text,
            } = event
                && is_wanted(&text)
            {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Runs SQLite's own integrity check over the file.
    pub fn integrity(&self) -> Result<(), HistoryError> {
        let sql = "PRAGMA integrity_check(1)";
        let said: String = self.db.query_row(sql, [], |row| row.get(0))?;
        if said == "ok" {
            Ok(())
        } else {
            Err(HistoryError::Damaged(said))
        }
    }
}
