//! Shows what a call would change, as lines with plus and minus.
//! It cuts what is long and says so.

use std::time::Duration;

use anstyle::Style;
use similar::{ChangeTag, DiffOp, DiffTag, TextDiff};
use toolcall::text::clean_block;
use toolcall::{Change, Content, FileBody, FileEdit};

use super::style::{BAD, DIM, GOOD, painted};
use super::{INDENT, one_line, wrapped};

const MOST_LINES: usize = 60;
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

/// Where it is comes first, and in full.
fn edit_lines(edit: &FileEdit, width: usize) -> Vec<String> {
    let path = one_line(&edit.path.to_string_lossy());
    let headed = |verb: &str, lines: Vec<String>| {
        let head = wrapped(&format!("{verb} {path}"), width);
        head.into_iter().chain(lines).collect()
    };
    match &edit.change {
        Change::Added { after } => headed("creates", body_lines("", text(after), width)),
        Change::Modified { before, after } => {
            headed("changes", body_lines(text(before), text(after), width))
        }
        Change::Deleted { before } => match before {
            FileBody::Text(before) => headed("deletes", body_lines(before, "", width)),
            FileBody::Binary { .. } | FileBody::Folder { .. } => {
                wrapped(&format!("deletes {path} ({})", before.summary()), width)
            }
        },
        Change::Moved { to } => {
            let to = one_line(&to.to_string_lossy());
            wrapped(&format!("moves {path} to {to}"), width)
        }
    }
}

fn text(body: &FileBody) -> &str {
    match body {
        FileBody::Text(text) => text,
        FileBody::Binary { .. } => "(not text)\n",
        FileBody::Folder { .. } => "(a folder)\n",
    }
}

/// A diff that takes longer is told less finely: this is read while others wait.
const DIFF_TIME: Duration = Duration::from_millis(200);

fn body_lines(before: &str, after: &str, width: usize) -> Vec<String> {
    let mut config = TextDiff::configure();
    let diff = config.timeout(DIFF_TIME).diff_lines(before, after);
    let groups = diff.grouped_ops(CONTEXT);
    let total: usize = groups.iter().flatten().map(length).sum();
    let changes = || groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let shown: Vec<_> = match total <= MOST_LINES {
        true => changes().collect(),
        // What comes in is what matters most; what goes is still there for undo.
        false => {
            let is_new = |change: &Line<'_>| change.tag() == ChangeTag::Insert;
            let is_old = |change: &Line<'_>| change.tag() == ChangeTag::Delete;
            let (new, old) = (changes().filter(is_new), changes().filter(is_old));
            new.chain(old).take(MOST_LINES).collect()
        }
    };
    let mut lines: Vec<String> = shown
        .iter()
        .flat_map(|change| {
            let (sign, style) = look(change.tag());
            changed_lines(sign, style, change.value(), width)
        })
        .collect();
    let more = total - shown.len();
    if more > 0 {
        lines.push(format!("{INDENT}… {more} more lines"));
    }
    lines
}

/// One line of a diff.
type Line<'a> = similar::Change<&'a str>;

fn length(op: &DiffOp) -> usize {
    match op.tag() {
        DiffTag::Equal | DiffTag::Insert => op.new_range().len(),
        DiffTag::Delete => op.old_range().len(),
        DiffTag::Replace => op.old_range().len() + op.new_range().len(),
    }
}

fn look(tag: ChangeTag) -> (char, Style) {
    match tag {
        ChangeTag::Delete => ('-', BAD),
        ChangeTag::Insert => ('+', GOOD),
        ChangeTag::Equal => (' ', DIM),
    }
}

/// A long line goes over several: nothing of it may hide behind a cut.
fn changed_lines(sign: char, style: Style, value: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(INDENT.len() + 2);
    let value = clean_block(value.trim_end_matches(['\r', '\n']));
    let chars: Vec<char> = value.chars().collect();
    let pieces: Vec<String> = match chars.is_empty() {
        true => vec![String::new()],
        false => chars
            .chunks(room)
            .map(|piece| piece.iter().collect())
            .collect(),
    };
    pieces
        .iter()
        .map(|piece| format!("{INDENT}{}", painted(style, &format!("{sign} {piece}"))))
        .collect()
}
