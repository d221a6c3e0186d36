//! The phases of a call: queued, waiting for the user, running.
//! Phases follow each other without a gap and never overlap.

use toolcall::ToolCall;

/// The phase that a call is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Its input arrives, it is prepared, or it waits for other calls.
    Queued,
    /// It waits for an answer of the user, before it runs or while it does.
    Asking,
    /// Its tool runs.
    Running,
}

impl Phase {
    /// Returns the phase that a call is in.
    pub(crate) fn of(call: &ToolCall) -> Self {
        match (call.is_asking(), call.has_started()) {
            (true, _) => Phase::Asking,
            (false, true) => Phase::Running,
            (false, false) => Phase::Queued,
        }
    }

    /// Returns the name of its span.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Phase::Queued => "queue",
            Phase::Asking => "wait_for_person",
            Phase::Running => "run",
        }
    }
}
