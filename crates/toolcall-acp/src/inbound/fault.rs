//! What is wrong with a line, and the one error it is answered with.
//! It must not quote more than a glance of the line, nor anything hidden in it.

use serde_json::value::RawValue;
use toolcall::text::clean_line;

use super::envelope::{Envelope, Member};
use crate::inbound::RequestId;
use crate::wire::{self, RpcError};

/// How many characters of a line are quoted at most.
const GLANCE: usize = 40;
/// The longest id that is read, in bytes. It is kept, and comes back with the answer.
pub(super) const LONGEST_ID: usize = 1024;

/// Why a line is no message, or one that is not taken.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    pub(super) code: i64,
    pub(super) reason: String,
    /// Whose request it was, as far as that could be read.
    pub(super) id: Option<&'a RawValue>,
    pub(super) shape: Shape,
}

/// What a line looks like, even if it is not sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A request, a notification, or nothing known: it is answered.
    Call,
    /// It is never answered.
    Response,
}

impl<'a> Fault<'a> {
    /// A line that could not be read to its end.
    pub(super) fn unreadable(envelope: &Envelope<'a>, reason: String) -> Self {
        let reason = format!("parse error: {reason}");
        Self::new(wire::PARSE_ERROR, envelope, reason)
    }

    /// A line that is JSON and no message.
    pub(super) fn invalid(envelope: &Envelope<'a>, reason: &str) -> Self {
        let reason = format!("invalid request: {reason}");
        Self::new(wire::INVALID_REQUEST, envelope, reason)
    }

    fn new(code: i64, envelope: &Envelope<'a>, reason: String) -> Self {
        let shape = match envelope.is_response() {
            true => Shape::Response,
            false => Shape::Call,
        };
        // Of two ids neither is the one.
        let id = envelope
            .get(Member::Id)
            .filter(|id| envelope.twice() != Some(Member::Id) && can_be_returned(id));
        Self {
            code,
            reason,
            id,
            shape,
        }
    }

    /// The error that this line is answered with.
    pub(super) fn answer(&self) -> Vec<u8> {
        wire::refusal(self.id, &RpcError::new(self.code, self.reason.as_str()))
    }
}

/// What the JSON reader found, where, and a glance at it.
pub(super) fn not_json(line: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
    let at = error.column();
    format!("{what} at byte {at}, near `{}`", glance(line, at))
}

/// A few characters around a byte (counted from one), fit to be shown.
fn glance(line: &str, at: usize) -> String {
    let start = line.floor_char_boundary(at.saturating_sub(1 + GLANCE / 2));
    let shown: String = line[start..].chars().take(GLANCE).collect();
    clean_line(&shown, GLANCE)
}

/// The first characters, fit to be shown.
pub(super) fn beginning(text: &str) -> String {
    glance(text, 0)
}

/// Fractions are no ids; whoever uses them can still be told.
fn can_be_returned(id: &RawValue) -> bool {
    let id = id.get();
    let is_id = || serde_json::from_str::<RequestId>(id).is_ok();
    let is_number = || serde_json::from_str::<f64>(id).is_ok();
    id.len() <= LONGEST_ID && (is_id() || is_number())
}
