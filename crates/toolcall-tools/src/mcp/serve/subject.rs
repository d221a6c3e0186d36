//! What a person is shown before they say yes, as plain text: commands, changes, whatever is touched.
//! Commands are shown to the last character; what is left out of a long change is counted.

use std::path::Path;
use std::time::Duration;

use similar::TextDiff;
use toolcall::text::clean_block;
use toolcall::{Change, Command, Content, FileBody, FileEdit, Intent, Prepared, Reading, Touch};

const MOST_LINES: usize = 200;
const LONGEST_INPUT: usize = 8 * 1024;
/// A diff that takes longer is told less finely.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// Everything that would be done.
pub(super) fn shown(prepared: &Prepared) -> String {
    let intent = &prepared.intent;
    let mut said = vec![clean_block(&intent.title)];
    said.extend(
        intent
            .touches
            .iter()
            .filter_map(|touch| touched(intent, touch)),
    );
    for content in &intent.preview {
        match content {
            Content::Edit(edit) => said.push(cut(&clean_block(&diff(edit)))),
            Content::Text(text) => said.push(cut(&clean_block(text))),
            Content::Image(_)
            | Content::Audio(_)
            | Content::Resource(_)
            | Content::Link(_)
            | Content::Terminal(_) => {}
        }
    }
    if is_vague(intent) {
        let input = clean_block(&format!("{:#}", prepared.input));
        let end = input.floor_char_boundary(LONGEST_INPUT);
        let more = input.len() - end;
        said.push(format!("Its input:\n{}", &input[..end]));
        said.extend((more > 0).then(|| format!("… {more} more bytes")));
    }
    said.join("\n")
}

fn touched(intent: &Intent, touch: &Touch) -> Option<String> {
    let mut edits = intent.preview.iter().filter_map(Content::as_edit);
    if edits.any(|edit| edit.touch() == *touch) {
        return None;
    }
    Some(match touch {
        Touch::Runs(command) => command_text(command),
        Touch::Reads(path) => format!("Reads `{}`", named(path)),
        Touch::Writes(path) => format!("Writes `{}`", named(path)),
        Touch::Deletes(path) => format!("Deletes `{}`", named(path)),
        Touch::Moves { from, to } => format!("Moves `{}` to `{}`", named(from), named(to)),
        Touch::Reaches(target) => format!("Reaches `{}`", one_line(target)),
        Touch::Unknown => "May affect anything: the tool does not say what.".to_owned(),
    })
}

fn command_text(command: &Command) -> String {
    let mut said = format!(
        "Runs in `{}`:\n{}",
        named(&command.cwd),
        clean_block(&command.text)
    );
    for (name, value) in &command.env {
        said += &format!("\nwith {}", one_line(&format!("{name}={value}")));
    }
    if let Reading::Unclear(why) = &command.reading {
        said += &format!("\nNot fully understood: {why}; a shell would run it as it stands.");
    }
    said
}

/// A change of a file, with its place at the head.
pub(super) fn diff(edit: &FileEdit) -> String {
    let path = named(&edit.path);
    match &edit.change {
        Change::Added { after } => format!("Creates `{path}`:\n{}", lines("", text(after))),
        Change::Modified { before, after } => {
            format!("Changes `{path}`:\n{}", lines(text(before), text(after)))
        }
        Change::Deleted {
            before: FileBody::Text(before),
        } => format!("Deletes `{path}`:\n{}", lines(before, "")),
        Change::Deleted { before } => format!("Deletes `{path}` ({})", before.summary()),
        Change::Moved { to } => format!("Moves `{path}` to `{}`", named(to)),
    }
}

fn text(body: &FileBody) -> &str {
    match body {
        FileBody::Text(text) => text,
        FileBody::Binary { .. } => "(not text)\n",
        FileBody::Folder { .. } => "(a folder)\n",
    }
}

fn lines(before: &str, after: &str) -> String {
    let mut config = TextDiff::configure();
    let diff = config.timeout(DIFF_TIME).diff_lines(before, after);
    diff.unified_diff().context_radius(1).to_string()
}

fn cut(text: &str) -> String {
    let all = text.lines().count();
    if all <= MOST_LINES {
        return text.to_owned();
    }
    let first: Vec<&str> = text.lines().take(MOST_LINES).collect();
    format!("{}\n… {} more lines", first.join("\n"), all - MOST_LINES)
}

/// Whether only its input tells what it does.
fn is_vague(intent: &Intent) -> bool {
    let tells = |touch: &Touch| match touch {
        Touch::Runs(_)
        | Touch::Reads(_)
        | Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. } => true,
        Touch::Reaches(_) | Touch::Unknown => false,
    };
    !intent.touches.iter().any(tells)
}

fn named(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// A line break in a value must not pass for one of ours.
fn one_line(text: &str) -> String {
    clean_block(text)
        .replace('\n', "\\u{a}")
        .replace('\t', "\\u{9}")
}
