//! A shell command and how its text was parsed, as plain values.
//! Nothing here parses a text, runs a program or opens a file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::content::Digest;

/// A command: the text that the user sees, where it runs, and how it was parsed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// The text as the model wrote it.
    pub text: Arc<str>,
    /// The directory that it runs in.
    pub cwd: PathBuf,
    /// Environment variables beyond the usual ones.
    pub env: BTreeMap<Arc<str>, Arc<str>>,
    /// Scripts in the roots that it would run, with their digests when it was judged.
    pub scripts: BTreeMap<PathBuf, Digest>,
    /// How the text was parsed.
    pub reading: Reading,
}

impl Command {
    /// Creates a command with no extra environment variables.
    pub fn new(text: impl Into<Arc<str>>, cwd: impl Into<PathBuf>, reading: Reading) -> Self {
        Self {
            text: text.into(),
            cwd: cwd.into(),
            env: BTreeMap::new(),
            scripts: BTreeMap::new(),
            reading,
        }
    }

    /// Creates a command whose text was not parsed: careful policies ask about it.
    pub fn unread(text: impl Into<Arc<str>>, cwd: impl Into<PathBuf>) -> Self {
        Self::new(text, cwd, Reading::Unclear("nobody has read it".into()))
    }
}

/// How a command's text was parsed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Exactly these programs run, and nothing else.
    Understood(Vec<Part>),
    /// The text was not fully understood, for this reason.
    Unclear(Arc<str>),
}

/// One program of an understood command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// How it follows the part before it; the first part is [`Join::Then`].
    pub join: Join,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The directory that it runs in.
    pub cwd: PathBuf,
    /// Redirects, in the order in which they are set up.
    pub redirects: Vec<Redirect>,
}

impl Part {
    /// Creates a part that runs by itself and redirects nothing.
    pub fn new(argv: Vec<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            join: Join::Then,
            argv,
            cwd: cwd.into(),
            redirects: Vec::new(),
        }
    }
}

/// How a part follows the part before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// Runs after it, however it ended: `;`.
    Then,
    /// Runs after it if everything before succeeded: `&&`.
    And,
    /// Runs after it if everything before failed: `||`.
    Or,
    /// Runs at the same time and reads its output: `|`.
    Pipe,
}

/// A redirect of one standard stream.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Redirect {
    /// The stream.
    pub stream: Stream,
    /// Where it leads.
    pub target: Target,
}

/// One of the three standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard input, 0.
    Input,
    /// Standard output, 1.
    Output,
    /// Standard error, 2.
    Error,
}

/// Where a redirected stream leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Nowhere: `/dev/null`.
    Null,
    /// Wherever another stream leads now: `2>&1`.
    Stream(Stream),
    /// A file.
    File {
        /// The path; absolute if the part's directory is.
        path: PathBuf,
        /// How the file is opened.
        access: Access,
    },
}

/// How a redirect opens its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads the file: `<`.
    Read,
    /// Replaces the content, or creates the file: `>`.
    Replace,
    /// Appends to the file, or creates it: `>>`.
    Append,
}
