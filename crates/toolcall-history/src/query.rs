//! The rows that queries return (sessions, calls, questions), and the filter for calls.
//! It builds SQL and reads rows; nothing here writes.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::Value;
use toolcall::{CallId, Effect, Kind, SessionId, Timestamp};

use crate::rows::timestamp;

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The id of the session.
    pub id: SessionId,
    /// The name of the agent; empty if unknown.
    pub agent: String,
    /// The name of the client; empty if unknown.
    pub client: String,
    /// The working directory; empty if unknown.
    pub cwd: String,
    /// When it began.
    pub began: Timestamp,
    /// When its last record was written.
    pub latest: Timestamp,
    /// The number of its records.
    pub records: u64,
    /// The number of its calls.
    pub calls: u64,
}

/// A call as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// The session it belongs to.
    pub session: SessionId,
    /// The id of the call.
    pub id: CallId,
    /// The call that started it, if a tool did.
    pub parent: Option<CallId>,
    /// The tool's name.
    pub tool: String,
    /// The kind of the call.
    pub kind: Kind,
    /// The one-line title the user sees.
    pub title: String,
    /// One word: how it ended (`completed`, `denied` …), or its status while it is open.
    pub status: String,
    /// The reason of its ending.
    pub reason: Option<String>,
    /// The permission decision.
    pub effect: Option<Effect>,
    /// Who decided: `rule`, `person` or `unseen`.
    pub judge: Option<String>,
    /// The rule that decided, or that the user chose to remember.
    pub rule: Option<String>,
    /// When it was announced.
    pub announced: Timestamp,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How long it waited for other calls.
    pub queued: Duration,
    /// How long it waited for the user.
    pub waited: Duration,
    /// How long it ran.
    pub ran: Duration,
    /// The size of its output and its result, in bytes.
    pub bytes: u64,
}

/// A permission question about a call as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRow {
    /// The rule that asked.
    pub because: String,
    /// When it was asked.
    pub asked: Timestamp,
    /// When it was answered.
    pub answered: Option<Timestamp>,
    /// The answer.
    pub effect: Option<Effect>,
    /// Who answered: `rule`, `person` or `unseen`.
    pub judge: Option<String>,
    /// The rule that answered, or that the user chose to remember.
    pub rule: Option<String>,
}

/// Selects calls for [`Archive::calls`](crate::Archive::calls). Every field that is set narrows the list.
///
/// ```
/// use toolcall_history::CallFilter;
///
/// let failed_edits = CallFilter {
///     tool: Some("edit_file".into()),
///     status: Some("failed".into()),
///     path: Some("/work/src".into()),
///     ..CallFilter::default()
/// };
/// assert_eq!(failed_edits.limit, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFilter {
    /// Only calls of this session.
    pub session: Option<SessionId>,
    /// Only calls of this tool.
    pub tool: Option<String>,
    /// Only calls of this kind.
    pub kind: Option<Kind>,
    /// Only calls with this [`CallRow::status`].
    pub status: Option<String>,
    /// Only calls that touched this file, or a file below this directory.
    pub path: Option<PathBuf>,
    /// Only ended calls with all of these words in their title, input or output.
    pub text: Option<String>,
    /// Only calls announced at this time or later.
    pub from: Option<Timestamp>,
    /// Only calls announced before this time.
    pub until: Option<Timestamp>,
    /// At most this many calls; 100 if it is `None`.
    pub limit: Option<usize>,
}

const DEFAULT_LIMIT: usize = 100;

/// The columns that a [`CallRow`] is read from.
pub(crate) const CALL_COLUMNS: &str =
    "sessions.name, calls.name, parent, tool, kind, calls.title, status, reason,
    effect, judge, rule, announced, started, ended, queued, waited, ran, bytes";

