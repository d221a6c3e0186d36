//! `toolcall history call`: shows one call with all its events.
//! It shows records as they are; redacted parts are marked in them.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::text::{clean_block, duration};
use toolcall::{Content, Effect, FileChange, Input, ToolCall, replay};
use toolcall_history::{CallHistory, QuestionRow, UndoState};

use super::find::{self, full_name};
use super::open;
use super::show::call_json;
use crate::args::HistoryCallArgs;
use crate::screen;
use crate::time::{local, millis};
use crate::view::{
    BOLD, DIM, INDENT, event_detail, event_json, fit, one_line, outcome, paint, pluralize, preview,
    width, wrap,
};

/// How many lines of one text are shown.
const MAX_LINES: usize = 60;

/// Shows a call.
pub(super) fn run(args: &HistoryCallArgs) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let line = find::call(&archive, &args.selector)?;
    let history = archive.call(&line.session, &line.id)?;
    let call = replay(&history.records).pop();
    let lines = if args.json {
        vec![format!("{:#}", as_json(&history, call.as_ref()))]
    } else {
        lines(&history, call.as_ref())
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn lines(history: &CallHistory, call: Option<&ToolCall>) -> Vec<String> {
    let mut lines = head(history);
    let mut part = |name: &str, body: Vec<String>| {
        if !body.is_empty() {
            lines.push(paint(BOLD, name));
            lines.extend(body);
        }
    };
    part("decision", decision(history));
    if let Some(call) = call {
        part("input", call.input().map(input_lines).unwrap_or_default());
        part("changes", preview(&edits(call), width()));
        part("output", shortened(&output(call)));
        part("events", events(history, call));
    }
    if history.undo == UndoState::Yes {
        let name = one_line(&full_name(&history.line));
        let how = format!("undo it with `toolcall history undo {name}`");
        lines.push(paint(DIM, &how));
    }
    lines
}

fn head(history: &CallHistory) -> Vec<String> {
    let line = &history.line;
    let display = outcome(&line.status);
    let ending = format!("{} {}", display.symbol, display.word);
    let room = width().saturating_sub(ending.chars().count() + 1);
    let mut lines = vec![format!(
        "{} {}",
        paint(display.style, &ending),
        paint(BOLD, fit(&line.title, room).trim_end())
    )];
    let when = local(line.announced);
    let (waited, ran) = (duration(line.waited), duration(line.ran));
    lines.extend(wrap(
        &format!(
            "{}, {} ({})",
            full_name(line),
            line.tool,
            line.kind.as_str()
        ),
        width(),
    ));
    lines.extend(wrap(
        &format!(
            "{when}; waited for you {waited}, ran {ran}, {}",
            pluralize(line.bytes, "byte")
        ),
        width(),
    ));
    if let Some(reason) = &line.reason {
        lines.extend(wrap(reason, width()));
    }
    lines
}

/// Returns who decided, and how long the user took.
fn decision(history: &CallHistory) -> Vec<String> {
    let mut lines: Vec<String> = history.questions.iter().map(question).collect();
    let line = &history.line;
    if let Some(effect) = line.effect
        && history.questions.is_empty()
    {
        let by = judge(line.judge.as_deref(), line.rule.as_deref());
        lines.push(format!("{} by {by}", effect_word(effect)));
    }
    lines.iter().flat_map(|line| wrap(line, width())).collect()
}

fn question(question: &QuestionRow) -> String {
    let asked = format!("asked because of rule `{}`", question.because);
    match (question.effect, question.answered) {
        (Some(effect), Some(answered)) => {
            let by = judge(question.judge.as_deref(), question.rule.as_deref());
            let took = duration(answered.since(question.asked));
            format!("{asked}; {} by {by} after {took}", effect_word(effect))
        }
        (Some(_) | None, _) => format!("{asked}; nobody answered"),
    }
}

fn judge(judge: Option<&str>, rule: Option<&str>) -> String {
    match (judge, rule) {
        (Some("rule"), Some(rule)) => format!("rule `{rule}`"),
        (Some("person"), Some(rule)) => format!("the user, and remembered: {rule}"),
        (Some("person"), None) => "the user, this once".to_owned(),
        (Some("unseen"), _) => "the agent itself".to_owned(),
        (Some(other), _) => other.to_owned(),
        (None, _) => "nobody".to_owned(),
    }
}

fn effect_word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allowed",
        Effect::Deny => "refused",
    }
}

fn input_lines(input: &Input) -> Vec<String> {
    match input {
        Input::Json(value) => shortened(&format!("{value:#}")),
        Input::Text(text) => shortened(text),
    }
}

