//! The span of a turn, held open by a guard.
//! It says which calls belong together; it neither starts nor ends them.

use std::sync::Arc;

use toolcall::{SessionId, Timestamp};

use crate::spans::{Spans, TurnEnd, TurnNumber};
use crate::trace::TraceParent;

/// How a turn begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnStart {
    pub(crate) session: SessionId,
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) parent: Option<TraceParent>,
}

impl TurnStart {
    /// A turn of this session. Without a parent it begins a trace of its own.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            agent: None,
            parent: None,
        }
    }

    /// The agent's name.
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// The span that it is part of: what the client's `traceparent` says.
    pub fn parent(mut self, parent: TraceParent) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// An open turn. Calls of its session that are announced meanwhile are its children. Dropped
/// without an end, it ended with the last of them.
pub struct TurnSpan {
    spans: Arc<Spans>,
    number: TurnNumber,
    trace: TraceParent,
}

impl TurnSpan {
    pub(crate) fn begin(spans: Arc<Spans>, start: TurnStart, at: Timestamp) -> Self {
        let (number, trace) = spans.begin_turn(start, at);
        Self {
            spans,
            number,
            trace,
        }
    }

    /// The span itself, to be handed on to what runs on its behalf.
    pub fn trace(&self) -> &TraceParent {
        &self.trace
    }

    /// It ended at this moment of its journal.
    pub fn end(self, at: Timestamp) {
        self.spans.end_turn(self.number, TurnEnd::At(at));
    }
}

impl Drop for TurnSpan {
    fn drop(&mut self) {
        self.spans.end_turn(self.number, TurnEnd::WithItsCalls);
    }
}
