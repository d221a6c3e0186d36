//! Checks a recording of an agent against ACP v1, and that users see what they need.
//! It works on raw JSON and shares no code with the agent.

mod call;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolcall_testkit::client::Side;

use crate::recorder::RecordedLine;
use call::{EndedScope, LintedCall, QuestionState};

/// Updates that may come only during a turn.
const TURN_UPDATES: [&str; 5] = [
    "tool_call",
    "tool_call_update",
    "agent_message_chunk",
    "agent_thought_chunk",
    "plan",
];

/// Returns everything that is wrong with a recording.
pub(crate) fn lint_recording(frames: &[RecordedLine]) -> Vec<String> {
    let mut linter = Linter::default();
    for frame in frames {
        linter.check(frame);
    }
    linter.end();
    linter.findings
}

/// Returns the name and statuses of every call, in the order of announcements.
pub(crate) fn call_statuses(frames: &[RecordedLine]) -> Vec<(String, String)> {
    let mut linter = Linter::default();
    for frame in frames {
        linter.check(frame);
    }
    let mut calls: Vec<&LintedCall> = linter.calls.values().collect();
    calls.sort_by_key(|call| call.index());
    calls.into_iter().map(LintedCall::statuses).collect()
}

#[derive(Default)]
struct Linter {
    findings: Vec<String>,
    calls: BTreeMap<String, LintedCall>,
    /// The client's capabilities.
    capabilities: Value,
    /// Unanswered requests of the client: method and session.
    asked: BTreeMap<String, (String, String)>,
    /// Unanswered permission requests, with their call.
    questions: BTreeMap<String, String>,
    /// Requests that create terminals, and the open terminals.
    wanted_terminals: BTreeSet<String>,
    terminals: BTreeSet<String>,
    /// Every terminal that was created.
    all_terminals: BTreeSet<String>,
    /// Sessions whose turn was cancelled.
    cancelled: BTreeSet<String>,
}

impl Linter {
    fn check(&mut self, frame: &RecordedLine) {
        let message = frame.message();
        match frame.side {
            Side::Client => self.check_client(&message),
            Side::Agent if message["jsonrpc"] == "2.0" => self.check_agent(&message),
            Side::Agent => self.find(format!("not JSON-RPC: {}", frame.line)),
        }
    }

    fn check_client(&mut self, message: &Value) {
        let (id, params) = (message["id"].to_string(), &message["params"]);
        let session = text(&params["sessionId"]);
        match message["method"].as_str() {
            Some("session/cancel") => {
                self.cancelled.insert(session);
            }
            Some(method) => {
                if method == "initialize" {
                    self.capabilities = params["clientCapabilities"].clone();
                }
                if method == "session/prompt" {
                    self.cancelled.remove(&session);
                }
                self.asked.insert(id, (method.to_owned(), session));
            }
            None => {
                self.questions.remove(&id);
                if self.wanted_terminals.remove(&id) {
                    let terminal = text(&message["result"]["terminalId"]);
                    self.all_terminals.insert(terminal.clone());
                    self.terminals.insert(terminal);
                }
            }
        }
    }

    fn check_agent(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str() {
            Some("session/update") => self.updated(params),
            Some("session/request_permission") => self.permission(message),
            Some(method) if method.starts_with("fs/") || method.starts_with("terminal/") => {
                self.capability_used(method, message);
            }
            Some(_) => {}
            None => self.answered(message),
        }
    }

    fn updated(&mut self, params: &Value) {
        let (session, update) = (text(&params["sessionId"]), &params["update"]);
        let update_type = text(&update["sessionUpdate"]);
        let is_open = self.asked.values().any(|(method, of)| {
            *of == session && ["session/prompt", "session/load"].contains(&method.as_str())
        });
        if TURN_UPDATES.contains(&update_type.as_str()) && !is_open {
            self.find(format!("`{update_type}` comes when no turn runs"));
        }
        if update_type.starts_with("tool_call") {
            self.call_updated(&session, &update_type, update);
        }
    }

