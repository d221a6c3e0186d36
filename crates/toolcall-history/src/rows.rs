//! Writes the rows of calls, questions, touches and search texts, so that lists and statistics need no folding.
//! Everything in them follows from the records.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use serde_json::Value;
use toolcall::{Input, Output, Timestamp};

use crate::call_summary::{CallSummary, effect_name, judge_name, rule_of};
use crate::error::HistoryError;
use crate::record_writer::micros;
use crate::redact::Redactor;
use crate::stored::{BlobSource, Encoder, Hash};

/// How many bytes of an input or an output the search index holds.
const MAX_INDEXED: usize = 8 * 1024;

/// One row of the `records` table.
#[derive(Debug)]
pub(crate) struct StoredRecord {
    pub(crate) seq: i64,
    pub(crate) at: Timestamp,
    pub(crate) body: String,
}

/// Returns the records of one call.
pub(crate) fn read_records(
    db: &Connection,
    session: i64,
    call: i64,
    range: RangeInclusive<i64>,
) -> Result<Vec<StoredRecord>, HistoryError> {
    let sql = "SELECT seq, at, body FROM records
               WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 AND call = ?4 ORDER BY seq";
    let mut find = db.prepare_cached(sql)?;
    let rows = find.query_map(params![session, range.start(), range.end(), call], |row| {
        Ok(StoredRecord {
            seq: row.get(0)?,
            at: timestamp(row.get(1)?),
            body: row.get(2)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns a timestamp from the microseconds that SQLite stores.
pub(crate) fn timestamp(micros: i64) -> Timestamp {
    Timestamp::from_micros(u64::try_from(micros).unwrap_or_default())
}

/// The long texts in the `blobs` table.
pub(crate) struct DbBlobs<'a>(pub(crate) &'a Connection);

impl BlobSource for DbBlobs<'_> {
    fn blob(&self, hash: &Hash) -> Option<Vec<u8>> {
        let find = self
            .0
            .prepare_cached("SELECT body FROM blobs WHERE hash = ?1");
        let found = find.ok()?.query_row([hash], |row| row.get(0)).optional();
        found.ok().flatten()
    }
}

/// The columns of a row in the `calls` table.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CallColumns {
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

impl CallColumns {
    pub(crate) fn new(summary: &CallSummary, encoder: &Encoder<'_>) -> Self {
        let call = &summary.call;
        let decision = call.decision();
        let judge = decision.map(|decision| &decision.by);
        let timing = call.timing(summary.latest);
        let span = |span: std::time::Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
        let reason = call.ending().and_then(|ending| ending.reason());
        Self {
            name: call.id().to_string(),
            parent: call.parent().map(ToString::to_string),
            tool: encoder.redacted(call.tool()),
            kind: call.kind().as_str(),
            title: encoder.content_line(call.title()),
            status: summary.status(),
            reason: reason.map(|reason| encoder.content_line(&reason)),
            effect: decision.map(|decision| effect_name(decision.effect)),
            judge: judge.map(judge_name),
            rule: judge.and_then(|judge| rule_of(judge, encoder)),
            announced: micros(call.announced_at()),
            started: summary.started.map(micros),
            ended: summary.ended.map(micros),
            queued: span(timing.queued),
            waited: span(timing.waited),
            ran: span(timing.ran),
            bytes: i64::try_from(summary.bytes()).unwrap_or(i64::MAX),
            first: summary.first,
            last: summary.last,
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

    /// Returns whether the stored row equals these columns. Sizes are not compared: the row counts texts
    /// as they were before they were cut or redacted.
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

/// Inserts a placeholder row, so that other tables can reference a call before its columns are known.
pub(crate) fn reserve_call(
    db: &Connection,
    session: i64,
    row: i64,
    summary: &CallSummary,
    run: i64,
) -> Result<(), HistoryError> {
    let sql = "INSERT INTO calls(id, session, name, run, tool, kind, title, status, announced, queued, waited,
                 ran, bytes, first, last)
               VALUES(?1, ?2, ?3, ?4, '', '', '', 'announced', ?5, 0, 0, 0, 0, ?6, ?6)";
    let announced = micros(summary.call.announced_at());
    let name = summary.call.id().as_str();
    db.prepare_cached(sql)?
        .execute(params![row, session, name, run, announced, summary.first])?;
    Ok(())
}

pub(crate) fn store_questions(
    db: &Connection,
    row: i64,
    summary: &CallSummary,
    encoder: &Encoder<'_>,
) -> Result<(), HistoryError> {
    let sql = "INSERT OR REPLACE INTO questions(call, place, because, asked, answered, effect, judge, rule)
               VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    for (place, (asking, (asked, answered))) in summary
        .call
        .questions()
        .iter()
        .zip(&summary.question_times)
        .enumerate()
    {
        let answer = asking.answer.as_ref();
        let judge = answer.map(|answer| &answer.by);
        let rule = judge.and_then(|judge| rule_of(judge, encoder));
        db.prepare_cached(sql)?.execute(params![
            row,
            place as i64,
            &*encoder.redacted_line(asking.question.because.as_str()),
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
    summary: &CallSummary,
    encoder: &Encoder<'_>,
) -> Result<(), HistoryError> {
    let sql = "INSERT OR IGNORE INTO touches(call, path, how) VALUES(?1, ?2, ?3)";
    for (path, how) in summary.touched_files() {
        let path = encoder.redacted_line(&path.to_string_lossy());
        db.prepare_cached(sql)?.execute(params![row, &*path, how])?;
    }
    Ok(())
}

/// Indexes the texts of an ended call for search.
pub(crate) fn store_texts(
    db: &Connection,
    row: i64,
    summary: &CallSummary,
    redactor: &Redactor,
) -> Result<(), HistoryError> {
    let mut input = SearchText::default();
    match summary.input() {
        Some(Input::Json(value)) => {
            let redacted = redactor.redact_json(value);
            input.collect(redacted.as_ref().unwrap_or(value));
        }
        Some(Input::Text(text)) => input.push(text),
        None => {}
    }
    let mut output = SearchText::default();
    summary.result_texts().for_each(|text| output.push(text));
    output.push_printed(summary.call.output());
    let mut title = SearchText::default();
    title.push(summary.call.tool());
    title.push(summary.call.title());
    let sql = "INSERT OR REPLACE INTO texts(rowid, title, input, output) VALUES(?1, ?2, ?3, ?4)";
    let words = [title, input, output].map(|words| words.clean(redactor));
    let [title, input, output] = &words;
    db.prepare_cached(sql)?
        .execute(params![row, title, input, output])?;
    Ok(())
}

/// Text for the search index, up to [`MAX_INDEXED`] bytes.
#[derive(Default)]
struct SearchText {
    text: String,
    /// Text was cut off, so the last word may be incomplete.
    is_cut: bool,
}

impl SearchText {
    fn push(&mut self, text: &str) {
        let room = MAX_INDEXED.saturating_sub(self.text.len());
        if self.is_cut || room == 0 {
            return;
        }
        self.is_cut = text.len() > room;
        self.text.push_str(&text[..text.floor_char_boundary(room)]);
        if !self.is_cut {
            self.text.push(' ');
        }
    }

    /// Adds the output; of a shortened one only its beginning.
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
            redactor.redact_head(&self.text)
        } else {
            redactor.redact(&self.text).unwrap_or(self.text)
        }
    }
}
