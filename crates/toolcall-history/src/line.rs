//! Lines of lists: a session, a call, a question, and which calls a list shows.
//! Values only, read from rows; nothing here writes.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Row;
use rusqlite::types::Value;
use toolcall::{CallId, Effect, Kind, SessionId, Timestamp};

use crate::rows::moment;

/// A session, in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: SessionId,
    /// The agent, if it was told.
    pub agent: String,
    /// The client, if it was told.
    pub client: String,
    /// The folder it works in, if it was told.
    pub cwd: String,
    /// When it began.
    pub began: Timestamp,
    /// When it was last heard of.
    pub latest: Timestamp,
    /// How many records there are of it.
    pub records: u64,
    /// How many calls it has made.
    pub calls: u64,
}

/// A call, in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    /// Its session.
    pub session: SessionId,
    /// Its id.
    pub id: CallId,
    /// The call on whose behalf it ran.
    pub parent: Option<CallId>,
    /// The tool's name.
    pub tool: String,
    /// Its category.
    pub kind: Kind,
    /// One line for people.
    pub title: String,
    /// How it ended, in a word, or where it stands.
    pub status: String,
    /// Why it ended so.
    pub reason: Option<String>,
    /// What was decided.
    pub effect: Option<Effect>,
    /// Who decided: `rule`, `person` or `unseen`.
    pub judge: Option<String>,
    /// Which rule decided, or was kept.
    pub rule: Option<String>,
    /// When it was announced.
    pub announced: Timestamp,
    /// When it started.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How long it waited for other calls.
    pub queued: Duration,
    /// How long it waited for people.
    pub waited: Duration,
    /// How long it ran.
    pub ran: Duration,
    /// How much it printed and gave back, in bytes.
    pub bytes: u64,
}

/// A question about a call, in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRow {
    /// Which rule made it a question.
    pub because: String,
    /// When it was asked.
    pub asked: Timestamp,
    /// When it was answered.
    pub answered: Option<Timestamp>,
    /// What was answered.
    pub effect: Option<Effect>,
    /// Who answered: `rule`, `person` or `unseen`.
    pub judge: Option<String>,
    /// Which rule answered, or was kept.
    pub rule: Option<String>,
}

/// Which calls a list shows. The newest come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only of this kind.
    pub kind: Option<Kind>,
    /// Only those that ended so, or stand there: the word in [`CallRow::status`].
    pub status: Option<String>,
    /// Only those that touched this file, or something beneath this folder.
    pub path: Option<PathBuf>,
    /// Only ended ones with all of these words in title, input or output.
    pub text: Option<String>,
    /// Only those announced then or later.
    pub from: Option<Timestamp>,
    /// Only those announced before.
    pub until: Option<Timestamp>,
    /// At most so many; nothing means a hundred.
    pub limit: Option<usize>,
}

const USUAL_LIMIT: usize = 100;

/// The columns that a [`CallRow`] is read from.
pub(crate) const CALL_COLUMNS: &str =
    "sessions.name, calls.name, parent, tool, kind, calls.title, status, reason,
    effect, judge, rule, announced, started, ended, queued, waited, ran, bytes";

impl CallRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let optional = |at: usize| row.get::<_, Option<i64>>(at).map(|at| at.map(moment));
        let parent: Option<String> = row.get(2)?;
        Ok(Self {
            session: SessionId::new(row.get::<_, String>(0)?),
            id: CallId::new(row.get::<_, String>(1)?),
            parent: parent.map(CallId::new),
            tool: row.get(3)?,
            kind: kind_of(row.get_ref(4)?.as_str().unwrap_or_default()),
            title: row.get(5)?,
            status: row.get(6)?,
            reason: row.get(7)?,
            effect: effect_of(row.get(8)?),
            judge: row.get(9)?,
            rule: row.get(10)?,
            announced: moment(row.get(11)?),
            started: optional(12)?,
            ended: optional(13)?,
            queued: span(row.get(14)?),
            waited: span(row.get(15)?),
            ran: span(row.get(16)?),
            bytes: row.get::<_, i64>(17)?.unsigned_abs(),
        })
    }
}

impl QuestionRow {
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            because: row.get(0)?,
            asked: moment(row.get(1)?),
            answered: row.get::<_, Option<i64>>(2)?.map(moment),
            effect: effect_of(row.get(3)?),
            judge: row.get(4)?,
            rule: row.get(5)?,
        })
    }
}

/// A time as SQLite kept it.
pub(crate) fn span(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// The kind of this name; one that is not known is another.
pub(crate) fn kind_of(name: &str) -> Kind {
    let named = |kind: &Kind| kind.as_str() == name;
    Kind::ALL.into_iter().find(named).unwrap_or_default()
}

fn effect_of(name: Option<String>) -> Option<Effect> {
    match name.as_deref() {
        Some("allow") => Some(Effect::Allow),
        Some("deny") => Some(Effect::Deny),
        Some(_) | None => None,
    }
}

impl Filter {
    /// The statement that finds the calls, and its values.
    pub(crate) fn statement(&self) -> (String, Vec<Value>) {
        let mut tests: Vec<String> = Vec::new();
        let mut values: Vec<Value> = Vec::new();
        let mut test = |sql: &str, some: Vec<Value>| {
            tests.push(sql.to_owned());
            values.extend(some);
        };
        if let Some(text) = &self.text {
            test("texts MATCH ?", vec![quoted(text).into()]);
        }
        if let Some(session) = &self.session {
            test("sessions.name = ?", vec![session.to_string().into()]);
        }
        if let Some(tool) = &self.tool {
            test("tool = ?", vec![tool.clone().into()]);
        }
        if let Some(kind) = self.kind {
            test("kind = ?", vec![kind.as_str().to_owned().into()]);
        }
        if let Some(status) = &self.status {
            test("status = ?", vec![status.clone().into()]);
        }
        if let Some(path) = &self.path {
            let path = path.to_string_lossy().trim_end_matches('/').to_owned();
            // What lies beneath a folder begins with its name and `/`; `0` is the character after that.
            let (from, to) = (format!("{path}/"), format!("{path}0"));
            let sql = "calls.id IN (SELECT call FROM touches WHERE path = ? UNION ALL
                       SELECT call FROM touches WHERE path >= ? AND path < ?)";
            test(sql, vec![path.into(), from.into(), to.into()]);
        }
        if let Some(from) = self.from {
            test(
                "announced >= ?",
                vec![crate::record_writer::micros(from).into()],
            );
        }
        if let Some(until) = self.until {
            test(
                "announced < ?",
                vec![crate::record_writer::micros(until).into()],
            );
        }
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        (self.select(&tests), values)
    }

    /// Ids of calls grow, and so the newest come first without sorting.
    fn select(&self, tests: &[String]) -> String {
        let (source, order) = match self.text {
            Some(_) => ("texts JOIN calls ON calls.id = texts.rowid", "texts.rowid"),
            None => ("calls", "calls.id"),
        };
        let wanted = if tests.is_empty() {
            String::new()
        } else {
            format!("WHERE {}", tests.join(" AND "))
        };
        format!(
            "SELECT {CALL_COLUMNS} FROM {source} CROSS JOIN sessions ON sessions.id = calls.session
             {wanted} ORDER BY {order} DESC LIMIT ?"
        )
    }
}

/// Every word as it is: nothing in it is an operator.
fn quoted(text: &str) -> String {
    let words = text.split_whitespace();
    let quoted = words.map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    let all: Vec<String> = quoted.collect();
    if all.is_empty() {
        "\"\"".to_owned()
    } else {
        all.join(" ")
    }
}
