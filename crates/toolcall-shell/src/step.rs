//! What a reader finds in a text, before anybody asked what it means.
//! It holds words and operators only: no folders, no builtins, no judgement.

use std::fmt;

use toolcall::{Access, Join, Stream};

use crate::refusal::Refusal;

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
    refusal: Refusal,
    /// What was met, as it is shown behind the words.
    thing: String,
    at: usize,
}

impl Doubt {
    pub(crate) fn new(refusal: Refusal, at: usize) -> Self {
        Self {
            refusal,
            thing: String::new(),
            at,
        }
    }

    /// At this byte.
    pub(crate) fn at(mut self, at: usize) -> Self {
        self.at = at;
        self
    }

    /// With what was met.
    pub(crate) fn about(mut self, thing: impl fmt::Display) -> Self {
        self.thing = format!(" {thing}");
        self
    }
}

/// Whoever refuses may not know where it was.
impl From<Refusal> for Doubt {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal, 0)
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Doubt { refusal, thing, at } = self;
        write!(f, "{}{thing} at byte {at}", refusal.words())
    }
}
