//! Turns a report of a call into events, in an order that the call accepts.
//! It must not invent a decision: a permission that the agent settled elsewhere is recorded as unseen.

use std::sync::Arc;

use serde_json::Value;
use toolcall::text::clean_line;
use toolcall::{
    Content, Decision, Effect, Ending, Event, Finish, Input, Judge, Output, Restatement, Sketch,
    Status, ToolCall, ToolResult,
};

use super::metadata::{exited, noted, paused, progressed};
use super::{ending, input, output};
use crate::decode::{RAW_OUTPUT, ReportedFields, ReportedStatus};
use crate::finding::{Findings, LintRule};

/// The longest unknown status, in graphemes.
const MAX_STATUS_LENGTH: usize = 80;

/// The events of a report.
pub(super) struct DecodedEvents {
    /// The events, in order.
    pub(super) events: Vec<Event>,
    /// The output, unless the last event has it.
    pub(super) printed: Option<String>,
}

/// The stage of a call, which decides what the content of a report means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallStage {
    /// The call does not run: the content is a preview.
    Waiting,
    /// The call runs, or has a status that counts as running.
    Acting,
    /// This report ends the call.
    Ending,
}

/// Turns a report of an open call into events.
pub(super) fn read(
    call: &ToolCall,
    mut report: ReportedFields<'_>,
    findings: &mut Findings,
) -> DecodedEvents {
    let start = start(call, report.status, findings);
    let acts = acts(call, &start, report.status);
    let stage = match (report.is_final(), acts) {
        (true, _) => CallStage::Ending,
        (false, true) => CallStage::Acting,
        (false, false) => CallStage::Waiting,
    };
    let mut events = Vec::from_iter(restated(call, &mut report, stage));
    events.extend(noted(call, &report, findings));
    events.extend(start.iter().cloned());
    events.extend(status_unknown(call, report.status));
    if acts {
        events.extend(paused(call, &report, findings));
        events.extend(progressed(call, &report, findings));
        events.extend(exited(call, &report));
    }
    let mut printed = output::from_terminal(report.meta, findings);
    match stage {
        CallStage::Waiting => printed = printed.and_then(|_| unread(findings)),
        CallStage::Acting => events.extend(showed(call, report)),
        CallStage::Ending => {
            let output = output::at_the_end(call, &report, printed.take());
            leave_out_edits(call, &mut report);
            let ending = ending(call, &mut report, &start, findings);
            events.push(finished(call, report, ending, output));
        }
    }
    DecodedEvents { events, printed }
}

fn unread(findings: &mut Findings) -> Option<String> {
    findings.note(
        LintRule::Started,
        || "it printed before it was in progress; that output was left out",
    );
    None
}

/// Returns the events that start the call, if the report says that it runs or ran.
fn start(
    call: &ToolCall,
    status: Option<ReportedStatus<'_>>,
    findings: &mut Findings,
) -> Vec<Event> {
    let ran = match status {
        Some(ReportedStatus::InProgress) => "in progress",
        Some(ReportedStatus::Completed) => "completed",
        Some(ReportedStatus::Pending | ReportedStatus::Failed | ReportedStatus::Unknown(_))
        | None => return Vec::new(),
    };
    let effect = call.decision().map(|decision| decision.effect);
    let why = match effect {
        _ if call.has_started() => return Vec::new(),
        _ if call.is_asking() => "nobody has answered whether it may run",
        None => return vec![unseen(), Event::Started],
        Some(Effect::Allow) => return vec![Event::Started],
        Some(Effect::Deny) => "it was refused",
    };
    findings.note(LintRule::RanUnallowed, || {
        format!("it is said to be {ran}, but {why}")
    });
    Vec::new()
}

fn unseen() -> Event {
    Event::Decided(Arc::new(Decision {
        question: None,
        effect: Effect::Allow,
        by: Judge::Unseen,
    }))
}

fn acts(call: &ToolCall, start: &[Event], status: Option<ReportedStatus<'_>>) -> bool {
    let acted = matches!(call.status(), Status::Unknown(_)) || call.hold_reason().is_some();
    has_begun(call, start) || acted || matches!(status, Some(ReportedStatus::Unknown(_)))
}

fn has_begun(call: &ToolCall, start: &[Event]) -> bool {
    call.has_started() || !start.is_empty()
}

