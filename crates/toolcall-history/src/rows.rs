//! Rows of calls: what is written beside the records, so that lists and counts need no folding.
//! Everything here follows from the records; it adds nothing that they do not say.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use toolcall::{Input, Output, Timestamp};

use crate::call_summary::{Life, effect_name, judge_name, rule_of};
use crate::error::HistoryError;
use crate::record_writer::micros;
use crate::redact::Redactor;
use crate::stored::{Blobs, Hash, Packer};

/// How much of an input and of an output can be searched for.
const MOST_INDEXED: usize = 8 * 1024;

/// One record as it is stored.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) seq: i64,
    pub(crate) at: Timestamp,
    pub(crate) body: String,
}

/// The records of one call.
pub(crate) fn records_of(
    db: &Connection,
    session: i64,
    call: i64,
    range: RangeInclusive<i64>,
) -> Result<Vec<Row>, HistoryError> {
    let sql = "SELECT seq, at, body FROM records
               WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 AND call = ?4 ORDER BY seq";
    let mut find = db.prepare_cached(sql)?;
    let rows = find.query_map(params![session, range.start(), range.end(), call], |row| {
        Ok(Row {
            seq: row.get(0)?,
            at: moment(row.get(1)?),
            body: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A moment as SQLite kept it.
pub(crate) fn moment(micros: i64) -> Timestamp {
    Timestamp::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// Long texts, where they are stored.
pub(crate) struct Stored<'a>(pub(crate) &'a Connection);

impl Blobs for Stored<'_> {
    fn blob(&self, hash: &Hash) -> Option<Vec<u8>> {
        let find = self
            .0
            .prepare_cached("SELECT body FROM blobs WHERE hash = ?1");
        let found = find.ok()?.query_row([hash], |row| row.get(0)).optional();
        found.ok().flatten()
    }
}

/// What a list shows of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) name: String,
    parent: Option<String>,
    pub(crate) tool: Arc<str>,
    kind: &'static str,
    title: Arc<str>,
    status: &'static str,
    reason: Option<Arc<str>>,
    effect: Option<&'static str>,
    judge: Option<&'static str>,
    rule: Option<Arc<str>>,
    announced: i64,
    started: Option<i64>,
    ended: Option<i64>,
    queued: i64,
    waited: i64,
    ran: i64,
    bytes: i64,
    first: i64,
    last: i64,
}

impl Summary {
    pub(crate) fn of(life: &Life, packer: &Packer<'_>) -> Self {
        let call = &life.call;
        let decision = call.decision();
        let judge = decision.map(|decision| &decision.by);
        let timing = call.timing(life.latest);
        let span = |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let reason = call.ending().and_then(|ending| ending.reason());
        Self {
            name: call.id().to_string(),
            parent: call.parent().map(ToString::to_string),
            tool: packer.shared(call.tool()),
            kind: call.kind().as_str(),
            title: packer.told(call.title()),
            status: life.status(),
            reason: reason.map(|reason| packer.told(&reason)),
            effect: decision.map(|decision| effect_name(decision.effect)),
            judge: judge.map(judge_name),
            rule: judge.and_then(|judge| rule_of(judge, packer)),
            announced: micros(call.announced_at()),
            started: life.started.map(micros),
            ended: life.ended.map(micros),
            queued: span(timing.queued),
            waited: span(timing.waited),
            ran: span(timing.ran),
            bytes: i64::try_from(life.bytes()).unwrap_or(i64::MAX),
            first: life.first,
            last: life.last,
        }
    }

    pub(crate) fn insert(
        &self,
        db: &Connection,
        row: i64,
        session: i64,
        run: i64,
    ) -> Result<(), HistoryError> {
        let sql = "INSERT INTO calls(id, session, name, run, parent, tool, kind, title, status, reason,
                     effect, judge, rule, announced, started, ended, queued, waited, ran, bytes, first, last)
                   VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                     ?18, ?19, ?20, ?21, ?22)";
        db.prepare_cached(sql)?.execute(params![
            row,
            session,
            self.name,
            run,
            self.parent,
            &*self.tool,
            self.kind,
            &*self.title,
            self.status,
            self.reason.as_deref(),
            self.effect,
            self.judge,
            self.rule.as_deref(),
            self.announced,
            self.started,
            self.ended,
            self.queued,
            self.waited,
            self.ran,
            self.bytes,
            self.first,
            self.last,
        ])?;
        Ok(())
    }

    pub(crate) fn update(&self, db: &Connection, row: i64) -> Result<(), HistoryError> {
        let sql = "UPDATE calls SET tool = ?2, kind = ?3, title = ?4, status = ?5, reason = ?6, effect = ?7,
                     judge = ?8, rule = ?9, started = ?10, ended = ?11, queued = ?12, waited = ?13,
                     ran = ?14, bytes = ?15, last = ?16, parent = ?17
                   WHERE id = ?1";
        db.prepare_cached(sql)?.execute(params![
            row,
            &*self.tool,
            self.kind,
            &*self.title,
            self.status,
            self.reason.as_deref(),
            self.effect,
            self.judge,
            self.rule.as_deref(),
            self.started,
            self.ended,
            self.queued,
            self.waited,
            self.ran,
            self.bytes,
            self.last,
            self.parent,
        ])?;
        Ok(())
    }

    /// Whether the row of a call says the same as its records. Sizes are left out: what was cut or
    /// redacted is counted as it was.
    pub(crate) fn is_stored(&self, db: &Connection, row: i64) -> Result<bool, HistoryError> {
        let sql = "SELECT count(*) FROM calls WHERE id = ?1 AND name = ?2 AND tool = ?3 AND kind = ?4
                     AND status = ?5 AND effect IS ?6 AND judge IS ?7 AND rule IS ?8 AND announced = ?9
                     AND started IS ?10 AND ended IS ?11 AND waited = ?12 AND ran = ?13";
        let values = params![
            row,
            self.name,
            &*self.tool,
            self.kind,
            self.status,
            self.effect,
            self.judge,
            self.rule.as_deref(),
            self.announced,
            self.started,
            self.ended,
            self.waited,
            self.ran,
        ];
        let found: i64 = db
            .prepare_cached(sql)?
            .query_row(values, |row| row.get(0))?;
        Ok(found == 1)
    }
}

/// A row that others can point to before the call's own is written.
pub(crate) fn reserve_call(
    db: &Connection,
    session: i64,
    row: i64,
    life: &Life,
    run: i64,
) -> Result<(), HistoryError> {
    let sql = "INSERT INTO calls(id, session, name, run, tool, kind, title, status, announced, queued, waited,
                 ran, bytes, first, last)
               VALUES(?1, ?2, ?3, ?4, '', '', '', 'announced', ?5, 0, 0, 0, 0, ?6, ?6)";
    let announced = micros(life.call.announced_at());
    let name = life.call.id().as_str();
    db.prepare_cached(sql)?
        .execute(params![row, session, name, run, announced, life.first])?;
    Ok(())
}

