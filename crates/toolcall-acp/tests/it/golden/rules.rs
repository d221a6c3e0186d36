//! The rules that hold for every stream of lines: the lifecycle of a call as the client sees it.
//! It checks lines without knowing the test they come from.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolcall::text::clean_block;

use crate::golden::client_state::ClientState;
use crate::golden::line::{Line, PROMPT, Side};

/// Returns everything that is wrong with these lines.
pub(crate) fn findings(lines: &[Line]) -> Vec<String> {
    let mut checker = RuleChecker::default();
    for (at, line) in lines.iter().enumerate() {
        checker.at = at + 1;
        match line.side {
            Side::Agent => checker.agent(&line.json),
            Side::Client => checker.client(&line.json),
        }
    }
    checker.end();
    checker.findings
}

/// The state of the check after the lines so far.
#[derive(Default)]
struct RuleChecker {
    at: usize,
    known: ClientState,
    offers: Value,
    announced: BTreeSet<String>,
    started: BTreeSet<String>,
    ended: BTreeSet<String>,
    /// Requests of the agent that were not answered: id and method.
    open: BTreeMap<String, String>,
    terminals: BTreeSet<String>,
    is_answered: bool,
    findings: Vec<String>,
}

impl RuleChecker {
    fn find(&mut self, what: impl std::fmt::Display) {
        self.findings.push(format!("line {}: {what}", self.at));
    }

    fn expect(&mut self, holds: bool, what: impl std::fmt::Display) {
        if !holds {
            self.find(what);
        }
    }

    fn client(&mut self, line: &Value) {
        if line["method"] == "initialize" {
            self.offers = line["params"]["clientCapabilities"].clone();
        }
        let method = self.open.remove(&line["id"].to_string());
        if method.as_deref() == Some("terminal/create")
            && let Some(id) = line["result"]["terminalId"].as_str()
        {
            self.terminals.insert(id.to_owned());
        }
    }

    fn agent(&mut self, line: &Value) {
        if line["id"] == PROMPT {
            self.answered();
        }
        let (method, params) = (line["method"].as_str().unwrap_or_default(), &line["params"]);
        if !line["id"].is_null() && !method.is_empty() {
            self.open.insert(line["id"].to_string(), method.to_owned());
        }
        match method {
            "session/update" => self.update(&params["update"]),
            "session/request_permission" => self.permission(&params["toolCall"]),
            "terminal/release" => self.released(params),
            _ => {}
        }
        self.offered(method);
    }

    /// Checks that the client offered a method before it is called.
    fn offered(&mut self, method: &str) {
        if method == "elicitation/create" {
            let is_offered = self.offers.pointer("/elicitation/form").is_some();
            return self.expect(is_offered, format_args!("{method} was not offered"));
        }
        let offer = match method {
            "fs/read_text_file" => "/fs/readTextFile",
            "fs/write_text_file" => "/fs/writeTextFile",
            _ if method.starts_with("terminal/") => "/terminal",
            _ => return,
        };
        let is_offered = self.offers.pointer(offer) == Some(&Value::Bool(true));
        self.expect(is_offered, format_args!("{method} was not offered"));
    }

    fn answered(&mut self) {
        let open: Vec<_> = self.announced.difference(&self.ended).cloned().collect();
        for call in open {
            self.find(format_args!("{call} is open when the prompt is answered"));
        }
        self.is_answered = true;
    }

    fn update(&mut self, update: &Value) {
        match (update["sessionUpdate"].as_str(), id_of(update)) {
            (Some("tool_call"), Some(call)) => self.announce(call, update),
            (Some("tool_call_update"), Some(call)) => self.grow(call, update),
            (Some("tool_call" | "tool_call_update"), None) => self.find("a call without an id"),
            _ => {}
        }
        self.paths(update);
        self.known.update(update);
    }

    fn announce(&mut self, call: &str, update: &Value) {
        let is_new = self.announced.insert(call.to_owned());
        self.expect(is_new, format_args!("{call} is announced twice"));
        for field in ["title", "kind", "status", "name"] {
            let is_there = update[field].as_str().is_some_and(|text| !text.is_empty());
            self.expect(
                is_there,
                format_args!("{call} is announced without {field}"),
            );
        }
        self.expect(
            !self.is_answered,
            format_args!("{call} comes after the turn"),
        );
    }