    fn call_updated(&mut self, session: &str, update_type: &str, update: &Value) {
        let key = format!("{session} {}", text(&update["toolCallId"]));
        let question = if self.questions.values().any(|call| *call == key) {
            QuestionState::Open
        } else {
            QuestionState::None
        };
        let index = self.calls.len();
        let (is_new, is_known) = (update_type == "tool_call", self.calls.contains_key(&key));
        let name = text(&update["toolCallId"]);
        if is_new && is_known {
            self.find(format!("`{name}` is announced twice"));
        } else if !is_new && !is_known {
            self.find(format!("`{name}` is updated before it is announced"));
        }
        let call = self
            .calls
            .entry(key)
            .or_insert_with(|| LintedCall::new(index, name));
        call.update(update, question, &mut self.findings);
        let shown = terminals_of(update);
        let is_extended = self.capabilities["_meta"]["terminal_output"] == true;
        if let Some(lost) = shown
            .iter()
            .find(|id| !self.all_terminals.contains(*id) && !is_extended)
        {
            self.find(format!("terminal `{lost}` was never created"));
        }
    }

    fn permission(&mut self, message: &Value) {
        let params = &message["params"];
        let session = text(&params["sessionId"]);
        let key = format!("{session} {}", text(&params["toolCall"]["toolCallId"]));
        match self.calls.get_mut(&key) {
            Some(call) => call.ask(params, &mut self.findings),
            None => self.find("permission is asked for a call that was not announced".into()),
        }
        self.questions.insert(message["id"].to_string(), key);
    }

    /// Checks that files and terminals are used only if the client supports them.
    fn capability_used(&mut self, method: &str, message: &Value) {
        let capability = match method {
            "fs/read_text_file" => "/fs/readTextFile",
            "fs/write_text_file" => "/fs/writeTextFile",
            _ => "/terminal",
        };
        if self.capabilities.pointer(capability) != Some(&Value::Bool(true)) {
            self.find(format!(
                "`{method}` is asked for, which the client does not offer"
            ));
        }
        if method == "terminal/create" {
            self.wanted_terminals.insert(message["id"].to_string());
        }
        if method == "terminal/release" {
            let released = text(&message["params"]["terminalId"]);
            self.terminals.remove(&released);
        }
        if let Some(path) = message["params"]["path"]
            .as_str()
            .filter(|path| !path.starts_with('/'))
        {
            self.find(format!("`{method}` names `{path}`, which is not absolute"));
        }
    }

    fn answered(&mut self, message: &Value) {
        let Some((method, session)) = self.asked.remove(&message["id"].to_string()) else {
            return self.find(format!("an answer to nothing: {message}"));
        };
        if method != "session/prompt" {
            return;
        }
        let reason = text(&message["result"]["stopReason"]);
        let is_cancelled = self.cancelled.remove(&session);
        if is_cancelled && reason != "cancelled" {
            self.find(format!("a cancelled turn is answered with {message}"));
        }
        if !is_cancelled && reason == "cancelled" {
            self.find("a turn that was not cancelled is answered as cancelled".into());
        }
        self.turn_ended(&session, EndedScope::Turn);
    }

    fn turn_ended(&mut self, session: &str, over: EndedScope) {
        let of_session = self.calls.iter_mut();
        let of_session = of_session.filter(|(key, _)| key.starts_with(&format!("{session} ")));
        for (_, call) in of_session {
            call.end(over, &mut self.findings);
        }
        let left = std::mem::take(&mut self.terminals);
        for terminal in left {
            self.find(format!(
                "terminal `{terminal}` is not released when the turn ends"
            ));
        }
    }

    fn end(&mut self) {
        for call in self.calls.values_mut() {
            call.end(EndedScope::Recording, &mut self.findings);
        }
        let unanswered = std::mem::take(&mut self.asked);
        for (method, _) in unanswered.into_values() {
            self.find(format!("`{method}` is never answered"));
        }
    }

    fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }
}

fn terminals_of(update: &Value) -> Vec<String> {
    let items = update["content"].as_array().into_iter().flatten();
    let terminals = items.filter(|item| item["type"] == "terminal");
    terminals.map(|item| text(&item["terminalId"])).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
