//! What a reader finds in a text, before anybody asked what it means.
//! It holds words and operators only: no folders, no builtins, no judgement.

use std::fmt;

use toolcall::{Access, Join, Stream};

/// One simple command of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) join: Join,
    /// The words with their quotes taken off; never empty.
    pub(crate) words: Vec<String>,
    pub(crate) aims: Vec<Aim>,
}

/// One redirect as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Aim {
    /// `2>&1`
    ErrorToOutput,
    /// `<`, `>` or `>>` and a word.
    File {
        stream: Stream,
        access: Access,
        word: String,
    },
}

/// Why a text is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    what: String,
    at: usize,
}

impl Doubt {
    pub(crate) fn new(what: impl Into<String>, at: usize) -> Self {
        let what = what.into();
        Self { what, at }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}
