//! How calls look: as lines for people, as JSON for programs, as a table at the end.
//! Views read calls and events; they never change or decide anything.

mod diff;
mod json;
mod line;
mod row;
mod style;
mod subject;
mod table;

pub(crate) use json::JsonLines;
pub(crate) use line::Lines;
pub(crate) use style::{BOLD, BUSY, DIM, GOOD, painted};
pub(crate) use subject::subject;
pub(crate) use table::Table;

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
