//! Renders calls: as lines of text, as JSON and as a timeline.
//! Views read calls and events; they never change or decide anything.

mod diff;
mod json;
mod line;
mod question;
mod row;
mod style;
mod timeline;

pub(crate) use diff::preview;
pub(crate) use json::{JsonLines, event_json};
pub(crate) use line::EventLines;
pub(crate) use question::question_lines;
pub(crate) use row::event_detail;
pub(crate) use style::{ATTENTION, BAD, BOLD, BUSY, DIM, GOOD, PLAIN, paint};
pub(crate) use timeline::{Timeline, outcome};

/// The indentation of lines that belong to the line above.
pub(crate) const INDENT: &str = "          ";

const MIN_WIDTH: usize = 60;
const MAX_WIDTH: usize = 120;
const DEFAULT_WIDTH: usize = 80;

/// Returns the width of the output in columns.
pub(crate) fn width() -> usize {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) => {
            usize::from(columns).clamp(MIN_WIDTH, MAX_WIDTH)
        }
        None => DEFAULT_WIDTH,
    }
}

/// Returns a value on one line, with hidden characters made visible, so that a line break in it does
/// not look like one of ours.
pub(crate) fn one_line(text: &str) -> String {
    toolcall::text::clean_block(text).replace('\n', "⏎")
}

/// Returns a text that takes exactly `columns` columns: cut with `…`, or padded with spaces.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let mut clean = toolcall::text::clean_line(text, columns);
    let mut graphemes = columns;
    // Some characters take two columns.
    while textwrap::core::display_width(&clean) > columns && graphemes > 0 {
        graphemes -= 1;
        clean = toolcall::text::clean_line(text, graphemes);
    }
    let left = columns.saturating_sub(textwrap::core::display_width(&clean));
    clean + &" ".repeat(left)
}

/// Breaks a text into indented lines.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width)
        // Paths are not broken at hyphens.
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(INDENT)
        .subsequent_indent(INDENT);
    let clean = toolcall::text::clean_block(text);
    let lines = textwrap::wrap(&clean, options);
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// Returns a number with its noun, in the singular or plural.
pub(crate) fn pluralize<N>(count: N, noun: &str) -> String
where
    N: PartialEq + From<u8> + std::fmt::Display,
{
    if count == N::from(1) {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}
