//! A history opened for reading: sessions, calls, their records.
//! It changes nothing, and several may read while others write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params_from_iter};
use toolcall::{CallId, Record, SessionId, Timestamp};

use crate::error::HistoryError;
use crate::file::{beside, open_to_read};
use crate::line::{CALL_COLUMNS, CallRow, Filter, QuestionRow, SessionRow};
use crate::rows::{self, Stored, moment};
use crate::stored::{self, SessionEvent, Speaker};
use crate::undo::{self, UndoContent, UndoError};

/// A history opened for reading.
#[derive(Debug)]
pub struct Archive {
    pub(crate) db: Connection,
    pub(crate) path: PathBuf,
}

/// One call, with all that happened to it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallHistory {
    /// As a list shows it.
    pub line: CallRow,
    /// What happened, in order: [`toolcall::replay`] folds it.
    pub records: Vec<Record>,
    /// What was asked about it, and how long people took.
    pub questions: Vec<QuestionRow>,
    /// Whether what is needed to undo it is kept.
    pub undo: UndoState,
}

/// Whether what is needed to undo a call is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoState {
    /// It is.
    Yes,
    /// It is not, or there is nothing to undo.
    No,
}

/// Where a call is.
struct Place {
    session: i64,
    call: i64,
    first: i64,
    last: i64,
}

impl Archive {
    /// Opens the history at a path; it must be there.
    pub fn open(path: &Path) -> Result<Self, HistoryError> {
        Ok(Self {
            db: open_to_read(path)?,
            path: path.to_owned(),
        })
    }

    /// Every record of a session's calls, in order.
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
                at: moment(row.get(1)?),
                event: stored::event_from_json(
                    row.get_ref(2)?.as_str().unwrap_or_default(),
                    &Stored(&self.db),
                )?,
            });
        }
        Ok(records)
    }

    /// Every session, the latest first.
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
                began: moment(row.get(4)?),
                latest: moment(row.get(5)?),
                records: row.get::<_, i64>(6)?.unsigned_abs(),
                calls: row.get::<_, i64>(7)?.unsigned_abs(),
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Calls, the newest first.
    pub fn calls(&self, filter: &Filter) -> Result<Vec<CallRow>, HistoryError> {
        let (sql, values) = filter.statement();
        let mut find = self.db.prepare_cached(&sql)?;
        let rows = find.query_map(params_from_iter(values), CallRow::read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// One call, with all that happened to it.
    pub fn call(&self, session: &SessionId, id: &CallId) -> Result<CallHistory, HistoryError> {
        let place = self.place(session, id)?;
        let sql = format!(
            "SELECT {CALL_COLUMNS} FROM calls JOIN sessions ON sessions.id = calls.session
             WHERE calls.id = ?1"
        );
        let line = self.db.query_row(&sql, [place.call], CallRow::read)?;
        let mut records = Vec::new();
        let range = place.first..=place.last;
        for row in rows::records_of(&self.db, place.session, place.call, range)? {
            records.push(Record {
                session: session.clone(),
                call: id.clone(),
                at: row.at,
                event: stored::event_from_json(&row.body, &Stored(&self.db))?,
            });
        }
        Ok(CallHistory {
            line,
            records,
            questions: self.questions(place.call)?,
            undo: match self.undo_file(place.call)? {
                Some(_) => UndoState::Yes,
                None => UndoState::No,
            },
        })
    }

    /// The sessions that have a call of this id; there is one, unless ids were made by others.
    pub fn sessions_of(&self, id: &CallId) -> Result<Vec<SessionId>, HistoryError> {
        let sql = "SELECT sessions.name FROM calls JOIN sessions ON sessions.id = calls.session
                   WHERE calls.name = ?1 ORDER BY calls.id";
        let mut find = self.db.prepare_cached(sql)?;
        let rows = find.query_map([id.as_str()], |row| row.get::<_, String>(0))?;
        let named = rows.map(|name| name.map(SessionId::new));
        Ok(named.collect::<Result<_, _>>()?)
    }

    /// What was kept to undo a call. [`UndoContent::restore`] gives it back.
    pub fn kept_for_undo(
        &self,
        session: &SessionId,
        id: &CallId,
    ) -> Result<UndoContent, UndoError> {
        let place = self.place(session, id)?;
        let file = self.undo_file(place.call)?.ok_or(UndoError::NotKept)?;
        undo::read(&beside(&self.path, ".undo").join(file))
    }

    /// What went wrong with the history itself, oldest first.
    pub fn incidents(&self) -> Result<Vec<(Timestamp, String)>, HistoryError> {
        let mut find = self
            .db
            .prepare("SELECT at, what FROM incidents ORDER BY id")?;
        let rows = find.query_map([], |row| Ok((moment(row.get(0)?), row.get(1)?)))?;
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

    fn place(&self, session: &SessionId, id: &CallId) -> Result<Place, HistoryError> {
        let sql = "SELECT session, id, first, last FROM calls
                   WHERE session = (SELECT id FROM sessions WHERE name = ?1) AND name = ?2";
        let mut find = self.db.prepare_cached(sql)?;
        let found = find.query_row([session.as_str(), id.as_str()], |row| {
            Ok(Place {
                session: row.get(0)?,
                call: row.get(1)?,
                first: row.get(2)?,
                last: row.get(3)?,
            })
        });
        let missing = || HistoryError::Missing(format!("call `{id}` of `{session}`"));
        found.optional()?.ok_or_else(missing)
    }

    /// What happened to a session beside its calls, in order.
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
            let event = stored::session_from_json(&body, &Stored(&self.db))?;
            events.push((moment(row.get(0)?), event));
        }
        Ok(events)
    }

    /// The first thing that the person said in a session and that is wanted.
    pub fn first_words(
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
            let event = stored::session_from_json(&body, &Stored(&self.db))?;
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

    /// Whether SQLite itself finds the file in order.
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
