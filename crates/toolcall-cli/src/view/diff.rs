//! Renders the changes of a call as a diff.
//! Long diffs are cut, with a note.

use std::time::Duration;

use anstyle::Style;
use similar::{ChangeTag, DiffOp, DiffTag, TextDiff};
use toolcall::text::clean_block;
use toolcall::{Content, FileBody, FileChange, FileEdit};

use super::style::{BAD, DIM, GOOD, paint};
use super::{INDENT, one_line, pluralize, wrap};

const MAX_LINES: usize = 60;
const CONTEXT: usize = 1;

/// Renders the contents of a question.
pub(crate) fn preview(content: &[Content], width: usize) -> Vec<String> {
    let show = |content: &Content| match content {
        Content::Edit(edit) => edit_lines(edit, width),
        Content::Text(text) => wrap(text, width),
        Content::Image(_) => wrap("(an image)", width),
        Content::Audio(_) => wrap("(a sound)", width),
        Content::Resource(resource) => wrap(&resource.uri, width),
        Content::Link(link) => wrap(&link.uri, width),
        Content::Terminal(_) => wrap("(a terminal)", width),
    };
    content.iter().flat_map(show).collect()
}

/// Renders an edit; the whole path comes first.
fn edit_lines(edit: &FileEdit, width: usize) -> Vec<String> {
    let path = one_line(&edit.path.to_string_lossy());
    let headed = |verb: &str, lines: Vec<String>| {
        let head = wrap(&format!("{verb} {path}"), width);
        head.into_iter().chain(lines).collect()
    };
    match &edit.change {
        FileChange::Added { after } => headed("creates", body_lines("", text(after), width)),
        FileChange::Modified { before, after } => {
            headed("changes", body_lines(text(before), text(after), width))
        }
        FileChange::Deleted { before } => match before {
            FileBody::Text(before) => headed("deletes", body_lines(before, "", width)),
            FileBody::Binary { .. } | FileBody::Folder { .. } => {
                wrap(&format!("deletes {path} ({})", before.summary()), width)
            }
        },
        FileChange::Moved { to } => {
            let to = one_line(&to.to_string_lossy());
            wrap(&format!("moves {path} to {to}"), width)
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

/// A diff that takes longer becomes coarser: other output waits for it.
const DIFF_TIMEOUT: Duration = Duration::from_millis(200);

fn body_lines(before: &str, after: &str, width: usize) -> Vec<String> {
    let mut config = TextDiff::configure();
    let diff = config.timeout(DIFF_TIMEOUT).diff_lines(before, after);
    let groups = diff.grouped_ops(CONTEXT);
    let total: usize = groups.iter().flatten().map(length).sum();
    let changes = || groups.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let shown: Vec<_> = if total <= MAX_LINES {
        changes().collect()
    } else {
        // Added lines matter most; undo can restore removed ones.
        let is_new = |change: &DiffLine<'_>| change.tag() == ChangeTag::Insert;
        let is_old = |change: &DiffLine<'_>| change.tag() == ChangeTag::Delete;
        let (new, old) = (changes().filter(is_new), changes().filter(is_old));
        new.chain(old).take(MAX_LINES).collect()
    };
    let mut lines: Vec<String> = shown
        .iter()
        .flat_map(|change| {
            let (sign, style) = sign_and_style(change.tag());
            changed_lines(sign, style, change.value(), width)
        })
        .collect();
    let more = total - shown.len();
    if more > 0 {
        lines.push(format!("{INDENT}… {}", pluralize(more, "more line")));
    }
    lines
}

/// One line of a diff.
type DiffLine<'a> = similar::Change<&'a str>;

fn length(op: &DiffOp) -> usize {
    match op.tag() {
        DiffTag::Equal | DiffTag::Insert => op.new_range().len(),
        DiffTag::Delete => op.old_range().len(),
        DiffTag::Replace => op.old_range().len() + op.new_range().len(),
    }
}

fn sign_and_style(tag: ChangeTag) -> (char, Style) {
    match tag {
        ChangeTag::Delete => ('-', BAD),
        ChangeTag::Insert => ('+', GOOD),
        ChangeTag::Equal => (' ', DIM),
    }
}

/// Breaks a long line into several: nothing of it may be hidden.
fn changed_lines(sign: char, style: Style, value: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(INDENT.len() + 2);
    let value = clean_block(value.trim_end_matches(['\r', '\n']));
    let chars: Vec<char> = value.chars().collect();
    let chunks: Vec<String> = if chars.is_empty() {
        vec![String::new()]
    } else {
        let chunks = chars.chunks(room);
        chunks.map(|chunk| chunk.iter().collect()).collect()
    };
    let line = |chunk| format!("{INDENT}{}", paint(style, &format!("{sign} {chunk}")));
    chunks.iter().map(line).collect()
}
