//! Which part of its life a call is in: waiting for its turn, for a person, or at work.
//! It reads a call; the three parts follow each other without a gap and never overlap.

use toolcall::ToolCall;

/// A part of a call's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its input is written, it is prepared, it waits for others or for a place.
    Queued,
    /// Somebody is asked, before it runs or while it does.
    Asking,
    /// Its tool is at work.
    Running,
}

impl Phase {
    /// The part that a call is in now.
    pub(crate) fn of(call: &ToolCall) -> Self {
        match (call.is_asking(), call.has_started()) {
            (true, _) => Phase::Asking,
            (false, true) => Phase::Running,
            (false, false) => Phase::Queued,
        }
    }

    /// The name of its span.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Queued => "queue",
            Phase::Asking => "wait_for_person",
            Phase::Running => "run",
        }
    }
}
