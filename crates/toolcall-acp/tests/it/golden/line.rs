//! One line of a connection, and who wrote it.
//! Values only.

use serde_json::Value;

/// The id of the prompt, whose response ends a test.
pub(crate) const PROMPT: u64 = 3;

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Agent,
    Client,
}

/// One line, as text and as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) side: Side,
    pub(crate) text: String,
    pub(crate) json: Value,
}