fn edits(call: &ToolCall) -> Vec<Content> {
    let preview = call.preview().iter();
    preview
        .filter(|content| content.as_edit().is_some())
        .cloned()
        .collect()
}

/// Returns the texts of the result, or else the printed output.
fn output(call: &ToolCall) -> String {
    let texts = result_texts(call);
    if texts.is_empty() {
        call.output().text()
    } else {
        texts.join("\n")
    }
}

/// Returns the texts of the result.
fn result_texts(call: &ToolCall) -> Vec<&str> {
    let content = call.finish().map(|finish| finish.result.content.iter());
    let texts = content.into_iter().flatten().filter_map(Content::as_text);
    texts.map(|text| &**text).collect()
}

/// Returns the beginning and end of a text, indented. Long lines are broken.
fn shortened(text: &str) -> Vec<String> {
    let room = width().saturating_sub(INDENT.len()).max(1);
    let clean = clean_block(text);
    let lines = clean.lines().flat_map(|line| chunks(line, room));
    let all: Vec<String> = lines.map(|line| format!("{INDENT}{line}")).collect();
    if all.len() <= MAX_LINES {
        return all;
    }
    let (first, rest) = all.split_at(MAX_LINES / 2);
    let (omitted, last) = rest.split_at(rest.len() - MAX_LINES / 2);
    let more = pluralize(omitted.len(), "more line");
    let note = [paint(
        DIM,
        &format!("{INDENT}… {more}; use --json to see all …"),
    )];
    [first, &note, last].concat()
}

/// Breaks a line into chunks of at most this many characters; at least one, which may be empty.
fn chunks(line: &str, room: usize) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    if chars.is_empty() {
        return vec![String::new()];
    }
    let chunks = chars.chunks(room);
    chunks.map(|chunk| chunk.iter().collect()).collect()
}

fn events(history: &CallHistory, call: &ToolCall) -> Vec<String> {
    let began = history.line.announced;
    let lines = history.records.iter().map(|record| {
        let at = duration(record.at.since(began));
        let detail = one_line(&event_detail(call, &record.event));
        let text = format!("{:<14} {detail}", record.event.name());
        let room = width().saturating_sub(INDENT.len() + 9);
        format!(
            "{INDENT}{} {}",
            paint(DIM, &format!("{at:>8}")),
            fit(&text, room).trim_end()
        )
    });
    lines.collect()
}

fn as_json(history: &CallHistory, call: Option<&ToolCall>) -> Value {
    let mut shown = call_json(&history.line);
    let line = &history.line;
    shown["decision"] = json!({
        "effect": shown["effect"],
        "by": line.judge,
        "rule": line.rule,
        "waited_ms": millis(line.waited),
    });
    shown["questions"] = history.questions.iter().map(question_json).collect();
    shown["can_undo"] = (history.undo == UndoState::Yes).into();
    if let Some(call) = call {
        shown["input"] = call.input().map(input_json).unwrap_or_default();
        shown["changes"] = edits(call).iter().filter_map(change_json).collect();
        shown["output"] = call.output().text().into();
        shown["result"] = result_texts(call).into();
        let event = |record: &toolcall::Record| {
            let mut object = event_json(call, &record.event);
            object["at"] = record.at.to_string().into();
            object["event"] = record.event.name().replace(' ', "_").into();
            object
        };
        shown["events"] = history.records.iter().map(event).collect();
    }
    shown
}

fn question_json(question: &QuestionRow) -> Value {
    let answered = question.answered;
    json!({
        "because": question.because,
        "asked": question.asked.to_string(),
        "answered": answered.map(|at| at.to_string()),
        "took_ms": answered.map(|answered| millis(answered.since(question.asked))),
        "effect": question.effect.map(effect_word),
        "by": question.judge,
        "rule": question.rule,
    })
}

fn input_json(input: &Input) -> Value {
    match input {
        Input::Json(value) => (**value).clone(),
        Input::Text(text) => Value::from(&**text),
    }
}

fn change_json(content: &Content) -> Option<Value> {
    let edit = content.as_edit()?;
    let path = edit.path.to_string_lossy();
    let body = |body: &toolcall::FileBody| match body {
        toolcall::FileBody::Text(text) => json!(&**text),
        toolcall::FileBody::Binary { .. } | toolcall::FileBody::Folder { .. } => {
            json!({"not_text": body.summary()})
        }
    };
    Some(match &edit.change {
        FileChange::Added { after } => json!({"creates": path, "after": body(after)}),
        FileChange::Modified { before, after } => {
            json!({"changes": path, "before": body(before), "after": body(after)})
        }
        FileChange::Deleted { before } => json!({"deletes": path, "before": body(before)}),
        FileChange::Moved { to } => json!({"moves": path, "to": to.to_string_lossy()}),
    })
}
