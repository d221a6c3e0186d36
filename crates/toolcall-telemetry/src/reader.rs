//! The reader that an engine shows its events to.
//! It never blocks and never panics; it writes nothing back.

use std::sync::Arc;

use toolcall::{Event, Reader, Ticket, ToolCall};

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
        match event {
            Event::Announced(_) => self.spans.announced(call),
            Event::Asked(_)
            | Event::Decided(_)
            | Event::Started
            | Event::FormAsked(_)
            | Event::FormAnswered(_) => self.spans.happened(call, event),
            Event::Finished(_) => self.spans.finished(call, event),
            // None of these begins or ends a part of its life.
            Event::InputGrew(_)
            | Event::InputArrived(_)
            | Event::Prepared(_)
            | Event::Progressed(_)
            | Event::Showed(_)
            | Event::Printed(_)
            | Event::Beat(_)
            | Event::Held(_)
            | Event::Resumed
            | Event::Planned(_)
            | Event::Noted { .. }
            | Event::Located(_)
            | Event::Exited(_)
            | Event::Restated(_)
            | Event::StatusUnknown(_) => {}
        }
    }
}
