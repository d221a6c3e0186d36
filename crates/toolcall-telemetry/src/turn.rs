//! The span of a turn, as a guard.
//! It groups calls; it neither starts nor ends them.

use std::sync::Arc;

use toolcall::{SessionId, Timestamp};

use crate::span_tracker::{SpanTracker, TurnEnd, TurnId};
use crate::trace::TraceParent;

/// The session, the agent and the parent span of a turn that begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnStart {
    pub(crate) session: SessionId,
    pub(crate) agent: Option<Arc<str>>,
    pub(crate) parent: Option<TraceParent>,
}

impl TurnStart {
    /// A turn of this session. Without a parent it begins a new trace.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            agent: None,
            parent: None,
        }
    }

    /// Sets the name of the agent.
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Sets the parent span, from the client's `traceparent`.
    pub fn parent(mut self, parent: TraceParent) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// The span of an open turn. Calls of its session that are announced meanwhile are its children.
///
/// If it is dropped without [`TurnSpan::end`], it ends with the last of its calls.
pub struct TurnSpan {
    spans: Arc<SpanTracker>,
    id: TurnId,
    trace: TraceParent,
}

impl TurnSpan {
    pub(crate) fn begin(spans: Arc<SpanTracker>, start: TurnStart, at: Timestamp) -> Self {
        let (id, trace) = spans.begin_turn(start, at);
        Self { spans, id, trace }
    }

    /// Returns its trace context, for requests made on its behalf.
    pub fn trace(&self) -> &TraceParent {
        &self.trace
    }

    /// Ends the turn at a timestamp of its journal.
    pub fn end(self, at: Timestamp) {
        self.spans.end_turn(self.id, TurnEnd::At(at));
    }
}

impl Drop for TurnSpan {
    fn drop(&mut self) {
        self.spans.end_turn(self.id, TurnEnd::WithItsCalls);
    }
}
