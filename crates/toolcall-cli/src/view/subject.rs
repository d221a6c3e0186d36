//! What a person who is asked must see: the whole command, every path and host, every change.
//! It shows what would be done and judges nothing.

use toolcall::text::clean_block;
use toolcall::{Command, Content, Intent, Reading, Touch};

use super::diff::preview;
use super::style::{BOLD, painted};
use super::{INDENT, one_line, wrapped};

/// The lines under a question.
pub(crate) fn subject(intent: &Intent, width: usize) -> Vec<String> {
    let is_shown = |touch: &Touch| {
        let edits = intent.preview.iter().filter_map(Content::as_edit);
        edits.map(|edit| edit.touch()).any(|edit| edit == *touch)
    };
    let touches = intent.touches.iter().filter(|touch| !is_shown(touch));
    let mut lines: Vec<String> = touches.flat_map(|touch| touched(touch, width)).collect();
    lines.extend(preview(&intent.preview, width));
    lines
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
