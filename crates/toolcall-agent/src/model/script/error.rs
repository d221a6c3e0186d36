//! Errors of a script, with line, column and what to write instead.
//! It formats what the parser found.

use std::path::PathBuf;
use std::{fmt, io};

use serde_saphyr::{DefaultMessageFormatter, Error, Location, MessageFormatter as _};
use thiserror::Error as ThisError;
use toolcall::text::clean_line;

const LIST: &str = "a list is wanted here; a script is a list of turns, a turn is a list of steps \
    (`- - say: …`), and `calls` is a list of calls";
/// The least similarity of a name that is suggested.
const LIKENESS: f64 = 0.5;
const LONGEST_REASON: usize = 300;

/// Why a script could not be loaded.
#[derive(Debug, ThisError)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{}` cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The text is not a valid script.
    #[error("{0}")]
    Format(ScriptFault),
    /// The file is not a valid script.
    #[error("the script `{}`, {fault}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: ScriptFault,
    },
}

/// What is wrong with a script, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptFault {
    /// The line, from 1; 0 if it is not known.
    pub line: u64,
    /// The column, from 1.
    pub column: u64,
    /// What is wrong, and what to write instead.
    pub reason: String,
}

impl fmt::Display for ScriptFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "line {}, column {}: {}",
            self.line, self.column, self.reason
        )
    }
}

impl std::error::Error for ScriptFault {}

/// Returns a fault at this place.
pub(super) fn fault(at: Location, reason: impl Into<String>) -> ScriptFault {
    ScriptFault {
        line: at.line(),
        column: at.column(),
        reason: reason.into(),
    }
}

/// Rewords the message of the YAML parser where it uses its own terms.
pub(super) fn from_yaml(error: &Error) -> ScriptFault {
    let at = error.location().unwrap_or(Location::UNKNOWN);
    let error = error.without_snippet();
    match error {
        Error::SerdeUnknownField {
            field, expected, ..
        } => fault(at, unknown(field, expected)),
        Error::Unexpected {
            expected: "sequence start",
            ..
        } => fault(at, LIST),
        Error::InvalidScalar { .. } => fault(at, "a whole number is wanted here"),
        Error::InvalidBooleanStrict { .. } => fault(at, "`true` or `false` is wanted here"),
        other => {
            let reason = DefaultMessageFormatter.format_message(other);
            fault(at, clean_line(&reason, LONGEST_REASON))
        }
    }
}

fn unknown(field: &str, expected: &[&str]) -> String {
    let likeness = |name: &str| strsim::normalized_damerau_levenshtein(field, name);
    let nearest = expected
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|name| likeness(name) >= LIKENESS);
    let shown = clean_line(field, 40);
    let known: Vec<String> = expected.iter().map(|name| format!("`{name}`")).collect();
    match nearest {
        Some(nearest) => format!("there is no `{shown}`; did you mean `{nearest}`?"),
        None => format!("there is no `{shown}`; there are {}", known.join(", ")),
    }
}