pub(crate) fn store_questions(
    db: &Connection,
    row: i64,
    life: &Life,
    packer: &Packer<'_>,
) -> Result<(), HistoryError> {
    let sql = "INSERT OR REPLACE INTO questions(call, place, because, asked, answered, effect, judge, rule)
               VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    for (place, (asking, (asked, answered))) in
        life.call.questions().iter().zip(&life.asked).enumerate()
    {
        let answer = asking.answer.as_ref();
        let judge = answer.map(|answer| &answer.by);
        let rule = judge.and_then(|judge| rule_of(judge, packer));
        db.prepare_cached(sql)?.execute(params![
            row,
            place as i64,
            &*packer.line(asking.question.because.as_str()),
            micros(*asked),
            answered.map(micros),
            answer.map(|answer| effect_name(answer.effect)),
            judge.map(judge_name),
            rule.as_deref(),
        ])?;
    }
    Ok(())
}

pub(crate) fn store_touches(
    db: &Connection,
    row: i64,
    life: &Life,
    packer: &Packer<'_>,
) -> Result<(), HistoryError> {
    let sql = "INSERT OR IGNORE INTO touches(call, path, how) VALUES(?1, ?2, ?3)";
    for (path, how) in life.touched() {
        let path = packer.line(&path.to_string_lossy());
        db.prepare_cached(sql)?.execute(params![row, &*path, how])?;
    }
    Ok(())
}

/// The words of a call that ended.
pub(crate) fn store_texts(
    db: &Connection,
    row: i64,
    life: &Life,
    redactor: &Redactor,
) -> Result<(), HistoryError> {
    let mut input = Words::default();
    match life.input() {
        Some(Input::Json(value)) => {
            let scrubbed = redactor.scrub_json(value);
            input.collect(scrubbed.as_ref().unwrap_or(value));
        }
        Some(Input::Text(text)) => input.push(text),
        None => {}
    }
    let mut output = Words::default();
    life.given().for_each(|text| output.push(text));
    output.push_printed(life.call.output());
    let mut title = Words::default();
    title.push(life.call.tool());
    title.push(life.call.title());
    let sql = "INSERT OR REPLACE INTO texts(rowid, title, input, output) VALUES(?1, ?2, ?3, ?4)";
    let words = [title, input, output].map(|words| words.clean(redactor));
    let [title, input, output] = &words;
    db.prepare_cached(sql)?
        .execute(params![row, title, input, output])?;
    Ok(())
}

/// Words to be searched for, up to a bound.
#[derive(Default)]
struct Words {
    text: String,
    /// Something did not fit, so that the last word may be half of one.
    is_cut: bool,
}

impl Words {
    fn push(&mut self, text: &str) {
        let room = MOST_INDEXED.saturating_sub(self.text.len());
        if self.is_cut || room == 0 {
            return;
        }
        self.is_cut = text.len() > room;
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
        if !self.is_cut {
            self.text.push(' ');
        }
    }

    /// The beginning of what was printed; all of it, if it is short.
    fn push_printed(&mut self, output: &Output) {
        let [head, front, back] = output.pieces();
        match output.omitted() {
            0 => self.push(&String::from_utf8_lossy(&[head, front, back].concat())),
            _ => {
                self.push(&String::from_utf8_lossy(head));
                self.text.truncate(self.text.trim_end().len());
                self.is_cut = true;
            }
        }
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.push(text),
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            Value::Object(members) => members.values().for_each(|member| self.collect(member)),
        }
    }

    fn clean(self, redactor: &Redactor) -> String {
        if self.is_cut {
            redactor.scrub_head(&self.text)
        } else {
            redactor.scrub(&self.text).unwrap_or(self.text)
        }
    }
}
