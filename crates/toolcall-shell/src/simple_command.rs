//! The simple commands of a text, as both parsers return them.
//! It holds words and operators only: directories and builtins are resolved later.

use toolcall::{Access, Join, Stream};

/// One simple command in the sense of POSIX: words, redirects and how it is joined to the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    pub(crate) join: Join,
    /// The words without their quotes; never empty.
    pub(crate) words: Vec<String>,
    pub(crate) redirects: Vec<RawRedirect>,
}

/// One redirect as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RawRedirect {
    /// `2>&1`
    ErrorToOutput,
    /// `<`, `>` or `>>` and a word.
    File {
        stream: Stream,
        access: Access,
        word: String,
    },
}
