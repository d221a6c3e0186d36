//! Checks a recorded stream of both directions against the rules for tool calls.
//! It must not change a message, read the clock or name a protocol version.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use toolcall::{CallId, Effect};

pub use crate::decode::Direction;
use crate::decode::{Body, CallReport, Decoder, Message, ProtocolVersion};
use crate::finding::{Finding, LintRule};

mod observed_call;
#[cfg(test)]
mod tests;

use observed_call::ObservedCall;

/// One message of a recorded stream.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Who sent it.
    pub direction: Direction,
    /// The whole JSON-RPC message.
    pub message: &'a Value,
}

/// Checks a whole recording. Returns everything that is wrong with it.
///
/// ```
/// use serde_json::json;
/// use toolcall_acp::lint::{Direction, Frame, lint};
///
/// let update = json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read a.rs"});
/// let message = json!({"method": "session/update", "params": {"sessionId": "s", "update": update}});
/// let frame = Frame { direction: Direction::FromAgent, message: &message };
/// let findings = lint([frame]);
/// assert_eq!(findings[0].to_string(), "one-ending: `c1`: the recording ends, and the call has not");
/// ```
pub fn lint<'a>(frames: impl IntoIterator<Item = Frame<'a>>) -> Vec<Finding> {
    let mut linter = Linter::default();
    let frames = frames.into_iter();
    let mut findings: Vec<Finding> = frames.flat_map(|frame| linter.see(frame)).collect();
    findings.extend(linter.end());
    findings
}

/// Checks one message after the other. The same finding about a call is reported once.
#[derive(Debug, Default)]
pub struct Linter {
    next: usize,
    decoder: Decoder,
    /// The id of the client's `initialize`, until it is answered.
    initialize: Option<Value>,
    sessions: BTreeMap<String, RecordedSession>,
    /// Open prompts, by the id of their request.
    prompts: HashMap<String, String>,
    /// Open permission questions, by the id of their request.
    questions: HashMap<String, PendingQuestion>,
    reported_findings: HashSet<u64>,
}

/// The calls of one session.
#[derive(Debug, Default)]
struct RecordedSession {
    calls: BTreeMap<CallId, ObservedCall>,
}

/// A permission question without an answer.
#[derive(Debug)]
struct PendingQuestion {
    session: String,
    call: CallId,
    /// The ids of the options that allow.
    allowing: Vec<String>,
}

impl Linter {
    /// Checks the next message. Returns the new findings.
    pub fn see(&mut self, frame: Frame<'_>) -> Vec<Finding> {
        let at = self.next;
        self.next += 1;
        self.negotiate(frame);
        let Message { session, body } = self.decoder.message(frame.direction, frame.message);
        let findings = match (frame.direction, body) {
            (_, Body::Report(report)) => self.reported(session, report),
            (
                _,
                Body::Question {
                    id,
                    report,
                    allowing,
                },
            ) => self.asked(session, id, report, allowing),
            (_, Body::Update(findings)) => findings,
            (_, Body::Withdrawn { id }) => {
                self.withdrawn(&id);
                Vec::new()
            }
            (_, Body::Prompt { id }) => {
                self.prompts.insert(id, session.to_owned());
                Vec::new()
            }
            // A replay follows, of calls that were checked before.
            (_, Body::Load) => {
                self.sessions.remove(session);
                Vec::new()
            }
            (Direction::FromAgent, Body::Response { id, .. }) => self.turn_ended(&id),
            (Direction::FromClient, Body::Response { id, chosen }) => {
                self.answered(&id, chosen);
                Vec::new()
            }
            (_, Body::Other) => Vec::new(),
        };
        self.new_findings(at, session, findings)
    }

    /// Takes the protocol version from the agent's response to `initialize`.
    fn negotiate(&mut self, frame: Frame<'_>) {
        let (message, id) = (frame.message, &frame.message["id"]);
        if frame.direction == Direction::FromClient && message["method"] == "initialize" {
            self.initialize = Some(id.clone());
        } else if frame.direction == Direction::FromAgent && self.initialize.as_ref() == Some(id) {
            self.initialize = None;
            let number = message["result"]["protocolVersion"].as_u64();
            let version = number.and_then(ProtocolVersion::from_number);
            self.decoder = Decoder::new(version.unwrap_or_default());
        }
    }

