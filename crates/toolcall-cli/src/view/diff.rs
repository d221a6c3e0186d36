//! Shows what a call would change, as lines with plus and minus.
//! It cuts what is long and says so.

use anstyle::Style;
use similar::{ChangeTag, TextDiff};
use toolcall::text::clean_line;
use toolcall::{Change, Content, FileBody, FileEdit};

use super::style::{BAD, DIM, GOOD, painted};
use super::{INDENT, wrapped};

const MOST_LINES: usize = 14;
const CONTEXT: usize = 1;

/// What the person who is asked sees of a call.
pub(crate) fn preview(content: &[Content], width: usize) -> Vec<String> {
    let show = |content: &Content| match content {
        Content::Edit(edit) => edit_lines(edit, width),
        Content::Text(text) => wrapped(text, width),
        Content::Image(_) => wrapped("(an image)", width),
        Content::Audio(_) => wrapped("(a sound)", width),
        Content::Resource(resource) => wrapped(&resource.uri, width),
        Content::Link(link) => wrapped(&link.uri, width),
        Content::Terminal(_) => wrapped("(a terminal)", width),
    };
    content.iter().flat_map(show).collect()
}

fn edit_lines(edit: &FileEdit, width: usize) -> Vec<String> {
    let path = edit.path.display();
    match &edit.change {
        Change::Added { after } => body_lines("", text(after), width),
        Change::Modified { before, after } => body_lines(text(before), text(after), width),
        Change::Deleted { before } => body_lines(text(before), "", width),
        Change::Moved { to } => wrapped(&format!("{path} becomes {}", to.display()), width),
    }
}

fn text(body: &FileBody) -> &str {
    match body {
        FileBody::Text(text) => text,
        FileBody::Binary { .. } => "(not text)\n",
    }
}

fn body_lines(before: &str, after: &str, width: usize) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let groups = diff.grouped_ops(CONTEXT);
    let changes = groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let lines: Vec<String> = changes
        .map(|change| {
            let (sign, style) = look(change.tag());
            one_line(sign, style, change.value(), width)
        })
        .collect();
    cut(lines)
}

fn look(tag: ChangeTag) -> (char, Style) {
    match tag {
        ChangeTag::Delete => ('-', BAD),
        ChangeTag::Insert => ('+', GOOD),
        ChangeTag::Equal => (' ', DIM),
    }
}

fn one_line(sign: char, style: Style, value: &str, width: usize) -> String {
    let room = width.saturating_sub(INDENT.len() + 2);
    let value = clean_line(value.trim_end_matches(['\r', '\n']), room);
    format!("{INDENT}{}", painted(style, &format!("{sign} {value}")))
}

fn cut(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("{INDENT}… {more} more lines"));
    }
    lines
}
