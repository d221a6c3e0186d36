//! The last call on a wire as a client sees it, written as a few lines.
//! It checks what is true for every call; the case checks what is particular to a tool.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolcall_acp::lint::{Direction, Frame};
use toolcall_testkit::client::Side;

use crate::wire::Wire;

/// The messages of a case.
pub(crate) struct CallRun {
    wire: Wire,
    /// The titles of the calls as they were announced.
    announced: Vec<String>,
}

/// A step of a call on the wire, with everything known at that point.
struct CallStep {
    /// A status, or `asked`.
    name: String,
    known: Map<String, Value>,
}

/// The fields that describe a call. They are known before the user is asked and before the call runs.
const SUBJECT: [&str; 4] = ["title", "kind", "rawInput", "locations"];

impl CallRun {
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

    /// Returns updates and questions, in order.
    fn reports(&self) -> impl Iterator<Item = &Value> {
        let messages = self.wire.0.iter().map(|(_, message)| message);
        messages.filter_map(|message| match message["method"].as_str() {
            Some("session/update") => Some(&message["params"]["update"]),
            Some("session/request_permission") => Some(&message["params"]["toolCall"]),
            Some(_) | None => None,
        })
    }

    /// Checks that every call has its own id, and that every update has the id of an announced call.
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

    fn steps(&self) -> Vec<CallStep> {
        let id = format!("call-{}", self.announced.len());
        let mut steps: Vec<CallStep> = Vec::new();
        let mut known = Map::new();
        for report in self.reports().filter(|report| report["toolCallId"] == *id) {
            let report = report.as_object().unwrap();
            known.extend(report.clone());
            let status = report.get("status").and_then(Value::as_str);
            let name = if report.contains_key("sessionUpdate") {
                status
            } else {
                Some("asked")
            };
            // Updates between two steps depend on timing.
            steps.extend(name.map(|name| CallStep {
                name: name.to_owned(),
                known: known.clone(),
            }));
        }
        steps
    }

    /// Returns the content of the ended call.
    pub(crate) fn content(&self) -> Vec<Value> {
        let known = &self.steps().pop().unwrap().known;
        known["content"].as_array().unwrap().clone()
    }

    /// Returns the statuses in order.
    pub(crate) fn statuses(&self) -> Vec<String> {
        let names = self.steps().into_iter().map(|step| step.name);
        names.filter(|name| name != "asked").collect()
    }

    /// Returns the steps of the call, with what a client knows.
    pub(crate) fn transcript(&self) -> String {
        let steps = self.steps();
        let end = &steps.last().unwrap().known;
        let mut text = String::new();
        for key in SUBJECT {
            write_field(key, end.get(key).unwrap_or(&Value::Null), &mut text);
        }
        let announced = self.announced.last().unwrap();
        if end["title"] != **announced {
            let _infallible = writeln!(text, "  announced as: {announced}");
        }
        for step in &steps {
            text += &step.name;
            text.push('\n');
            step.write(end, &mut text);
        }
        text
    }
}

impl CallStep {
    fn write(&self, end: &Map<String, Value>, text: &mut String) {
        let news: &[&str] = match &*self.name {
            // The announcement may come before the tool has prepared the call.
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
            write_field(key, self.known.get(*key).unwrap_or(&Value::Null), text);
        }
    }

    fn assert_subject(&self, end: &Map<String, Value>) {
        for key in SUBJECT {
            let (known, at_last) = (self.known.get(key), end.get(key));
            match key {
                // A search adds locations while it runs.
                "locations" => assert_eq!(known.is_some(), at_last.is_some(), "when {}", self.name),
                _ => assert_eq!(known, at_last, "{key} when {}", self.name),
            }
        }
    }
}

fn write_field(key: &str, value: &Value, text: &mut String) {
    let lines: Vec<String> = match (key, value) {
        (_, Value::Null) => Vec::new(),
        ("content", Value::Array(pieces)) => pieces.iter().flat_map(content_lines).collect(),
        ("locations", Value::Array(locations)) => locations.iter().map(location_line).collect(),
        (key, Value::String(words)) => vec![format!("{key}: {words}")],
        (key, other) => vec![format!("{key}: {other}")],
    };
    for line in lines {
        let _infallible = writeln!(text, "  {line}");
    }
}

fn location_line(location: &Value) -> String {
    let path = location["path"].as_str().unwrap();
    match location["line"].as_u64() {
        Some(line) => format!("at: {path}:{line}"),
        None => format!("at: {path}"),
    }
}

fn content_lines(piece: &Value) -> Vec<String> {
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
