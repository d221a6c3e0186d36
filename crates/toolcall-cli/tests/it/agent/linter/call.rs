//! One call, as its updates describe it, and what is wrong with them.
//! It knows nothing of other calls, turns or sessions.

use serde_json::{Map, Value};

use super::text;

const KINDS: [&str; 10] = [
    "read",
    "edit",
    "delete",
    "move",
    "search",
    "execute",
    "think",
    "fetch",
    "switch_mode",
    "other",
];

/// Kinds of calls on files.
const FILE_KINDS: [&str; 4] = ["read", "edit", "delete", "move"];

/// How much of a command a title must show.
const TITLE_LENGTH: usize = 40;

/// Whether a question about a call is open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionState {
    Open,
    None,
}

/// What ended around a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum EndedScope {
    /// The turn.
    Turn,
    /// The whole recording.
    Recording,
}

pub(super) struct LintedCall {
    index: usize,
    id: String,
    /// The latest value of every field.
    fields: Map<String, Value>,
    statuses: Vec<String>,
    questions: usize,
    is_checked: bool,
}

impl LintedCall {
    pub(super) fn new(index: usize, id: String) -> Self {
        Self {
            index,
            id,
            fields: Map::new(),
            statuses: Vec::new(),
            questions: 0,
            is_checked: false,
        }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Returns its name, and its statuses in order.
    pub(super) fn statuses(&self) -> (String, String) {
        (self.text("name"), self.statuses.join(" "))
    }

    /// Applies an update; other fields keep their values.
    pub(super) fn update(
        &mut self,
        update: &Value,
        question: QuestionState,
        findings: &mut Vec<String>,
    ) {
        if self.has_ended() {
            findings.push(format!("{self} is updated after its end: {update}"));
        }
        let fields = update.as_object().into_iter().flatten();
        let fields = fields.filter(|(_, value)| !value.is_null());
        self.fields
            .extend(fields.map(|(key, value)| (key.clone(), value.clone())));
        let is_first = update["sessionUpdate"] == "tool_call";
        let status = match update["status"].as_str() {
            None if is_first => Some("pending"),
            other => other,
        };
        if is_first && update["title"].as_str().is_none_or(str::is_empty) {
            findings.push(format!("{self} is announced without a title"));
        }
        if let Some(status) = status {
            self.change_status(status, question, findings);
        }
        self.check_paths(update, findings);
    }

    fn change_status(&mut self, status: &str, question: QuestionState, findings: &mut Vec<String>) {
        let before = self.statuses.last().map(String::as_str);
        if before == Some(status) {
            return;
        }
        let is_right = match (before, status) {
            (None, "pending") | (Some("pending"), "in_progress" | "failed") => true,
            (Some("in_progress"), "completed" | "failed") => true,
            (_, _) => false,
        };
        if !is_right {
            let before = before.unwrap_or("nothing");
            findings.push(format!("{self} goes from {before} to {status}"));
        }
        if status == "in_progress" && question == QuestionState::Open {
            findings.push(format!("{self} starts before its question is answered"));
        }
        self.statuses.push(status.to_owned());
    }

    /// Checks that paths are absolute and lines count from 1.
    fn check_paths(&self, update: &Value, findings: &mut Vec<String>) {
        let items = |key: &str| update[key].as_array().into_iter().flatten();
        let places =
            items("locations").chain(items("content").filter(|item| item["type"] == "diff"));
        for item in places {
            if !text(&item["path"]).starts_with('/') {
                findings.push(format!("{self} names a path that is not absolute: {item}"));
            }
            if item["line"] == 0 {
                findings.push(format!("{self} names line 0: {item}"));
            }
        }
    }

    /// Checks a permission request.
    pub(super) fn ask(&mut self, params: &Value, findings: &mut Vec<String>) {
        self.questions += 1;
        let shown = &params["toolCall"];
        if self
            .statuses
            .last()
            .is_some_and(|status| status != "pending")
        {
            findings.push(format!("{self} asks for permission when it is not pending"));
        }
        let content = shown["content"].to_string();
        let command = self.command();
        let quoted = Value::from(command.clone()).to_string();
        let is_shown =
            text(&shown["title"]).contains(&command) || content.contains(quoted.trim_matches('"'));
        if !command.is_empty() && !is_shown {
            findings.push(format!("{self} asks without its command"));
        }
        if self.text("kind") == "edit" && !content.contains(r#""type":"diff""#) {
            findings.push(format!("{self} asks without its diff"));
        }
        self.check_paths(shown, findings);
        let options = params["options"].as_array().into_iter().flatten();
        let kinds: Vec<String> = options.map(|option| text(&option["kind"])).collect();
        for kind in ["allow_once", "reject_once"] {
            if !kinds.iter().any(|offered| offered == kind) {
                findings.push(format!("{self} offers no {kind}"));
            }
        }
    }

    /// Checks the call when its turn or the recording ends.
    pub(super) fn end(&mut self, over: EndedScope, findings: &mut Vec<String>) {
        if std::mem::replace(&mut self.is_checked, true) {
            return;
        }
        if !self.has_ended() {
            let what = match over {
                EndedScope::Turn => "the turn",
                EndedScope::Recording => "the recording",
            };
            findings.push(format!("{self} has not ended, and {what} has"));
        }
        // Also for a call that was cancelled while the model streamed it: the part that arrived.
        if !self.fields.contains_key("rawInput") {
            findings.push(format!("{self} has no rawInput"));
        }
        self.check_missing(findings);
        if !KINDS.contains(&&*self.text("kind")) {
            findings.push(format!("{self} has no known kind"));
        }
        let command: String = self.command().chars().take(TITLE_LENGTH).collect();
        if !self
            .text("title")
            .contains(command.lines().next().unwrap_or_default())
        {
            findings.push(format!("{self} hides its command in its title"));
        }
    }

    fn check_missing(&self, findings: &mut Vec<String>) {
        for key in ["name", "title"] {
            if self.text(key).is_empty() {
                findings.push(format!("{self} has no {key}"));
            }
        }
        if self.is_empty("content") {
            findings.push(format!("{self} ends with no content"));
        }
        let was_prepared = self.questions > 0 || self.statuses.iter().any(|it| it == "in_progress");
        if FILE_KINDS.contains(&&*self.text("kind")) && was_prepared && self.is_empty("locations") {
            findings.push(format!("{self} has no locations"));
        }
    }

    /// Returns the command that it runs, if it runs one.
    fn command(&self) -> String {
        let command = self
            .fields
            .get("rawInput")
            .map(|input| text(&input["command"]));
        let is_command = self.text("kind") == "execute";
        command.filter(|_| is_command).unwrap_or_default()
    }

    fn has_ended(&self) -> bool {
        let last = self.statuses.last().map(String::as_str);
        matches!(last, Some("completed" | "failed"))
    }

    fn is_empty(&self, key: &str) -> bool {
        let list = self.fields.get(key).and_then(Value::as_array);
        list.is_none_or(Vec::is_empty)
    }

    fn text(&self, key: &str) -> String {
        self.fields.get(key).map(text).unwrap_or_default()
    }
}

impl std::fmt::Display for LintedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ({})", self.id, self.text("name"))
    }
}