fn status_unknown(call: &ToolCall, status: Option<ReportedStatus<'_>>) -> Option<Event> {
    let Some(ReportedStatus::Unknown(name)) = status else {
        return None;
    };
    let status = Arc::from(clean_line(name, MAX_STATUS_LENGTH));
    let is_news = call.status() != Status::Unknown(Arc::clone(&status));
    is_news.then_some(Event::StatusUnknown(status))
}

/// Returns the whole description, if the report changes any of it.
fn restated(call: &ToolCall, report: &mut ReportedFields<'_>, stage: CallStage) -> Option<Event> {
    let title = report.title.take().filter(|title| title != call.title());
    let kind = report.kind.filter(|kind| *kind != call.kind());
    let tool = report.name.take().filter(|name| **name != **call.tool());
    let locations = report.locations.take();
    let locations = locations.filter(|locations| *locations != call.locations());
    let input = report.input.filter(|raw| !is_input(call, raw)).map(input);
    let preview = preview(call, report, stage);
    let is_new = title.is_some() || kind.is_some() || tool.is_some() || locations.is_some();
    if !is_new && input.is_none() && preview.is_none() {
        return None;
    }
    let previous = || call.restated_as().and_then(|said| said.tool.clone());
    Some(Event::Restated(Arc::new(Restatement {
        tool: tool.map(Arc::from).or_else(previous),
        sketch: Sketch {
            title: title.unwrap_or_else(|| call.title().to_owned()),
            kind: kind.unwrap_or(call.kind()),
            locations: locations.unwrap_or_else(|| call.locations().to_vec()),
        },
        input: input.or_else(|| call.input().cloned()),
        preview: preview.unwrap_or_else(|| call.preview().to_vec()),
    })))
}

/// Returns the content of a call that does not run yet, if it changed.
fn preview(
    call: &ToolCall,
    report: &mut ReportedFields<'_>,
    stage: CallStage,
) -> Option<Vec<Content>> {
    if stage != CallStage::Waiting {
        return None;
    }
    let content = report.content.take()?.content;
    (content != call.preview()).then_some(content)
}

fn is_input(call: &ToolCall, raw: &Value) -> bool {
    match call.input() {
        Some(Input::Json(json)) => **json == *raw,
        Some(Input::Text(text)) => raw.as_str() == Some(text),
        None => false,
    }
}

fn showed(call: &ToolCall, report: ReportedFields<'_>) -> Option<Event> {
    let mut content = report.content?.content;
    leave_out(call.preview().iter(), &mut content);
    let shown = call.shown().map_or(&[][..], |shown| &**shown);
    (content != shown).then(|| Event::Showed(content.into()))
}

/// Removes known content from the start. Agents always send the whole content, the preview first.
fn leave_out<'a>(known: impl Iterator<Item = &'a Content> + Clone, content: &mut Vec<Content>) {
    let count = known.clone().count();
    if content.iter().take(count).eq(known) {
        content.drain(..count);
    }
}

/// Removes edits from the result that the preview has already.
fn leave_out_edits(call: &ToolCall, report: &mut ReportedFields<'_>) {
    let edits = call
        .preview()
        .iter()
        .filter(|item| item.as_edit().is_some());
    if let Some(items) = &mut report.content {
        leave_out(edits, &mut items.content);
    }
}

/// Returns the ending. A text that is the reason is removed from the result.
fn ending(
    call: &ToolCall,
    report: &mut ReportedFields<'_>,
    start: &[Event],
    findings: &mut Findings,
) -> Ending {
    match report.status {
        Some(ReportedStatus::Completed) if has_begun(call, start) => Ending::Completed,
        Some(ReportedStatus::Completed) => {
            Ending::failed("said to be completed, but not allowed to run")
        }
        Some(
            ReportedStatus::Pending
            | ReportedStatus::InProgress
            | ReportedStatus::Failed
            | ReportedStatus::Unknown(_),
        )
        | None => ending::failed(call, report, findings),
    }
}

/// Returns the final event. Its result is the content of the report, or else what was shown last.
fn finished(
    call: &ToolCall,
    report: ReportedFields<'_>,
    ending: Ending,
    output: Arc<Output>,
) -> Event {
    let reported = report.content.map(|items| items.content);
    let shown = || call.shown().map(|shown| shown.to_vec());
    let structured = match report.output {
        Some(value) => Some(Arc::new(value.clone())),
        None => call.metadata().get(RAW_OUTPUT).cloned(),
    };
    Event::Finished(Arc::new(Finish {
        ending,
        result: ToolResult {
            content: reported.or_else(shown).unwrap_or_default(),
            structured,
        },
        output,
    }))
}
