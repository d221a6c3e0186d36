//! Errors in the settings file: position, problem, and what to write instead.
//! They never repeat a value: the user may have pasted an API key into the wrong place.

use std::ops::Range;

/// An error in the settings file, with its position.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}:{line}:{column}: {problem}; {advice}")]
pub(crate) struct ConfigError {
    file: String,
    line: usize,
    column: usize,
    problem: String,
    advice: String,
}

/// A problem with a key or value, before its position is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigProblem {
    problem: String,
    advice: String,
}

impl ConfigProblem {
    pub(crate) fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    /// Adds the position of `span` in `text`.
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

/// Returns the line on which `span` begins, counted from 1.
pub(crate) fn line(text: &str, span: &Range<usize>) -> usize {
    before(text, span.start).matches('\n').count() + 1
}

/// Returns the text before a byte offset. A parser may point past the end or into a character.
fn before(text: &str, byte: usize) -> &str {
    &text[..text.floor_char_boundary(byte)]
}
