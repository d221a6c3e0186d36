//! Rules over a recorded v1 stream, both directions of it: what an agent should have said, and when.
//! It must not change a message, tell the time or know a call's meaning: it looks at what passes by.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use toolcall::CallId;

use crate::finding::{Finding, Findings, Rule, quoted};
use crate::v1::decode::{Fields, Report, decode_plan};

mod permission;
mod seen;
#[cfg(test)]
mod tests;

use permission::Permission;
use seen::Seen;

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The agent.
    FromAgent,
    /// The client.
    FromClient,
}

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
    permission: Permission,
}

impl Linter {
    /// Looks at the next message, and says what is wrong as of it.
    pub fn see(&mut self, frame: Frame<'_>) -> Vec<Finding> {
        let at = self.next;
        self.next += 1;
        let message = frame.message;
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default();
        let findings = match (frame.direction, message["method"].as_str()) {
            (Direction::FromAgent, Some("session/update")) => {
                self.updated(session, &params["update"])
            }
            (Direction::FromAgent, Some("session/request_permission")) => {
                self.asked(session, message)
            }
            (Direction::FromAgent, Some("$/cancel_request")) => {
                self.withdrawn(&params["requestId"].to_string());
                Vec::new()
            }
            (Direction::FromAgent, None) => self.turn_ended(message),
            (Direction::FromClient, method) => {
                self.client_said(session, method, message);
                Vec::new()
            }
            (Direction::FromAgent, Some(_)) => Vec::new(),
        };
        self.news(at, session, findings)
    }

    /// Says what is still missing when nothing more comes.
    pub fn end(mut self) -> Vec<Finding> {
        let sessions = self.sessions.values_mut();
        sessions
            .flat_map(|session| session.unended("the recording ends, and the call has not"))
            .collect()
    }

    fn updated(&mut self, session: &str, update: &Value) -> Vec<Finding> {
        match update["sessionUpdate"].as_str() {
            Some("tool_call" | "tool_call_update") => self.reported(session, update),
            Some("plan") => match decode_plan(update) {
                Ok(decoded) => decoded.findings,
                Err(finding) => vec![finding],
            },
            Some(name) if is_known(name) => Vec::new(),
            Some(name) => unknown(format!("v1 has no update {}", quoted(name))),
            None => unknown("the update has no `sessionUpdate`".to_owned()),
        }
    }

    fn reported(&mut self, session: &str, update: &Value) -> Vec<Finding> {
        let read = || {
            let fields = Fields::of(update)?;
            Ok((fields, fields.id()?))
        };
        let (fields, id) = match read() {
            Ok(read) => read,
            Err(finding) => return vec![finding],
        };
        let mut findings = Findings::about(&id);
        let report = Report::read(&fields, &mut findings);
        let seen = self.call(session, id);
        seen.named(fields.update, &report, &mut findings);
        seen.reported(&report, &mut findings);
        findings.into_vec()
    }

    /// The `toolCall` of a question is a report, too.
    fn asked(&mut self, session: &str, message: &Value) -> Vec<Finding> {
        let params = &message["params"];
        let read = || {
            let fields = Fields::of(&params["toolCall"])?;
            Ok((fields, fields.id()?))
        };
        let (fields, id) = match read() {
            Ok(read) => read,
            Err(finding) => return vec![finding],
        };
        let mut findings = Findings::about(&id);
        let report = Report::read(&fields, &mut findings);
        self.call(session, id.clone()).asked(&report, &mut findings);
        let asked = Asked {
            session: session.to_owned(),
            call: id,
            permission: Permission::of(&params["options"]),
        };
        self.questions.insert(message["id"].to_string(), asked);
        findings.into_vec()
    }

    fn client_said(&mut self, session: &str, method: Option<&str>, message: &Value) {
        let id = || message["id"].to_string();
        match method {
            Some("session/prompt") => drop(self.prompts.insert(id(), session.to_owned())),
            // What follows is a replay of calls that were seen before.
            Some("session/load") => drop(self.sessions.remove(session)),
            Some(_) => {}
            None => self.answered(&id(), &message["result"]),
        }
    }

    fn answered(&mut self, id: &str, result: &Value) {
        let Some(asked) = self.questions.remove(id) else {
            return;
        };
        let effect = asked.permission.answer(result);
        self.call(&asked.session, asked.call).answered(effect);
    }

    /// The agent no longer asks: something else decided, such as a rule that the person just made.
    fn withdrawn(&mut self, id: &str) {
        if let Some(asked) = self.questions.remove(id) {
            self.call(&asked.session, asked.call).withdrawn();
        }
    }

    fn turn_ended(&mut self, response: &Value) -> Vec<Finding> {
        let prompt = self.prompts.remove(&response["id"].to_string());
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

fn unknown(message: String) -> Vec<Finding> {
    vec![Finding::new(Rule::UnknownUpdate, None, message)]
}

/// Whether v1, or a draft of it, has an update of this name that is not about tool calls.
fn is_known(name: &str) -> bool {
    let chunks = [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
    ];
    let states = [
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
    ];
    let facts = [
        "session_info_update",
        "usage_update",
        "notice",
        "session_message",
    ];
    let compactions = ["compaction_update", "compaction_summary_chunk"];
    let drafts = ["plan_update", "plan_removed", "subagent_update"];
    let lists: [&[&str]; 5] = [&chunks, &states, &facts, &compactions, &drafts];
    name.starts_with('_') || lists.iter().any(|list| list.contains(&name))
}
