//! PromptLines to steps: which tool a line calls, and with what.
//! It makes no call; a line that it cannot read is an error with its line number.

use std::sync::Arc;

use serde_json::{Map, Value};
use toolcall::{Registry, ToolDefinition};

use super::inputs;
use super::lines::PromptLines;
use super::verbs::Verb;
use super::words::{Word, first_word, words};
use crate::pairs::{self, PairError};

/// What a line asks for: help or a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LineAction {
    /// The help text.
    Help,
    /// A call.
    Call(LineCall),
}

/// A call that a line makes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LineCall {
    pub(super) tool: Arc<str>,
    pub(super) input: Value,
    /// The line as it was written.
    pub(super) line: String,
}

/// A line that cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnreadableLine {
    /// Its number, from 1.
    pub(super) line: usize,
    pub(super) fault: LineError,
}

/// Why a line cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineError {
    /// It begins with an unknown word.
    Unknown(String),
    /// Something is missing or too much.
    Requirement(Verb, &'static str),
    /// The tool of this verb is not registered in this session.
    NoTool(Verb),
    /// The `key=value` words for this tool are not valid.
    Pairs(Arc<str>, PairError),
    /// The JSON for this tool is not valid, for this reason.
    Json(Arc<str>, String),
}

/// Parses a prompt. Fails if any of its lines cannot be read.
pub(super) fn steps(text: &str, tools: &Registry) -> Result<Vec<LineAction>, UnreadableLine> {
    let mut lines = PromptLines::new(text);
    let mut steps = Vec::new();
    while let Some(line) = lines.take() {
        if line.trim().is_empty() {
            continue;
        }
        let before = lines.before();
        let step = step(line.trim(), &mut lines, tools);
        steps.push(step.map_err(|fault| UnreadableLine {
            line: before.matches('\n').count() + 1,
            fault,
        })?);
    }
    Ok(steps)
}

fn step(
    line: &str,
    lines: &mut PromptLines<'_>,
    tools: &Registry,
) -> Result<LineAction, LineError> {
    if let Some(command) = shell_command(line) {
        return verb_step(Verb::Run, line, command, lines, tools);
    }
    let (name, rest) = split_head(line);
    match (Verb::named(name), tools.definition(name)) {
        (Some(verb), None) => verb_step(verb, line, rest, lines, tools),
        // Some tools have the name of a verb: what follows tells which is meant.
        (Some(verb), Some(tool)) if !is_input(rest, tool) => {
            verb_step(verb, line, rest, lines, tools)
        }
        (_, Some(tool)) => tool_step(tool, line, rest, lines),
        (None, None) if name.eq_ignore_ascii_case("help") || name == "?" => Ok(LineAction::Help),
        (None, None) => Err(LineError::Unknown(name.to_owned())),
    }
}

/// `$ COMMAND`, as it is often pasted, and `! COMMAND`.
fn shell_command(line: &str) -> Option<&str> {
    match line.strip_prefix('!') {
        Some(command) => Some(command.trim()),
        None if line == "$" => Some(""),
        None => line.strip_prefix("$ ").map(str::trim),
    }
}

/// A name, and what follows it, maybe behind a colon. JSON may follow without a space.
fn split_head(line: &str) -> (&str, &str) {
    let end = line.find(|c: char| c.is_whitespace() || matches!(c, '{' | ':'));
    let (head, rest) = line.split_at(end.unwrap_or(line.len()));
    (head, rest.strip_prefix(':').unwrap_or(rest).trim())
}

/// Returns whether this can only be input for the tool itself: JSON, or a pair with a key of the tool.
fn is_input(rest: &str, tool: &ToolDefinition) -> bool {
    let knows = |key: &str| tool.input_schema["properties"].get(key).is_some();
    let is_pair = |word: Word| word.text.split_once('=').is_some_and(|(key, _)| knows(key));
    rest.starts_with('{') || first_word(rest).is_some_and(is_pair)
}

fn verb_step(
    verb: Verb,
    line: &str,
    rest: &str,
    lines: &mut PromptLines<'_>,
    tools: &Registry,
) -> Result<LineAction, LineError> {
    let input =
        inputs::of(verb, rest, lines).map_err(|needs| LineError::Requirement(verb, needs))?;
    let tool = tools.definition(verb.facts().tool);
    let tool = tool.ok_or(LineError::NoTool(verb))?;
    Ok(LineAction::Call(LineCall {
        tool: tool.name.clone(),
        input,
        line: line.to_owned(),
    }))
}

