//! Decodes how a call failed: from our `_meta` if it is there, otherwise from the content.
//! It must not drop a text that is more than a reason.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolcall::text::clean_block;
use toolcall::{Canceller, Content, Ending, Exit, ToolCall};

use super::members::{count, object, text};
use super::metadata::reported_exit;
use super::output::unfenced;
use crate::decode::ReportedFields;
use crate::finding::{Findings, LintRule, quoted};
use crate::meta;
use crate::v1::signal;

/// The longest reason, in bytes. A longer text is a result, and the reason is its beginning.
const MAX_REASON_LENGTH: usize = 4096;

/// Returns the ending of a call with the status `failed`. Removes the text of the reason from the content.
pub(super) fn failed(
    call: &ToolCall,
    report: &mut ReportedFields<'_>,
    findings: &mut Findings,
) -> Ending {
    if let Some(exact) = report.meta.and_then(|meta| exact(meta, findings)) {
        return exact;
    }
    let content = report.content.as_mut().map(|items| &mut items.content);
    let reason = content
        .and_then(reason_in)
        .or_else(|| reason_of(report.output?))
        .or_else(|| reported_exit(report).or(call.exit()).map(exit_reason));
    Ending::failed(reason.unwrap_or_else(|| "failed".into()))
}

fn exit_reason(exit: Exit) -> Arc<str> {
    match exit {
        Exit::Code(code) => format!("exit code {code}").into(),
        Exit::Signal(number) => format!("ended by {}", signal::name(number)).into(),
    }
}

/// Decodes the ending that our own encoder wrote.
fn exact(meta: &Map<String, Value>, findings: &mut Findings) -> Option<Ending> {
    let reported = object(meta, meta::ENDING, findings)?;
    let reason = text(reported, "reason", findings).unwrap_or("no reason was given");
    let how = text(reported, "how", findings)?;
    Some(match how {
        "failed" => Ending::failed(reason),
        "denied" => Ending::denied(reason),
        "interrupted" => Ending::interrupted(reason),
        "cancelled" => Ending::Cancelled {
            by: canceller(reported, findings),
        },
        "timed_out" => Ending::TimedOut {
            after: Duration::from_millis(count(reported, "after_ms", findings).unwrap_or_default()),
        },
        other => {
            findings.note(LintRule::BadField, || {
                format!("no call ends {}", quoted(other))
            });
            return None;
        }
    })
}

fn canceller(reported: &Map<String, Value>, findings: &mut Findings) -> Canceller {
    match text(reported, "by", findings) {
        Some("turn") => Canceller::Turn,
        Some("engine") => Canceller::Engine,
        Some("parent") => Canceller::Parent,
        Some(_) | None => Canceller::Person,
    }
}

/// Returns the first text as a reason. The text is removed unless it is longer than a reason.
fn reason_in(content: &mut Vec<Content>) -> Option<Arc<str>> {
    let text = |item: &Content| match item {
        Content::Text(text) if !text.trim().is_empty() => Some(text.clone()),
        Content::Text(_)
        | Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => None,
    };
    let place = content.iter().position(|item| text(item).is_some())?;
    let text = text(&content[place])?;
    let (reason, is_whole) = reason(unfenced(&text).unwrap_or(&text));
    if is_whole {
        content.remove(place);
    }
    Some(reason)
}

fn reason_of(output: &Value) -> Option<Arc<str>> {
    let reported = output.as_str().or_else(|| output.get("error")?.as_str())?;
    (!reported.trim().is_empty()).then(|| reason(reported).0)
}

/// Returns the reason in a text, and whether it is the whole text.
fn reason(text: &str) -> (Arc<str>, bool) {
    let text = text.trim();
    let end = text.floor_char_boundary(MAX_REASON_LENGTH);
    let shown = clean_block(&text[..end]);
    let is_whole = shown == text;
    (shown.into(), is_whole)
}
