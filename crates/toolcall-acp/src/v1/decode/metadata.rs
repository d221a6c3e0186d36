//! Decodes `_meta` and raw outputs: progress, pauses, exit statuses, metadata.
//! It must not store keys as metadata that the call has a field for.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcall::text::clean_line;
use toolcall::{Event, Exit, Progress, ToolCall};

use super::members::{number, object, present, text};
use super::output::TERMINAL_OUTPUT_DELTA;
use crate::decode::RAW_OUTPUT;
use crate::decode::ReportedFields;
use crate::finding::{Findings, LintRule};
use crate::meta;
use crate::v1::signal;

/// The most metadata keys of a call, so that an agent with ever new keys cannot fill memory.
const MAX_KEYS: usize = 64;

/// The longest message or reason, in graphemes.
const MAX_LINE_LENGTH: usize = 200;

/// Keys that are decoded into other fields, or that are useless after they were shown.
const SKIPPED_KEYS: [&str; 11] = [
    RAW_OUTPUT,
    meta::PROGRESS,
    meta::TIMING,
    meta::ENDING,
    meta::PARENT,
    meta::HELD,
    meta::HEARTBEAT,
    meta::TERMINAL_INFO,
    meta::TERMINAL_OUTPUT,
    meta::TERMINAL_EXIT,
    TERMINAL_OUTPUT_DELTA,
];

/// Returns the new metadata: the agent's own, and a raw output that came before the ending.
pub(super) fn noted(
    call: &ToolCall,
    report: &ReportedFields<'_>,
    findings: &mut Findings,
) -> Vec<Event> {
    let known = call.metadata();
    let mut room = MAX_KEYS.saturating_sub(known.len());
    let mut fits = |key: &str| {
        let is_known = known.contains_key(key);
        let fits = is_known || room > 0;
        room -= usize::from(fits && !is_known);
        if !fits {
            findings.note(
                LintRule::TooMany,
                || "the call has too many keys in `_meta`",
            );
        }
        fits
    };
    reported_metadata(report)
        .filter(|(key, value)| known.get(*key).is_none_or(|known| **known != **value))
        .filter(|(key, _)| fits(key))
        .map(|(key, value)| Event::Noted {
            key: key.into(),
            value: Arc::new(value.clone()),
        })
        .collect()
}

/// Returns the keys and values that a call keeps unchanged.
fn reported_metadata<'a>(
    report: &ReportedFields<'a>,
) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let is_noted = |key: &str| !SKIPPED_KEYS.contains(&key) && !meta::TRACE.contains(&key);
    let own = report.meta.into_iter().flatten();
    let own = own.map(|(key, value)| (key.as_str(), value));
    let early = report.output.filter(|_| !report.is_final());
    let early = early.map(|value| (RAW_OUTPUT, value));
    own.filter(move |(key, _)| is_noted(key)).chain(early)
}

/// Returns the progress, if it changed.
pub(super) fn progressed(
    call: &ToolCall,
    report: &ReportedFields<'_>,
    findings: &mut Findings,
) -> Option<Event> {
    let reported = report
        .meta
        .and_then(|meta| object(meta, meta::PROGRESS, findings));
    let reported = reported.or(report.progress)?;
    let mut progress = Progress::at(number(reported, "current", findings)?);
    if let Some(total) = number(reported, "total", findings) {
        progress = progress.of(total);
    }
    if let Some(fraction) = number(reported, "fraction", findings) {
        progress = progress.part(fraction);
    }
    if let Some(message) = text(reported, "message", findings) {
        progress = progress.saying(clean_line(message, MAX_LINE_LENGTH));
    }
    (call.progress() != Some(&progress)).then_some(Event::Progressed(progress))
}

/// Returns a pause that began or ended.
pub(super) fn paused(
    call: &ToolCall,
    report: &ReportedFields<'_>,
    findings: &mut Findings,
) -> Option<Event> {
    let meta = report.meta?;
    let value = meta.get(meta::HELD)?;
    let held = call.hold_reason();
    if value.is_null() {
        return held.map(|_| Event::Resumed);
    }
    let reason = clean_line(text(meta, meta::HELD, findings)?, MAX_LINE_LENGTH);
    (held != Some(reason.as_str())).then(|| Event::Held(reason.into()))
}

/// Returns the exit status of a command, if it changed.
pub(super) fn exited(call: &ToolCall, report: &ReportedFields<'_>) -> Option<Event> {
    let exit = reported_exit(report)?;
    (call.exit() != Some(exit)).then_some(Event::Exited(exit))
}

/// Returns the exit status of a command, from the raw output or Zed's extension.
pub(super) fn reported_exit(report: &ReportedFields<'_>) -> Option<Exit> {
    let raw = report.output.and_then(Value::as_object);
    let terminal = report
        .meta
        .and_then(|meta| meta.get(meta::TERMINAL_EXIT)?.as_object());
    raw.and_then(exit).or_else(|| exit(terminal?))
}

fn exit(reported: &Map<String, Value>) -> Option<Exit> {
    let signal = match present(reported, "signal") {
        Some(Value::String(name)) => signal::number(name),
        Some(Value::Number(number)) => number
            .as_i64()
            .and_then(|number| i32::try_from(number).ok()),
        Some(_) | None => None,
    };
    let code = || present(reported, "exitCode").or(present(reported, "exit_code"));
    signal
        .map(Exit::Signal)
        .or_else(|| code()?.as_i64().and_then(exit_code).map(Exit::Code))
}

/// Converts an exit code. Some systems report it as an unsigned number with the same bits.
fn exit_code(code: i64) -> Option<i32> {
    let unsigned = || u32::try_from(code).ok().map(u32::cast_signed);
    i32::try_from(code).ok().or_else(unsigned)
}
