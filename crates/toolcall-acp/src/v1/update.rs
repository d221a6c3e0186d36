//! Encodes one `session/update` of v1 directly from the call that it reports.
//! It copies only what it must, and omits fields that did not change.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use toolcall::{Ending, Input, Location, Plan, PlanStatus, Priority, SessionId, ToolCall};

use super::content::{ContentItem, at_the_end, before_the_end, lossy};
use super::encode::EncodeOptionsRef;
use super::output::Chunk;
use super::update_meta::{UpdateMeta, raw_output};
use super::view::{OutputView, TerminalState};
use crate::report::Fields;

/// One update about a call. It serializes to `params.update` of a `session/update`.
#[derive(Clone, Debug)]
pub struct Update<'a> {
    pub(crate) call: &'a ToolCall,
    pub(crate) dialect: EncodeOptionsRef<'a>,
    pub(crate) fields: Fields,
    pub(crate) terminals: TerminalState,
    /// The output since the last report, for a terminal that the agent fills.
    pub(crate) chunk: Option<Chunk>,
}

/// The start of every line, written as bytes because there are many lines.
const HEAD: &[u8] = br#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"#;

/// The four statuses of v1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WireStatus {
    Pending,
    InProgress,
    Completed,
    Failed,
}

impl WireStatus {
    fn name(self) -> &'static str {
        match self {
            WireStatus::Pending => "pending",
            WireStatus::InProgress => "in_progress",
            WireStatus::Completed => "completed",
            WireStatus::Failed => "failed",
        }
    }
}

impl Update<'_> {
    /// Returns the update as a JSON value.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Appends the whole notification as one line, without its newline.
    pub fn write_line(&self, session: &SessionId, line: &mut Vec<u8>) {
        line.extend_from_slice(HEAD);
        // Writing to a vector cannot fail, and every key is a string.
        let _ = serde_json::to_writer(&mut *line, session.as_str());
        line.extend_from_slice(b",\"update\":");
        let _ = serde_json::to_writer(&mut *line, self);
        line.extend_from_slice(b"}}");
    }

    /// Returns the status in this update, if it has one.
    fn status(&self) -> Option<WireStatus> {
        let ending = self.call.ending();
        if self.fields.has(Fields::ENDED) {
            return Some(match ending {
                Some(Ending::Completed) => WireStatus::Completed,
                Some(_) | None => WireStatus::Failed,
            });
        }
        if self.fields.has(Fields::STARTED) {
            return Some(WireStatus::InProgress);
        }
        let is_first = self.fields.has(Fields::ANNOUNCED);
        is_first.then_some(WireStatus::Pending)
    }

    fn view(&self) -> OutputView {
        OutputView {
            printing: self.dialect.printing,
            terminals: self.terminals,
        }
    }

    /// Returns the content in this update, if it has any.
    fn content(&self) -> Option<Vec<ContentItem<'_>>> {
        let (call, view) = (self.call, self.view());
        if self.fields.has(Fields::ENDED) {
            let items = at_the_end(call, view);
            return (!self.is_known_to_client(&items)).then_some(items);
        }
        if self.is_content_new() {
            return Some(before_the_end(call, view));
        }
        if !self.fields.has(Fields::ANNOUNCED) {
            return None;
        }
        Some(before_the_end(call, view)).filter(|items| !items.is_empty())
    }

    fn is_content_new(&self) -> bool {
        let grew = self.fields.has(Fields::OUTPUT) && !self.view().is_shown_in_terminal(self.call);
        grew || self.fields.has(Fields::CONTENT)
    }

    /// Whether the client knows this final content already. A result is always sent, even if it equals
    /// what was shown.
    fn is_known_to_client(&self, last: &[ContentItem<'_>]) -> bool {
        let (call, view) = (self.call, self.view());
        let finish = call.finish().filter(|_| !view.is_in_agent_terminal(call));
        let has_result = finish.is_some_and(|finish| !finish.result.content.is_empty());
        !has_result && !self.is_content_new() && last == before_the_end(call, view)
    }

    fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let kind = if self.fields.has(Fields::ANNOUNCED) {
            "tool_call"
        } else {
            "tool_call_update"
        };
        map.serialize_entry("sessionUpdate", kind)?;
        map.serialize_entry("toolCallId", self.call.id().as_str())?;
        write_description(map, self.call, self.fields)?;
        if let Some(status) = self.status() {
            map.serialize_entry("status", status.name())?;
        }
        if let Some(content) = self.content() {
            map.serialize_entry("content", &content)?;
        }
        if let Some(output) = raw_output(self.call).filter(|_| self.fields.has(Fields::ENDED)) {
            map.serialize_entry("rawOutput", &*output)?;
        }
        UpdateMeta::of(self).write(map)
    }
}

/// Writes title, name, kind, locations and input, as far as they are among the fields. The first report
/// has the kind even if it is the default.
fn write_description<M: SerializeMap>(
    map: &mut M,
    call: &ToolCall,
    fields: Fields,
) -> Result<(), M::Error> {
    let includes = |field| fields.has(Fields::ANNOUNCED | field);
    if includes(Fields::TITLE) {
        map.serialize_entry("title", call.title())?;
    }
    if includes(Fields::NAME) {
        map.serialize_entry("name", &**call.tool())?;
    }
    if includes(Fields::KIND) {
        map.serialize_entry("kind", call.kind().as_str())?;
    }
    let has_locations = !call.locations().is_empty();
    if fields.has(Fields::LOCATIONS) || fields.has(Fields::ANNOUNCED) && has_locations {
        map.serialize_entry("locations", &Locations(call.locations()))?;
    }
    match call.input().filter(|_| includes(Fields::INPUT)) {
        Some(input) => write_input(map, input),
        None => Ok(()),
    }
}

pub(crate) fn write_input<M: SerializeMap>(map: &mut M, input: &Input) -> Result<(), M::Error> {
    match input {
        Input::Json(value) => map.serialize_entry("rawInput", &**value),
        Input::Text(text) => map.serialize_entry("rawInput", &**text),
    }
}

pub(crate) struct Locations<'a>(pub(crate) &'a [Location]);

impl Serialize for Locations<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct LocationJson<'a> {
            path: Cow<'a, str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            line: Option<u32>,
        }
        serializer.collect_seq(self.0.iter().map(|location| LocationJson {
            path: lossy(&location.path),
            line: location.line,
        }))
    }
}

impl Serialize for Update<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let plan = self.call.plan().filter(|_| self.fields == Fields::PLAN);
        let mut map = serializer.serialize_map(None)?;
        match plan {
            Some(plan) => write_plan(&mut map, plan)?,
            None => self.write(&mut map)?,
        }
        map.end()
    }
}

fn write_plan<M: SerializeMap>(map: &mut M, plan: &Plan) -> Result<(), M::Error> {
    #[derive(Serialize)]
    struct PlanEntryJson<'a> {
        content: &'a str,
        priority: &'static str,
        status: &'static str,
    }
    let entries = plan.entries.iter().map(|entry| PlanEntryJson {
        content: &entry.content,
        priority: match entry.priority {
            Priority::High => "high",
            Priority::Medium => "medium",
            Priority::Low => "low",
        },
        status: match entry.status {
            PlanStatus::Pending => "pending",
            PlanStatus::InProgress => "in_progress",
            PlanStatus::Completed => "completed",
        },
    });
    map.serialize_entry("sessionUpdate", "plan")?;
    map.serialize_entry("entries", &entries.collect::<Vec<_>>())
}
