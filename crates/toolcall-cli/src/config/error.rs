//! What is wrong with the settings: where it stands, what it is, what to write instead.
//! It repeats no value: a key of a service may have been put in the wrong place.

use std::ops::Range;

/// Config that cannot be used, and why.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}:{line}:{column}: {problem}; {advice}")]
pub(crate) struct ConfigError {
    file: String,
    line: usize,
    column: usize,
    problem: String,
    advice: String,
}

/// What is wrong, before anybody said where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    problem: String,
    advice: String,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    /// At this place of a text.
    pub(crate) fn at(self, file: &str, text: &str, span: &Range<usize>) -> ConfigError {
        let before = before(text, span.start);
        let column = before.rsplit('\n').next().unwrap_or_default();
        ConfigError {
            file: file.to_owned(),
            line: line(text, span),
            column: column.chars().count() + 1,
            problem: self.problem,
            advice: self.advice,
        }
    }
}

/// The line that something begins on, counted from 1.
pub(crate) fn line(text: &str, span: &Range<usize>) -> usize {
    before(text, span.start).matches('\n').count() + 1
}

/// A parser may point behind the end, or into a character.
fn before(text: &str, byte: usize) -> &str {
    &text[..text.floor_char_boundary(byte)]
}
