//! What a wire tells of its last call, folded as a client would and written as a few lines.
//! It asserts what holds for every call; what a tool says is for its row.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolcall_acp::lint::{Direction, Frame};
use toolcall_testkit::client::Side;

use crate::wire::Wire;

/// What happened when a row was played.
pub(crate) struct Played {
    wire: Wire,
    /// The titles of the calls as they were announced.
    announced: Vec<String>,
}

/// A step of a call on the wire, with all that is known as of it.
struct Step {
    /// A status, or `asked`.
    name: String,
    known: Map<String, Value>,
}

/// What a call is about. It is known before a person is asked and before anything is done.
const SUBJECT: [&str; 4] = ["title", "kind", "rawInput", "locations"];

impl Played {
    pub(crate) fn new(wire: Wire, announced: Vec<String>) -> Self {
        let played = Self { wire, announced };
        played.assert_ids();
        played
    }

    pub(crate) fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        self.wire.0.iter().map(|(side, message)| Frame {
            direction: match side {
                Side::Agent => Direction::FromAgent,
                Side::Client => Direction::FromClient,
            },
            message,
        })
    }

    /// Reports and questions, in order.
    fn reports(&self) -> impl Iterator<Item = &Value> {
        let messages = self.wire.0.iter().map(|(_, message)| message);
        messages.filter_map(|message| match message["method"].as_str() {
            Some("session/update") => Some(&message["params"]["update"]),
            Some("session/request_permission") => Some(&message["params"]["toolCall"]),
            Some(_) | None => None,
        })
    }

    /// Every call has an id of its own, and everything said of a call has the id of one that was
    /// announced.
    fn assert_ids(&self) {
        let mut ids = BTreeSet::new();
        for report in self.reports() {
            let id = &report["toolCallId"];
            match report["sessionUpdate"].as_str() {
                Some("tool_call") => assert!(ids.insert(id.to_string()), "{id} comes twice"),
                Some("tool_call_update") | None => {
                    assert!(ids.contains(&id.to_string()), "{id} was not announced");
                }
                Some(_) => {}
            }
        }
        assert_eq!(ids.len(), self.announced.len());
    }

    fn steps(&self) -> Vec<Step> {
        let id = format!("call-{}", self.announced.len());
        let mut steps: Vec<Step> = Vec::new();
        let mut known = Map::new();
        for report in self.reports().filter(|report| report["toolCallId"] == *id) {
            let report = report.as_object().unwrap();
            known.extend(report.clone());
            let status = report.get("status").and_then(Value::as_str);
            let name = match report.contains_key("sessionUpdate") {
                true => status,
                false => Some("asked"),
            };
            // What is told between two steps is a matter of time.
            steps.extend(name.map(|name| Step {
                name: name.to_owned(),
                known: known.clone(),
            }));
        }
        steps
    }

    /// What the call shows at its end.
    pub(crate) fn content(&self) -> Vec<Value> {
        let known = &self.steps().pop().unwrap().known;
        known["content"].as_array().unwrap().clone()
    }

    /// The statuses in their order.
    pub(crate) fn statuses(&self) -> Vec<String> {
        let names = self.steps().into_iter().map(|step| step.name);
        names.filter(|name| name != "asked").collect()
    }

    /// The steps of the call, with what a client knows.
    pub(crate) fn story(&self) -> String {
        let steps = self.steps();
        let end = &steps.last().unwrap().known;
        let mut text = String::new();
        for key in SUBJECT {
            tell(key, end.get(key).unwrap_or(&Value::Null), &mut text);
        }
        let announced = self.announced.last().unwrap();
        if end["title"] != **announced {
            let _infallible = writeln!(text, "  announced as: {announced}");
        }
        for step in &steps {
            text += &step.name;
            text.push('\n');
            step.tell(end, &mut text);
        }
        text
    }
}

impl Step {
    fn tell(&self, end: &Map<String, Value>, text: &mut String) {
        let news: &[&str] = match &*self.name {
            // The announcement may come before the tool says what it will do.
            "pending" => &[],
            "in_progress" => {
                self.assert_subject(end);
                &[]
            }
            "asked" => {
                self.assert_subject(end);
                &["content"]
            }
            _ending => &["content", "rawOutput"],
        };
        for key in news {
            tell(key, self.known.get(*key).unwrap_or(&Value::Null), text);
        }
    }

    fn assert_subject(&self, end: &Map<String, Value>) {
        for key in SUBJECT {
            let (known, at_last) = (self.known.get(key), end.get(key));
            match key {
                // What is found is located, too.
                "locations" => assert_eq!(known.is_some(), at_last.is_some(), "when {}", self.name),
                _ => assert_eq!(known, at_last, "{key} when {}", self.name),
            }
        }
    }
}

fn tell(key: &str, value: &Value, text: &mut String) {
    let lines: Vec<String> = match (key, value) {
        (_, Value::Null) => Vec::new(),
        ("content", Value::Array(pieces)) => pieces.iter().flat_map(told).collect(),
        ("locations", Value::Array(places)) => places.iter().map(place).collect(),
        (key, Value::String(words)) => vec![format!("{key}: {words}")],
        (key, other) => vec![format!("{key}: {other}")],
    };
    for line in lines {
        let _infallible = writeln!(text, "  {line}");
    }
}

fn place(location: &Value) -> String {
    let path = location["path"].as_str().unwrap();
    match location["line"].as_u64() {
        Some(line) => format!("at: {path}:{line}"),
        None => format!("at: {path}"),
    }
}

fn told(piece: &Value) -> Vec<String> {
    let content = &piece["content"];
    let field = |value: &Value, key: &str| value[key].as_str().unwrap_or("nothing").to_owned();
    match (piece["type"].as_str(), content["type"].as_str()) {
        (Some("diff"), _) => vec![
            format!("diff: {}", field(piece, "path")),
            format!("  - {:?}", field(piece, "oldText")),
            format!("  + {:?}", field(piece, "newText")),
        ],
        (_, Some("text")) => {
            let text = field(content, "text");
            let lines = text.lines().map(|line| format!("| {line}"));
            lines.collect()
        }
        (_, Some("resource_link")) => {
            let (name, uri) = (field(content, "name"), field(content, "uri"));
            vec![format!("link: {name} {uri}")]
        }
        (_, Some("image")) => vec![format!("image: {}", field(content, "mimeType"))],
        _ => vec![piece.to_string()],
    }
}
