//! One line of a wire, and who wrote it.
//! Values only.

use serde_json::Value;

/// The id of the prompt, whose answer ends a story.
pub(crate) const PROMPT: u64 = 3;

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Agent,
    Client,
}

/// One line, as it was written and as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) side: Side,
    pub(crate) text: String,
    pub(crate) json: Value,
}
