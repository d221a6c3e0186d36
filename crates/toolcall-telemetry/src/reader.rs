//! The reader that an engine sends its events to.
//! It never blocks, never panics and writes nothing back.

use std::sync::Arc;

use toolcall::{Event, EventKind, Reader, Ticket, ToolCall};

use crate::span_tracker::SpanTracker;

/// Turns the calls of one engine into spans. [`Telemetry::reader`](crate::Telemetry::reader) creates it.
pub struct SpanReader {
    spans: Arc<SpanTracker>,
}

impl SpanReader {
    pub(crate) fn new(spans: Arc<SpanTracker>) -> Self {
        Self { spans }
    }
}

/// Does not hold tickets, so a slow or missing collector stops no calls.
impl Reader for SpanReader {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        match event.kind() {
            EventKind::Announcement => self.spans.begin_call(call),
            EventKind::Permission | EventKind::Start | EventKind::Form => {
                self.spans.update(call, event);
            }
            EventKind::Finish => self.spans.end_call(call, event),
            // None of these begins or ends a phase.
            EventKind::Preparation | EventKind::Passing | EventKind::Detail => {}
        }
    }
}
