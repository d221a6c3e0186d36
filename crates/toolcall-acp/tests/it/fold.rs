//! Decodes reports and applies them to calls, as a client would.
//! It must not hide an error: events that a call refuses are kept for the test.

use std::sync::Arc;

use serde_json::Value;
use toolcall::{Event, Irregularity, Output, SessionId, Timestamp, ToolCall};
use toolcall_acp::finding::Finding;
use toolcall_acp::v1::decode::{announce, decode};

/// The calls of a stream, oldest first, with findings and refused events.
#[derive(Default)]
pub(crate) struct Folded {
    pub(crate) calls: Vec<ToolCall>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) irregular: Vec<(Event, Irregularity)>,
}

impl Folded {
    /// Applies one report.
    pub(crate) fn take(&mut self, session: &str, report: &Value) {
        let id = report["toolCallId"].as_str();
        let is_it =
            |call: &ToolCall| Some(call.id().as_str()) == id && call.session().as_str() == session;
        match self.calls.iter().position(is_it) {
            Some(known) => self.update(known, report),
            None => self.announce(session, report),
        }
    }

    fn announce(&mut self, session: &str, report: &Value) {
        let first = match announce(report) {
            Ok(first) => first,
            Err(finding) => return self.findings.push(finding),
        };
        self.findings.extend(first.findings);
        self.calls.push(ToolCall::announce(
            first.id,
            SessionId::new(session),
            Arc::new(first.announced),
            Arc::new(Output::default()),
            Timestamp::default(),
        ));
        self.apply(self.calls.len() - 1, first.then, first.printed);
    }

    fn update(&mut self, known: usize, report: &Value) {
        let decoded = decode(&self.calls[known], report);
        self.findings.extend(decoded.findings);
        self.apply(known, decoded.events, decoded.printed);
    }

    fn apply(&mut self, at: usize, events: Vec<Event>, printed: Option<String>) {
        let call = &mut self.calls[at];
        for event in events {
            if let Err(irregularity) = call.apply(&event, Timestamp::default()) {
                self.irregular.push((event, irregularity));
            }
        }
        if let Some(text) = printed
            && let Err(irregularity) = call.print(text.as_bytes())
        {
            self.irregular.push((Event::Started, irregularity));
        }
    }
}
