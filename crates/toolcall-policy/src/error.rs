//! Errors in a policy: where, what is wrong, and what to write instead.
//! A policy with an error is not used.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::position::Position;

/// Why a policy cannot be used.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub struct PolicyError {
    /// The file, or another name of its origin.
    pub file: Arc<str>,
    /// The line, counted from 1; 0 if it is about the file as a whole.
    pub line: usize,
    /// The column, counted from 1 in characters; 0 if it is about the file as a whole.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub advice: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            line,
            column,
            problem,
            advice,
        } = self;
        match line {
            0 => write!(out, "{file}: {problem}; {advice}"),
            _ => write!(out, "{file}:{line}:{column}: {problem}; {advice}"),
        }
    }
}

impl PolicyError {
    /// Returns an error about a whole file.
    pub(crate) fn of_file(
        file: &Path,
        problem: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let file = file.display().to_string();
        RuleError::new(problem, advice).at(&file.into(), Position { line: 0, column: 0 })
    }
}

/// An error in a rule, before its position is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleError {
    pub(crate) problem: String,
    pub(crate) advice: String,
}

impl RuleError {
    pub(crate) fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            advice: advice.into(),
        }
    }

    pub(crate) fn at(self, file: &Arc<str>, position: Position) -> PolicyError {
        PolicyError {
            file: file.clone(),
            line: position.line,
            column: position.column,
            problem: self.problem,
            advice: self.advice,
        }
    }
}