    /// Ends the check. Returns what is missing at the end of the recording.
    pub fn end(mut self) -> Vec<Finding> {
        let sessions = self.sessions.values_mut();
        sessions
            .flat_map(|session| session.open_calls("the recording ends, and the call has not"))
            .collect()
    }

    fn reported(&mut self, session: &str, report: Result<CallReport<'_>, Finding>) -> Vec<Finding> {
        let CallReport {
            call,
            update,
            report,
            mut findings,
        } = match report {
            Ok(report) => report,
            Err(finding) => return vec![finding],
        };
        let call = self.call(session, call);
        call.named(update, &report, &mut findings);
        call.reported(&report, &mut findings);
        findings.into_vec()
    }

    /// Checks a permission question. The call within it is a report, too.
    fn asked(
        &mut self,
        session: &str,
        id: String,
        report: Result<CallReport<'_>, Finding>,
        allowing: Vec<String>,
    ) -> Vec<Finding> {
        let mut asked = match report {
            Ok(asked) => asked,
            Err(finding) => return vec![finding],
        };
        let call = self.call(session, asked.call.clone());
        call.asked(&asked.report, &mut asked.findings);
        let question = PendingQuestion {
            session: session.to_owned(),
            call: asked.call,
            allowing,
        };
        self.questions.insert(id, question);
        asked.findings.into_vec()
    }

    /// Records the answer to a question. Only an offered option that allows is a yes.
    fn answered(&mut self, id: &str, chosen: Option<&str>) {
        let Some(asked) = self.questions.remove(id) else {
            return;
        };
        let allows = |chosen: &str| asked.allowing.iter().any(|id| id == chosen);
        let effect = if chosen.is_some_and(allows) {
            Effect::Allow
        } else {
            Effect::Deny
        };
        self.call(&asked.session, asked.call).answered(effect);
    }

    /// Records that the agent withdrew a question: something else decided, such as a new rule.
    fn withdrawn(&mut self, id: &str) {
        if let Some(asked) = self.questions.remove(id) {
            self.call(&asked.session, asked.call).withdrawn();
        }
    }

    fn turn_ended(&mut self, response: &str) -> Vec<Finding> {
        let prompt = self.prompts.remove(response);
        let session = prompt.and_then(|session| self.sessions.get_mut(&session));
        session
            .map(|session| session.open_calls("the turn ended, and the call has not"))
            .unwrap_or_default()
    }

    fn call(&mut self, session: &str, id: CallId) -> &mut ObservedCall {
        let session = self.sessions.entry(session.to_owned()).or_default();
        let place = session.calls.len();
        session
            .calls
            .entry(id)
            .or_insert_with(|| ObservedCall::at(place))
    }

    /// Returns the findings that were not reported before, with their place in the stream.
    fn new_findings(
        &mut self,
        at: usize,
        session: &str,
        mut findings: Vec<Finding>,
    ) -> Vec<Finding> {
        findings.retain_mut(|finding| {
            finding.frame = Some(at);
            let mut hasher = DefaultHasher::new();
            let call = finding.call.as_ref().map(CallId::as_str);
            (session, finding.rule, call, &finding.message).hash(&mut hasher);
            self.reported_findings.insert(hasher.finish())
        });
        findings
    }
}

impl RecordedSession {
    /// Returns a finding for each call that has not ended, oldest first, each once.
    fn open_calls(&mut self, why: &str) -> Vec<Finding> {
        let mut open: Vec<_> = self
            .calls
            .iter_mut()
            .filter(|(_, call)| call.is_open())
            .collect();
        open.sort_by_key(|(_, call)| call.place());
        let finding = |(id, call): (&CallId, &mut ObservedCall)| {
            call.abandon();
            Finding::new(LintRule::OneEnding, Some(id.clone()), why)
        };
        open.into_iter().map(finding).collect()
    }
}
