//! What a person who is asked must see: the whole command, every path and host, every change.
//! It shows what would be done and judges nothing.

use serde_json::Value;
use toolcall::text::clean_block;
use toolcall::{Command, Content, Intent, Prepared, Reading, Touch};

use super::diff::preview;
use super::style::{BOLD, painted};
use super::{INDENT, one_line, wrapped};

/// Longer arguments are folded.
const LONGEST_ARGUMENT: usize = 2_000;

/// The lines under a question.
pub(crate) fn subject(prepared: &Prepared, width: usize) -> Vec<String> {
    let intent = &prepared.intent;
    let is_shown = |touch: &Touch| {
        let edits = intent.preview.iter().filter_map(Content::as_edit);
        edits.map(|edit| edit.touch()).any(|edit| edit == *touch)
    };
    let touches = intent.touches.iter().filter(|touch| !is_shown(touch));
    let mut lines: Vec<String> = touches.flat_map(|touch| touched(touch, width)).collect();
    lines.extend(preview(&intent.preview, width));
    if is_vague(intent) {
        lines.extend(input_lines(&prepared.input));
    }
    lines
}

/// Whether only its input tells what it does.
fn is_vague(intent: &Intent) -> bool {
    let edits = intent.preview.iter().filter_map(Content::as_edit);
    let tells = |touch: &Touch| !matches!(touch, Touch::Reaches(_) | Touch::Unknown);
    edits.count() == 0 && !intent.touches.iter().any(tells)
}

/// Every argument: what is long is folded with its size, and never left out.
fn input_lines(input: &Value) -> Vec<String> {
    let Value::Object(arguments) = input else {
        return vec![format!("{INDENT}with {}", folded(input))];
    };
    let arguments = arguments.iter();
    let lines =
        arguments.map(|(name, value)| format!("{INDENT}{}: {}", one_line(name), folded(value)));
    lines.collect()
}

fn folded(value: &Value) -> String {
    let text = one_line(&value.to_string());
    let length = text.chars().count();
    match length > LONGEST_ARGUMENT {
        false => text,
        true => {
            let begin: String = text.chars().take(LONGEST_ARGUMENT / 2).collect();
            let end: String = text.chars().skip(length - LONGEST_ARGUMENT / 4).collect();
            format!("{begin} … ({length} characters) … {end}")
        }
    }
}

fn touched(touch: &Touch, width: usize) -> Vec<String> {
    let text = match touch {
        Touch::Runs(command) => return command_lines(command, width),
        Touch::Reads(path) => format!("reads {}", path.display()),
        Touch::Writes(path) => format!("writes {}", path.display()),
        Touch::Deletes(path) => format!("deletes {}", path.display()),
        Touch::Moves { from, to } => format!("moves {} to {}", from.display(), to.display()),
        Touch::Reaches(target) => format!("reaches {target}"),
        Touch::Unknown => "may affect anything: the tool does not say what".to_owned(),
    };
    wrapped(&one_line(&text), width)
}

/// The command to the last character: nothing of it may hide behind a cut.
fn command_lines(command: &Command, width: usize) -> Vec<String> {
    let text = clean_block(&command.text);
    let mut lines: Vec<String> = text
        .lines()
        .map(|line| format!("{INDENT}{}", painted(BOLD, line)))
        .collect();
    let cwd = one_line(&command.cwd.to_string_lossy());
    lines.extend(wrapped(&format!("in {cwd}"), width));
    for (name, value) in &command.env {
        lines.extend(wrapped(&one_line(&format!("with {name}={value}")), width));
    }
    if let Reading::Unclear(why) = &command.reading {
        let said = format!("not fully understood: {why}; a shell would run it as it stands");
        lines.extend(wrapped(&said, width));
    }
    lines
}
