//! Renders the items of a question as lines: the whole command, every path and host, every change.
//! It decides nothing.

#[cfg(test)]
mod tests;

use serde_json::Value;
use toolcall::text::clean_block;
use toolcall::{Command, Question, QuestionItem, Touch};

use super::diff::preview;
use super::style::{BOLD, paint};
use super::{INDENT, one_line, wrap};

/// Longer arguments are shortened in the middle.
const MAX_ARGUMENT: usize = 2_000;

/// Returns the lines below a question.
pub(crate) fn question_lines(question: &Question, width: usize) -> Vec<String> {
    let items = question.items();
    let lines = items.iter().flat_map(|item| item_lines(item, width));
    lines.collect()
}

fn item_lines(item: &QuestionItem<'_>, width: usize) -> Vec<String> {
    let text = match item {
        QuestionItem::Touch(touch) => return touch_lines(touch, width),
        QuestionItem::Content(content) => return preview(std::slice::from_ref(*content), width),
        QuestionItem::Input(input) => return input_lines(input),
        QuestionItem::NotUnderstood(why) => {
            format!("not fully understood: {why}; a shell would run it as it stands")
        }
        QuestionItem::HiddenCharacters { path, found } => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            let found = found.join(", ");
            format!("hidden characters in {}: {found}", path.display())
        }
    };
    wrap(&one_line(&text), width)
}

fn touch_lines(touch: &Touch, width: usize) -> Vec<String> {
    let text = match touch {
        Touch::Runs(command) => return command_lines(command, width),
        Touch::Reads(path) => format!("reads {}", path.display()),
        Touch::Writes(path) => format!("writes {}", path.display()),
        Touch::Deletes(path) => format!("deletes {}", path.display()),
        Touch::Moves { from, to } => format!("moves {} to {}", from.display(), to.display()),
        Touch::Reaches(target) => format!("reaches {target}"),
        Touch::Unknown => "may affect anything: the tool does not say what".to_owned(),
    };
    wrap(&one_line(&text), width)
}

/// Renders every argument. A long one is shortened and shown with its size, but never left out.
fn input_lines(input: &Value) -> Vec<String> {
    match input {
        Value::Object(arguments) if !arguments.is_empty() => arguments
            .iter()
            .map(|(name, value)| format!("{INDENT}{}: {}", one_line(name), shortened(value)))
            .collect(),
        other => vec![format!("{INDENT}with {}", shortened(other))],
    }
}

fn shortened(value: &Value) -> String {
    let text = one_line(&value.to_string());
    let length = text.chars().count();
    if length <= MAX_ARGUMENT {
        return text;
    }
    let begin: String = text.chars().take(MAX_ARGUMENT / 2).collect();
    let end: String = text.chars().skip(length - MAX_ARGUMENT / 4).collect();
    format!("{begin} … ({length} characters) … {end}")
}

/// Renders the whole command: nothing of it may be hidden.
fn command_lines(command: &Command, width: usize) -> Vec<String> {
    let text = clean_block(&command.text);
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| format!("{INDENT}{}", paint(BOLD, line)))
        .collect();
    let cwd = one_line(&command.cwd.to_string_lossy());
    lines.extend(wrap(&format!("in {cwd}"), width));
    for (name, value) in &command.env {
        lines.extend(wrap(&one_line(&format!("with {name}={value}")), width));
    }
    lines
}
