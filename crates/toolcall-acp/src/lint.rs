//! Rules over a recorded stream, both directions of it: what an agent should have said, and when.
//! It must not change a message, tell the time or name a protocol version: it looks at what passes by.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use toolcall::{CallId, Effect};

pub use crate::decode::Direction;
use crate::decode::{Body, CallReport, Decoder, Message, ProtocolVersion};
use crate::finding::{Finding, Rule};

mod seen;
#[cfg(test)]
mod tests;

use seen::Seen;

/// One message of a recorded stream.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Who sent it.
    pub direction: Direction,
    /// The whole JSON-RPC message.
    pub message: &'a Value,
}

/// Everything that is wrong with a whole recording.
pub fn lint<'a>(frames: impl IntoIterator<Item = Frame<'a>>) -> Vec<Finding> {
    let mut linter = Linter::default();
    let frames = frames.into_iter();
    let mut findings: Vec<Finding> = frames.flat_map(|frame| linter.see(frame)).collect();
    findings.extend(linter.end());
    findings
}

/// Looks at one message after the other. What was found once of a call is not told again.
#[derive(Debug, Default)]
pub struct Linter {
    next: usize,
    decoder: Decoder,
    /// The id of the client's `initialize`, until it is answered.
    initialize: Option<Value>,
    sessions: BTreeMap<String, Session>,
    /// Prompts that run, by the id of their request.
    prompts: HashMap<String, String>,
    /// Questions that are open, by the id of their request.
    questions: HashMap<String, Asked>,
    told: HashSet<u64>,
}

/// The calls of one session.
#[derive(Debug, Default)]
struct Session {
    calls: BTreeMap<CallId, Seen>,
}

/// A question that a client was asked.
#[derive(Debug)]
struct Asked {
    session: String,
    call: CallId,
    /// The ids of the options that allow.
    allowing: Vec<String>,
}

impl Linter {
    /// Looks at the next message, and says what is wrong as of it.
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
            // What follows is a replay of calls that were seen before.
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
        self.news(at, session, findings)
    }

    /// The version is the one that the agent answers `initialize` with.
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

    /// Says what is still missing when nothing more comes.
    pub fn end(mut self) -> Vec<Finding> {
        let sessions = self.sessions.values_mut();
        sessions
            .flat_map(|session| session.unended("the recording ends, and the call has not"))
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
        let seen = self.call(session, call);
        seen.named(update, &report, &mut findings);
        seen.reported(&report, &mut findings);
        findings.into_vec()
    }

    /// The call within a question is a report, too.
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
        let seen = self.call(session, asked.call.clone());
        seen.asked(&asked.report, &mut asked.findings);
        let question = Asked {
            session: session.to_owned(),
            call: asked.call,
            allowing,
        };
        self.questions.insert(id, question);
        asked.findings.into_vec()
    }

    /// Only an option that was offered and allows is a yes.
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

    /// The agent no longer asks: something else decided, such as a rule that the person just made.
    fn withdrawn(&mut self, id: &str) {
        if let Some(asked) = self.questions.remove(id) {
            self.call(&asked.session, asked.call).withdrawn();
        }
    }

    fn turn_ended(&mut self, response: &str) -> Vec<Finding> {
        let prompt = self.prompts.remove(response);
        let session = prompt.and_then(|session| self.sessions.get_mut(&session));
        session
            .map(|session| session.unended("the turn ended, and the call has not"))
            .unwrap_or_default()
    }

    fn call(&mut self, session: &str, id: CallId) -> &mut Seen {
        let session = self.sessions.entry(session.to_owned()).or_default();
        let place = session.calls.len();
        session.calls.entry(id).or_insert_with(|| Seen::at(place))
    }

    /// Those that were not told before, with their place in the stream.
    fn news(&mut self, at: usize, session: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
        findings.retain_mut(|finding| {
            finding.frame = Some(at);
            let mut hasher = DefaultHasher::new();
            let call = finding.call.as_ref().map(CallId::as_str);
            (session, finding.rule, call, &finding.message).hash(&mut hasher);
            self.told.insert(hasher.finish())
        });
        findings
    }
}

impl Session {
    /// The calls that have not ended, oldest first, each told once.
    fn unended(&mut self, why: &str) -> Vec<Finding> {
        let mut open: Vec<_> = self
            .calls
            .iter_mut()
            .filter(|(_, seen)| seen.is_open())
            .collect();
        open.sort_by_key(|(_, seen)| seen.place());
        let tell = |(id, seen): (&CallId, &mut Seen)| {
            seen.give_up();
            Finding::new(Rule::OneEnding, Some(id.clone()), why)
        };
        open.into_iter().map(tell).collect()
    }
}
