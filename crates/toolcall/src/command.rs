//! A command and what its text was understood to mean, as plain values.
//! Nothing here reads a text, runs a program or opens a file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::content::Digest;

/// A command: the text that is shown, where it runs, and how it was read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// The text as the model wrote it.
    pub text: Arc<str>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// Variables that it finds in its environment beyond the usual ones.
    pub env: BTreeMap<Arc<str>, Arc<str>>,
    /// Files in the roots that it would run, as they were when it was judged.
    pub scripts: BTreeMap<PathBuf, Digest>,
    /// What the text was understood to mean.
    pub reading: Reading,
}

impl Command {
    /// A command with nothing special in its environment.
    pub fn new(text: impl Into<Arc<str>>, cwd: impl Into<PathBuf>, reading: Reading) -> Self {
        Self {
            text: text.into(),
            cwd: cwd.into(),
            env: BTreeMap::new(),
            scripts: BTreeMap::new(),
            reading,
        }
    }

    /// A command whose text nobody has taken apart: careful policies ask about it.
    pub fn unread(text: impl Into<Arc<str>>, cwd: impl Into<PathBuf>) -> Self {
        Self::new(text, cwd, Reading::Unclear("nobody has read it".into()))
    }
}

/// What a command's text was understood to mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// Exactly these programs run, and nothing else.
    Understood(Vec<Part>),
    /// Not fully understood, and why.
    Unclear(Arc<str>),
}

/// One program of an understood command.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Part {
    /// How it follows the part before it; the first follows nothing, and is [`Join::Then`].
    pub join: Join,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// Where its input and output go, in the order in which they are set up.
    pub redirects: Vec<Redirect>,
}

impl Part {
    /// A program that runs by itself and redirects nothing.
    pub fn new(argv: Vec<String>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            join: Join::Then,
            argv,
            cwd: cwd.into(),
            redirects: Vec::new(),
        }
    }
}

/// When a part runs, seen from the part before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Join {
    /// After it, however it ended: `;`.
    Then,
    /// After it, if what came before succeeded: `&&`.
    And,
    /// After it, if what came before failed: `||`.
    Or,
    /// Together with it, reading what it prints: `|`.
    Pipe,
}

/// One stream of a program, connected to something else than usual.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Redirect {
    /// Which stream.
    pub stream: Stream,
    /// Where it leads.
    pub target: Target,
}

/// One of the three streams that a program starts with.
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
    /// Where another stream leads at this moment: `2>&1`.
    Stream(Stream),
    /// A file.
    File {
        /// Its path; absolute if the part's folder is.
        path: PathBuf,
        /// How it is opened.
        access: Access,
    },
}

/// How a redirect opens its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// To read it: `<`.
    Read,
    /// To replace what it holds, made if it is not there: `>`.
    Replace,
    /// To write at its end, made if it is not there: `>>`.
    Append,
}