impl CallRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let optional = |at: usize| row.get::<_, Option<i64>>(at).map(|at| at.map(timestamp));
        let parent: Option<String> = row.get(2)?;
        Ok(Self {
            session: SessionId::new(row.get::<_, String>(0)?),
            id: CallId::new(row.get::<_, String>(1)?),
            parent: parent.map(CallId::new),
            tool: row.get(3)?,
            kind: parse_kind(row.get_ref(4)?.as_str().unwrap_or_default()),
            title: row.get(5)?,
            status: row.get(6)?,
            reason: row.get(7)?,
            effect: parse_effect(row.get(8)?),
            judge: row.get(9)?,
            rule: row.get(10)?,
            announced: timestamp(row.get(11)?),
            started: optional(12)?,
            ended: optional(13)?,
            queued: duration(row.get(14)?),
            waited: duration(row.get(15)?),
            ran: duration(row.get(16)?),
            bytes: row.get::<_, i64>(17)?.unsigned_abs(),
        })
    }
}

impl QuestionRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            because: row.get(0)?,
            asked: timestamp(row.get(1)?),
            answered: row.get::<_, Option<i64>>(2)?.map(timestamp),
            effect: parse_effect(row.get(3)?),
            judge: row.get(4)?,
            rule: row.get(5)?,
        })
    }
}

/// Returns a duration from the microseconds that SQLite stores.
pub(crate) fn duration(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// Returns the kind of this name; an unknown name is [`Kind::Other`].
pub(crate) fn parse_kind(name: &str) -> Kind {
    let named = |kind: &Kind| kind.as_str() == name;
    Kind::ALL.into_iter().find(named).unwrap_or_default()
}

fn parse_effect(name: Option<String>) -> Option<Effect> {
    match name.as_deref() {
        Some("allow") => Some(Effect::Allow),
        Some("deny") => Some(Effect::Deny),
        Some(_) | None => None,
    }
}

impl CallFilter {
    /// Returns the SELECT statement and its parameters.
    pub(crate) fn statement(&self) -> (String, Vec<Value>) {
        let mut conditions: Vec<String> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut condition = |sql: &str, some: Vec<Value>| {
            conditions.push(sql.to_owned());
            values.extend(some);
        };
        if let Some(text) = &self.text {
            condition("texts MATCH ?", vec![fts_query(text).into()]);
        }
        if let Some(session) = &self.session {
            condition("sessions.name = ?", vec![session.to_string().into()]);
        }
        if let Some(tool) = &self.tool {
            condition("tool = ?", vec![tool.clone().into()]);
        }
        if let Some(kind) = self.kind {
            condition("kind = ?", vec![kind.as_str().to_owned().into()]);
        }
        if let Some(status) = &self.status {
            condition("status = ?", vec![status.clone().into()]);
        }
        if let Some(path) = &self.path {
            let path = path.to_string_lossy().trim_end_matches('/').to_owned();
            // A path below a directory begins with its name and `/`; `0` is the character after `/`.
            let (from, to) = (format!("{path}/"), format!("{path}0"));
            let sql = "calls.id IN (SELECT call FROM touches WHERE path = ? UNION ALL
                       SELECT call FROM touches WHERE path >= ? AND path < ?)";
            condition(sql, vec![path.into(), from.into(), to.into()]);
        }
        if let Some(from) = self.from {
            condition(
                "announced >= ?",
                vec![crate::record_writer::micros(from).into()],
            );
        }
        if let Some(until) = self.until {
            condition(
                "announced < ?",
                vec![crate::record_writer::micros(until).into()],
            );
        }
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        (self.select(&conditions), values)
    }

    /// Ids of calls grow, so ordering by id puts the newest first without a sort.
    fn select(&self, conditions: &[String]) -> String {
        let (source, order) = match self.text {
            Some(_) => ("texts JOIN calls ON calls.id = texts.rowid", "texts.rowid"),
            None => ("calls", "calls.id"),
        };
        let where_clause = if conditions.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", conditions.join(" AND "))
        };
        format!(
            "SELECT {CALL_COLUMNS} FROM {source} CROSS JOIN sessions ON sessions.id = calls.session
             {where_clause} ORDER BY {order} DESC LIMIT ?"
        )
    }
}

/// Returns the FTS5 query for all words of a text, quoted so that none is an operator.
fn fts_query(text: &str) -> String {
    let words = text.split_whitespace();
    let fts_query = words.map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    let all: Vec<String> = fts_query.collect();
    if all.is_empty() {
        "\"\"".to_owned()
    } else {
        all.join(" ")
    }
}
