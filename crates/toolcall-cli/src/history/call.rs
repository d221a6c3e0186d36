//! `toolcall history call`: one call, with all that happened to it.
//! What was kept is shown as it is; what was left out says so itself.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::text::{clean_block, duration};
use toolcall::{Change, Content, Effect, Input, ToolCall, replay};
use toolcall_history::{CallHistory, QuestionRow, UndoState};

use super::find::{self, full_name};
use super::open;
use super::show::call_json;
use crate::args::Calling;
use crate::screen;
use crate::view::{
    BOLD, DIM, INDENT, event_detail, event_json, fitted, one_line, outcome, painted, preview,
    width, wrapped,
};
use crate::when::{local, millis};

/// How many lines of one text are shown to people.
const MOST_LINES: usize = 60;

/// Shows a call.
pub(super) fn run(calling: &Calling) -> anyhow::Result<ExitCode> {
    let archive = open()?;
    let line = find::call(&archive, &calling.named)?;
    let told = archive.call(&line.session, &line.id)?;
    let call = replay(&told.records).pop();
    let lines = match calling.json {
        true => vec![format!("{:#}", as_json(&told, call.as_ref()))],
        false => lines(&told, call.as_ref()),
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn lines(told: &CallHistory, call: Option<&ToolCall>) -> Vec<String> {
    let mut lines = head(told);
    let mut part = |name: &str, body: Vec<String>| {
        if !body.is_empty() {
            lines.push(painted(BOLD, name));
            lines.extend(body);
        }
    };
    part("decision", decision(told));
    if let Some(call) = call {
        part("input", call.input().map(input_lines).unwrap_or_default());
        part("changes", preview(&edits(call), width()));
        part("output", cut(&printed(call)));
        part("events", events(told, call));
    }
    if told.undo == UndoState::Yes {
        let name = one_line(&full_name(&told.line));
        let how = format!("undo it with `toolcall history undo {name}`");
        lines.push(painted(DIM, &how));
    }
    lines
}

fn head(told: &CallHistory) -> Vec<String> {
    let line = &told.line;
    let sign = outcome(&line.status);
    let ending = format!("{} {}", sign.symbol, sign.word);
    let room = width().saturating_sub(ending.chars().count() + 1);
    let mut lines = vec![format!(
        "{} {}",
        painted(sign.style, &ending),
        painted(BOLD, fitted(&line.title, room).trim_end())
    )];
    let when = local(line.announced);
    let (waited, ran) = (duration(line.waited), duration(line.ran));
    lines.extend(wrapped(
        &format!(
            "{}, {} ({})",
            full_name(line),
            line.tool,
            line.kind.as_str()
        ),
        width(),
    ));
    lines.extend(wrapped(
        &format!(
            "{when}; waited for people {waited}, ran {ran}, {} bytes",
            line.bytes
        ),
        width(),
    ));
    if let Some(reason) = &line.reason {
        lines.extend(wrapped(reason, width()));
    }
    lines
}

/// Who decided, and how long people took.
fn decision(told: &CallHistory) -> Vec<String> {
    let mut said: Vec<String> = told.questions.iter().map(question).collect();
    let line = &told.line;
    if let (Some(effect), true) = (line.effect, told.questions.is_empty()) {
        let by = judge(line.judge.as_deref(), line.rule.as_deref());
        said.push(format!("{} by {by}", effect_word(effect)));
    }
    said.iter()
        .flat_map(|said| wrapped(said, width()))
        .collect()
}

fn question(question: &QuestionRow) -> String {
    let asked = format!("asked, says rule `{}`", question.because);
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
        (Some("person"), Some(rule)) => format!("a person, and kept: {rule}"),
        (Some("person"), None) => "a person, this once".to_owned(),
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
        Input::Json(value) => cut(&format!("{value:#}")),
        Input::Text(text) => cut(text),
    }
}

fn edits(call: &ToolCall) -> Vec<Content> {
    let preview = call.preview().iter();
    preview
        .filter(|content| content.as_edit().is_some())
        .cloned()
        .collect()
}

/// What it gave back, or else what it printed.
fn printed(call: &ToolCall) -> String {
    let texts = given(call);
    match texts.is_empty() {
        true => call.output().text(),
        false => texts.join("\n"),
    }
}

/// The texts that it gave back.
fn given(call: &ToolCall) -> Vec<&str> {
    let content = call.finish().map(|finish| finish.result.content.iter());
    let texts = content.into_iter().flatten().filter_map(Content::as_text);
    texts.map(|text| &**text).collect()
}

/// Beginning and end of a text, indented; long lines go over several.
fn cut(text: &str) -> Vec<String> {
    let room = width().saturating_sub(INDENT.len()).max(1);
    let clean = clean_block(text);
    let lines = clean.lines().flat_map(|line| pieces(line, room));
    let all: Vec<String> = lines.map(|line| format!("{INDENT}{line}")).collect();
    if all.len() <= MOST_LINES {
        return all;
    }
    let (first, rest) = all.split_at(MOST_LINES / 2);
    let (passed, last) = rest.split_at(rest.len() - MOST_LINES / 2);
    let said = format!("{INDENT}… {} more lines; --json has them …", passed.len());
    let said = [painted(DIM, &said)];
    [first, &said, last].concat()
}

fn pieces(line: &str, room: usize) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    match chars.is_empty() {
        true => vec![String::new()],
        false => chars
            .chunks(room)
            .map(|piece| piece.iter().collect())
            .collect(),
    }
}

fn events(told: &CallHistory, call: &ToolCall) -> Vec<String> {
    let began = told.line.announced;
    let lines = told.records.iter().map(|record| {
        let at = duration(record.at.since(began));
        let detail = one_line(&event_detail(call, &record.event));
        let text = format!("{:<14} {detail}", record.event.name());
        let room = width().saturating_sub(INDENT.len() + 9);
        format!(
            "{INDENT}{} {}",
            painted(DIM, &format!("{at:>8}")),
            fitted(&text, room).trim_end()
        )
    });
    lines.collect()
}

fn as_json(told: &CallHistory, call: Option<&ToolCall>) -> Value {
    let mut shown = call_json(&told.line);
    let line = &told.line;
    shown["decision"] = json!({
        "effect": shown["effect"],
        "by": line.judge,
        "rule": line.rule,
        "waited_ms": millis(line.waited),
    });
    shown["questions"] = told.questions.iter().map(question_json).collect();
    shown["can_undo"] = (told.undo == UndoState::Yes).into();
    if let Some(call) = call {
        shown["input"] = call.input().map(input_json).unwrap_or_default();
        shown["changes"] = edits(call).iter().filter_map(change_json).collect();
        shown["output"] = call.output().text().into();
        shown["result"] = given(call).into();
        let event = |record: &toolcall::Record| {
            let mut told = event_json(call, &record.event);
            told["at"] = record.at.to_string().into();
            told["event"] = record.event.name().replace(' ', "_").into();
            told
        };
        shown["events"] = told.records.iter().map(event).collect();
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
        Change::Added { after } => json!({"creates": path, "after": body(after)}),
        Change::Modified { before, after } => {
            json!({"changes": path, "before": body(before), "after": body(after)})
        }
        Change::Deleted { before } => json!({"deletes": path, "before": body(before)}),
        Change::Moved { to } => json!({"moves": path, "to": to.to_string_lossy()}),
    })
}
