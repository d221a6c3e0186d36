//! Renders a permission question as plain text: its title, commands, file changes and other touches.
//! It never shortens a command; for a long change it says how many lines are left out.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use similar::TextDiff;
use toolcall::text::clean_block;
use toolcall::{Command, Content, FileBody, FileChange, FileEdit, Question, QuestionItem, Touch};

const MOST_LINES: usize = 200;
const LONGEST_INPUT: usize = 8 * 1024;
/// After this time the diff is computed less exactly.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// Returns the question as text: everything that the call would do.
pub(super) fn question_text(question: &Question) -> String {
    let mut said = vec![clean_block(&question.subject.intent.title)];
    said.extend(question.items().iter().map(item_text));
    said.join("\n")
}

fn item_text(item: &QuestionItem<'_>) -> String {
    match item {
        QuestionItem::Touch(touch) => touch_text(touch),
        QuestionItem::NotUnderstood(why) => {
            let why = one_line(why);
            format!("Not fully understood: {why}; a shell would run it as it stands.")
        }
        QuestionItem::Content(content) => limit_lines(&clean_block(&content_text(content))),
        QuestionItem::HiddenCharacters { path, found } => {
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            format!(
                "Hidden characters in `{}`: {}",
                named(path),
                found.join(", ")
            )
        }
        QuestionItem::Input(input) => input_text(input),
    }
}

fn touch_text(touch: &Touch) -> String {
    match touch {
        Touch::Runs(command) => command_text(command),
        Touch::Reads(path) => format!("Reads `{}`", named(path)),
        Touch::Writes(path) => format!("Writes `{}`", named(path)),
        Touch::Deletes(path) => format!("Deletes `{}`", named(path)),
        Touch::Moves { from, to } => format!("Moves `{}` to `{}`", named(from), named(to)),
        Touch::Reaches(target) => format!("Reaches `{}`", one_line(target)),
        Touch::Unknown => "May affect anything: the tool does not say what.".to_owned(),
    }
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
    said
}

/// Returns content as text. A form has text only, so other content is named.
fn content_text(content: &Content) -> String {
    match content {
        Content::Edit(edit) => diff(edit),
        Content::Text(text) => text.to_string(),
        Content::Image(_) => "(an image)".to_owned(),
        Content::Audio(_) => "(a sound)".to_owned(),
        Content::Resource(resource) => resource.uri.to_string(),
        Content::Link(link) => link.uri.to_string(),
        Content::Terminal(_) => "(a terminal)".to_owned(),
    }
}

fn input_text(input: &Value) -> String {
    let input = clean_block(&format!("{input:#}"));
    let (shown, rest) = input.split_at(input.floor_char_boundary(LONGEST_INPUT));
    match rest.len() {
        0 => format!("Its input:\n{shown}"),
        1 => format!("Its input:\n{shown}\n… 1 more byte"),
        more => format!("Its input:\n{shown}\n… {more} more bytes"),
    }
}

/// Returns a file change as a diff under a line with its path.
pub(super) fn diff(edit: &FileEdit) -> String {
    let path = named(&edit.path);
    match &edit.change {
        FileChange::Added { after } => format!("Creates `{path}`:\n{}", lines("", text(after))),
        FileChange::Modified { before, after } => {
            format!("Changes `{path}`:\n{}", lines(text(before), text(after)))
        }
        FileChange::Deleted {
            before: FileBody::Text(before),
        } => format!("Deletes `{path}`:\n{}", lines(before, "")),
        FileChange::Deleted { before } => format!("Deletes `{path}` ({})", before.summary()),
        FileChange::Moved { to } => format!("Moves `{path}` to `{}`", named(to)),
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

fn limit_lines(text: &str) -> String {
    let all = text.lines().count();
    if all <= MOST_LINES {
        return text.to_owned();
    }
    let first: Vec<&str> = text.lines().take(MOST_LINES).collect();
    let more = match all - MOST_LINES {
        1 => "1 more line".to_owned(),
        more => format!("{more} more lines"),
    };
    format!("{}\n… {more}", first.join("\n"))
}

fn named(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// Escapes line breaks and tabs, so that a value cannot fake a line of the question.
fn one_line(text: &str) -> String {
    clean_block(text)
        .replace('\n', "\\u{a}")
        .replace('\t', "\\u{9}")
}