fn tool_step(
    tool: &ToolDefinition,
    line: &str,
    rest: &str,
    lines: &mut PromptLines<'_>,
) -> Result<LineAction, LineError> {
    let input = if rest.starts_with('{') {
        json(lines).map_err(|reason| LineError::Json(tool.name.clone(), reason))?
    } else {
        let pairs: Vec<String> = words(rest).into_iter().map(|word| word.text).collect();
        pairs::read(&pairs, Some(&tool.input_schema))
            .map_err(|error| LineError::Pairs(tool.name.clone(), error))?
    };
    Ok(LineAction::Call(LineCall {
        tool: tool.name.clone(),
        input: Value::Object(input),
        line: line.to_owned(),
    }))
}

/// The object that begins in this line. It may end in a later one.
fn json(lines: &mut PromptLines<'_>) -> Result<Map<String, Value>, String> {
    let text = lines.since_line();
    let start = text.find('{').unwrap_or(text.len());
    let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter();
    let object = match objects.next() {
        Some(Ok(object)) => object,
        Some(Err(error)) => return Err(error.to_string()),
        None => return Err("there is none".to_owned()),
    };
    let behind = lines.take_bytes(start + objects.byte_offset());
    match behind.trim() {
        "" => Ok(object),
        more => Err(format!("`{more}` follows it")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn check(text: &str) -> String {
        let shown = |step: LineAction| match step {
            LineAction::Help => "help".to_owned(),
            LineAction::Call(call) => format!("{} {}", call.tool, call.input),
        };
        match steps(text, &sample::tools()) {
            Ok(steps) => steps.into_iter().map(shown).collect::<Vec<_>>().join("\n"),
            Err(UnreadableLine { line, fault }) => format!("{line}: {fault:?}"),
        }
    }

    #[test]
    fn any_tool_is_called_by_its_name() {
        assert_eq!(check("get-sum a=2 b=3"), r#"get-sum {"a":2,"b":3}"#);
        assert_eq!(check("get-sum"), "get-sum {}");
        assert_eq!(check(r#"get-sum {"a": 2}"#), r#"get-sum {"a":2}"#);
        assert_eq!(
            check("get-sum{\n \"a\": {\n}}\nget-sum b=1"),
            "get-sum {\"a\":{}}\nget-sum {\"b\":1}"
        );
        assert_eq!(
            check(r#"read_file path="a b" line=2"#),
            r#"read_file {"path":"a b","line":2}"#
        );
    }

    #[test]
    fn a_name_that_is_verb_and_tool_is_told_apart_by_what_follows() {
        let page = r#"fetch {"url":"https://example.org/?url=x"}"#;
        assert_eq!(check("fetch https://example.org/?url=x"), page);
        assert_eq!(check("fetch url=https://example.org/?url=x"), page);
        assert_eq!(
            check(r#"fetch {"url": "https://example.org/?url=x"}"#),
            page
        );
    }

    #[test]
    fn verbs_are_read_in_any_case_and_behind_any_sign() {
        let run = r#"run_command {"command":"ls | wc"}"#;
        for line in [
            "run ls | wc",
            "RUN: ls | wc",
            "$ ls | wc",
            "! ls | wc",
            "!ls | wc",
        ] {
            assert_eq!(check(line), run, "{line}");
        }
        assert_eq!(check("Help\n?\nhelp read"), "help\nhelp\nhelp");
    }

    #[test]
    fn modes_are_switched_where_there_is_a_tool_for_it() {
        let call = LineCall {
            tool: "switch_mode".into(),
            input: serde_json::json!({"mode": "read-only"}),
            line: "mode read-only".to_owned(),
        };
        let tools = sample::tools_with("switch_mode");
        assert_eq!(
            steps("mode read-only", &tools),
            Ok(vec![LineAction::Call(call)])
        );
    }

    #[test]
    fn several_lines_are_several_steps() {
        assert_eq!(
            check("list\n\nwrite a\n```\nb\n```\nedit a\n- b\n+ c\nrun cat a\n"),
            [
                r#"list_directory {"path":"."}"#,
                r#"write_file {"path":"a","content":"b\n"}"#,
                r#"edit_file {"path":"a","edits":[{"type":"replace","oldText":"b","newText":"c"}]}"#,
                r#"run_command {"command":"cat a"}"#,
            ]
            .join("\n")
        );
    }

    #[test]
    fn what_cannot_be_read_has_its_line() {
        assert_eq!(check("list\nraed x"), r#"2: Unknown("raed")"#);
        assert_eq!(check("$HOME"), r#"1: Unknown("$HOME")"#);
        assert_eq!(check("run"), r#"1: Requirement(Run, "a command")"#);
        assert_eq!(check("$"), r#"1: Requirement(Run, "a command")"#);
        assert_eq!(check("mode read-only"), "1: NoTool(Mode)");
        assert_eq!(
            check("get-sum a=1 2"),
            r#"1: Pairs("get-sum", NoPair("2"))"#
        );
        assert_eq!(
            check("get-sum {\"a\": 1} x"),
            r#"1: Json("get-sum", "`x` follows it")"#
        );
        assert!(check("get-sum {\"a\": \nlist").starts_with("1: Json("));
    }
}
