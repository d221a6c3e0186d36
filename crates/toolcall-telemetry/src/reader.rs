//! The reader that an engine shows its events to.
//! It never blocks and never panics; it writes nothing back.

use std::sync::Arc;

use toolcall::{Event, EventKind, Reader, Ticket, ToolCall};

use crate::spans::Spans;

/// Makes spans of the calls of one engine. Made by [`Telemetry::reader`](crate::Telemetry::reader).
pub struct SpanReader {
    spans: Arc<Spans>,
}

impl SpanReader {
    pub(crate) fn new(spans: Arc<Spans>) -> Self {
        Self { spans }
    }
}

/// A ticket is not kept: a collector that is slow or gone stops no calls.
impl Reader for SpanReader {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        match event.kind() {
            EventKind::Announcement => self.spans.announced(call),
            EventKind::Permission | EventKind::Start | EventKind::Form => {
                self.spans.happened(call, event);
            }
            EventKind::Finish => self.spans.finished(call, event),
            // None of these begins or ends a part of its life.
            EventKind::Preparation | EventKind::Passing | EventKind::Detail => {}
        }
    }
}
