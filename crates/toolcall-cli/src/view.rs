//! How calls look: as lines for people, as JSON for programs, as a timeline at the end.
//! Views read calls and events; they never change or decide anything.

mod diff;
mod json;
mod line;
mod row;
mod style;
mod subject;
mod timeline;

pub(crate) use diff::preview;
pub(crate) use json::{JsonLines, event_json};
pub(crate) use line::Lines;
pub(crate) use row::event_detail;
pub(crate) use style::{ATTENTION, BAD, BOLD, BUSY, DIM, GOOD, PLAIN, painted};
pub(crate) use subject::subject;
pub(crate) use timeline::{Timeline, outcome};

/// How far lines are indented that belong to the one above.
pub(crate) const INDENT: &str = "          ";

const NARROWEST: usize = 60;
const WIDEST: usize = 120;
const USUAL: usize = 80;

/// How many columns there are to write in.
pub(crate) fn width() -> usize {
    match terminal_size::terminal_size() {
        Some((terminal_size::Width(columns), _)) => usize::from(columns).clamp(NARROWEST, WIDEST),
        None => USUAL,
    }
}

/// A value on one line, with nothing hidden in it: a line break in it must not pass for ours.
pub(crate) fn one_line(text: &str) -> String {
    toolcall::text::clean_block(text).replace('\n', "⏎")
}

/// A text in exactly so many columns: cut with a sign, or followed by spaces.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    let mut clean = toolcall::text::clean_line(text, columns);
    let mut graphemes = columns;
    // Some take two columns.
    while textwrap::core::display_width(&clean) > columns && graphemes > 0 {
        graphemes -= 1;
        clean = toolcall::text::clean_line(text, graphemes);
    }
    let left = columns.saturating_sub(textwrap::core::display_width(&clean));
    clean + &" ".repeat(left)
}

/// A text over as many indented lines as it needs.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let options = textwrap::Options::new(width)
        // A path is looked at as a whole.
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .initial_indent(INDENT)
        .subsequent_indent(INDENT);
    let clean = toolcall::text::clean_block(text);
    let lines = textwrap::wrap(&clean, options);
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// So many of something, in words.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        many => format!("{many} {noun}s"),
    }
}
