//! One call, as the client was told of it, and what is wrong with that.
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

/// Kinds of calls that are about files.
const OF_FILES: [&str; 4] = ["read", "edit", "delete", "move"];

/// Nobody needs to see more of a command in a title.
const ENOUGH: usize = 40;

/// Whether a question about a call is open.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Open,
    None,
}

/// How what a call belongs to ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    /// The turn.
    Turn,
    /// The whole recording.
    Recording,
}

pub(super) struct Call {
    place: usize,
    id: String,
    /// The latest of everything that was told.
    told: Map<String, Value>,
    statuses: Vec<String>,
    questions: usize,
    is_judged: bool,
}

impl Call {
    pub(super) fn new(place: usize, id: String) -> Self {
        Self {
            place,
            id,
            told: Map::new(),
            statuses: Vec::new(),
            questions: 0,
            is_judged: false,
        }
    }

    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// Its name, and its statuses in order.
    pub(super) fn life(&self) -> (String, String) {
        (self.text("name"), self.statuses.join(" "))
    }

    /// Takes an update; what was not told stays as it is.
    pub(super) fn tell(&mut self, update: &Value, question: Question, findings: &mut Vec<String>) {
        if self.has_ended() {
            findings.push(format!("{self} is told of after its end: {update}"));
        }
        let fields = update.as_object().into_iter().flatten();
        let fields = fields.filter(|(_, value)| !value.is_null());
        self.told
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
            self.turn(status, question, findings);
        }
        self.paths(update, findings);
    }

    fn turn(&mut self, status: &str, question: Question, findings: &mut Vec<String>) {
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
        if status == "in_progress" && question == Question::Open {
            findings.push(format!("{self} starts before its question is answered"));
        }
        self.statuses.push(status.to_owned());
    }

    /// Every path is absolute, and every line counts from one.
    fn paths(&self, update: &Value, findings: &mut Vec<String>) {
        let items = |key: &str| update[key].as_array().into_iter().flatten();
        let places =
            items("locations").chain(items("content").filter(|item| item["type"] == "diff"));
        for place in places {
            if !text(&place["path"]).starts_with('/') {
                findings.push(format!("{self} names a path that is not absolute: {place}"));
            }
            if place["line"] == 0 {
                findings.push(format!("{self} names line 0: {place}"));
            }
        }
    }

    /// It asks for permission.
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
        self.paths(shown, findings);
        let options = params["options"].as_array().into_iter().flatten();
        let kinds: Vec<String> = options.map(|option| text(&option["kind"])).collect();
        for kind in ["allow_once", "reject_once"] {
            if !kinds.iter().any(|offered| offered == kind) {
                findings.push(format!("{self} offers no {kind}"));
            }
        }
    }

    /// Whatever it belongs to is over.
    pub(super) fn end(&mut self, over: Over, findings: &mut Vec<String>) {
        if std::mem::replace(&mut self.is_judged, true) {
            return;
        }
        if !self.has_ended() {
            let what = match over {
                Over::Turn => "the turn",
                Over::Recording => "the recording",
            };
            findings.push(format!("{self} has not ended, and {what} has"));
        }
        // Also one that was cancelled while the model was writing it: as far as it was written.
        if !self.told.contains_key("rawInput") {
            findings.push(format!("{self} has no rawInput"));
        }
        self.missing(findings);
        if !KINDS.contains(&&*self.text("kind")) {
            findings.push(format!("{self} has no known kind"));
        }
        let command: String = self.command().chars().take(ENOUGH).collect();
        if !self
            .text("title")
            .contains(command.lines().next().unwrap_or_default())
        {
            findings.push(format!("{self} hides its command in its title"));
        }
    }

    fn missing(&self, findings: &mut Vec<String>) {
        for key in ["name", "title"] {
            if self.text(key).is_empty() {
                findings.push(format!("{self} has no {key}"));
            }
        }
        if self.is_empty("content") {
            findings.push(format!("{self} ends with no content"));
        }
        let got_somewhere =
            self.questions > 0 || self.statuses.iter().any(|it| it == "in_progress");
        if OF_FILES.contains(&&*self.text("kind")) && got_somewhere && self.is_empty("locations") {
            findings.push(format!("{self} has no locations"));
        }
    }

    /// The command that it runs, if it runs one.
    fn command(&self) -> String {
        let command = self
            .told
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
        let list = self.told.get(key).and_then(Value::as_array);
        list.is_none_or(Vec::is_empty)
    }

    fn text(&self, key: &str) -> String {
        self.told.get(key).map(text).unwrap_or_default()
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` ({})", self.id, self.text("name"))
    }
}