    fn grow(&mut self, call: &str, update: &Value) {
        let (is_open, has_ended) = (self.announced.contains(call), self.ended.contains(call));
        self.expect(
            is_open,
            format_args!("{call} is updated before it is announced"),
        );
        self.expect(!has_ended, format_args!("{call} is updated after its end"));
        self.repeat(call, update);
        match update["status"].as_str() {
            None => {}
            Some("in_progress") => drop(self.started.insert(call.to_owned())),
            Some(status @ ("completed" | "failed")) => self.finish(call, status, update),
            Some(status) => self.find(format_args!("{call} becomes {status}")),
        }
    }

    /// Checks that content is not repeated with a mere status or for a terminal. Only a tool may show the
    /// same content twice.
    fn repeat(&mut self, call: &str, update: &Value) {
        let content = update.get("content");
        let is_told = content.is_some() && self.known.get(call, "content") == content;
        let is_terminal = |content: &Value| content[0]["type"] == "terminal";
        let is_needless = update["status"] == "in_progress" || content.is_some_and(is_terminal);
        let is_news = !(is_told && is_needless);
        self.expect(is_news, format_args!("{call} sends the same content again"));
    }

    fn finish(&mut self, call: &str, status: &str, update: &Value) {
        let may = status == "failed" || self.started.contains(call);
        self.expect(may, format_args!("{call} completed without having started"));
        let content = update
            .get("content")
            .or_else(|| self.known.get(call, "content"));
        let is_shown = content
            .and_then(Value::as_array)
            .is_some_and(|all| !all.is_empty());
        self.expect(is_shown, format_args!("{call} ends with nothing to show"));
        self.ended.insert(call.to_owned());
    }

    /// Checks a permission request: its call is open, and it shows every command and diff.
    fn permission(&mut self, reported: &Value) {
        let call = id_of(reported).unwrap_or_default();
        let is_open = self.announced.contains(call) && !self.ended.contains(call);
        self.expect(
            is_open,
            format_args!("{call} is asked about while it is not open"),
        );
        let known = self.known.get(call, "content").cloned().unwrap_or_default();
        for diff in diffs(&known) {
            let is_repeated = diffs(&reported["content"]).any(|shown| shown == diff);
            self.expect(is_repeated, format_args!("{call} hides a diff"));
        }
        if let Some(command) = reported["rawInput"]["command"].as_str() {
            let is_seen = reported["content"]
                .to_string()
                .contains(&as_json(&clean_block(command)));
            self.expect(is_seen, format_args!("{call} hides its command"));
        }
        self.paths(reported);
        self.known.merge(reported);
    }

    fn paths(&mut self, reported: &Value) {
        let items = ["locations", "content"].map(|field| reported[field].as_array());
        for item in items.into_iter().flatten().flatten() {
            let is_absolute = item["path"]
                .as_str()
                .is_none_or(|path| path.starts_with('/'));
            self.expect(
                is_absolute,
                format_args!("{} is not absolute", item["path"]),
            );
            let is_line = item["line"].as_u64() != Some(0);
            self.expect(is_line, "lines are counted from 1");
        }
    }

    fn released(&mut self, params: &Value) {
        let id = params["terminalId"].as_str().unwrap_or_default();
        let was_made = self.terminals.remove(id);
        self.expect(
            was_made,
            format_args!("terminal {id} is released and was not there"),
        );
    }

    fn end(&mut self) {
        self.expect(self.is_answered, "the prompt is not answered");
        for id in std::mem::take(&mut self.terminals) {
            self.find(format_args!("terminal {id} is never released"));
        }
        let open: Vec<_> = self.announced.difference(&self.ended).cloned().collect();
        self.expect(open.is_empty(), format_args!("{open:?} never end"));
    }
}

fn id_of(reported: &Value) -> Option<&str> {
    reported["toolCallId"].as_str()
}

fn diffs(content: &Value) -> impl Iterator<Item = &Value> {
    let items = content.as_array().into_iter().flatten();
    items.filter(|item| item["type"] == "diff")
}

/// Returns a text as JSON, without the quotes.
fn as_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.trim_matches('"').to_owned()
}
