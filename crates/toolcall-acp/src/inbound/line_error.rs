//! The error of a bad line, and the response to it.
//! It must not quote more than an excerpt of the line, nor hidden characters.

use serde_json::value::RawValue;
use toolcall::text::clean_line;

use super::envelope::{Envelope, Member};
use crate::inbound::RequestId;
use crate::wire::{self, RpcError};

/// The most characters of a line that are quoted.
const EXCERPT_LENGTH: usize = 40;
/// The longest id that is accepted, in bytes. It is kept, and sent back with the response.
pub(super) const LONGEST_ID: usize = 1024;

/// Why a line is not a valid message.
#[derive(Debug)]
pub(super) struct LineError<'a> {
    pub(super) code: i64,
    pub(super) reason: String,
    /// The id of the request, if it could be read.
    pub(super) id: Option<&'a RawValue>,
    pub(super) kind: LineKind,
}

/// What a line seems to be, even if it is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A request, a notification or unknown. It is answered.
    Call,
    /// A response. It is never answered.
    Response,
}

impl<'a> LineError<'a> {
    /// Creates the error for a line that could not be parsed.
    pub(super) fn unreadable(envelope: &Envelope<'a>, reason: String) -> Self {
        let reason = format!("parse error: {reason}");
        Self::new(wire::PARSE_ERROR, envelope, reason)
    }

    /// Creates the error for a line that is JSON and not a valid message.
    pub(super) fn invalid(envelope: &Envelope<'a>, reason: &str) -> Self {
        let reason = format!("invalid request: {reason}");
        Self::new(wire::INVALID_REQUEST, envelope, reason)
    }

    fn new(code: i64, envelope: &Envelope<'a>, reason: String) -> Self {
        let kind = if envelope.is_response() {
            LineKind::Response
        } else {
            LineKind::Call
        };
        // If there are two ids, neither is used.
        let id = envelope
            .get(Member::Id)
            .filter(|id| envelope.duplicate() != Some(Member::Id) && can_be_returned(id));
        Self {
            code,
            reason,
            id,
            kind,
        }
    }

    /// Builds the error response to this line.
    pub(super) fn answer(&self) -> Vec<u8> {
        wire::error_response(self.id, &RpcError::new(self.code, self.reason.as_str()))
    }
}

/// Describes what the JSON parser found, where, with an excerpt.
pub(super) fn not_json(line: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
    let at = error.column();
    format!("{what} at byte {at}, near `{}`", excerpt(line, at))
}

/// Returns a few characters around a byte (counted from 1), safe to show.
fn excerpt(line: &str, at: usize) -> String {
    let start = line.floor_char_boundary(at.saturating_sub(1 + EXCERPT_LENGTH / 2));
    let shown: String = line[start..].chars().take(EXCERPT_LENGTH).collect();
    clean_line(&shown, EXCERPT_LENGTH)
}

/// Returns the first characters, safe to show.
pub(super) fn excerpt_start(text: &str) -> String {
    excerpt(text, 0)
}

/// Whether an id can be sent back. Fractions are not valid ids, but their error names them.
fn can_be_returned(id: &RawValue) -> bool {
    let id = id.get();
    let is_id = || serde_json::from_str::<RequestId>(id).is_ok();
    let is_number = || serde_json::from_str::<f64>(id).is_ok();
    id.len() <= LONGEST_ID && (is_id() || is_number())
}
