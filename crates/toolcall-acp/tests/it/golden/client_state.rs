//! What a client knows of each call after some updates: fields are replaced, `_meta` is merged.
//! Like a client, it keeps no replaced value.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Heartbeats are not part of the state.
const BEAT: &str = "toolcall/beat";
const CHUNK: &str = "terminal_output";

/// What a client knows of the calls and the plan of a session.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ClientState {
    pub(crate) calls: BTreeMap<String, Map<String, Value>>,
    pub(crate) plan: Option<Value>,
}

impl ClientState {
    /// Applies `params.update` of a `session/update`.
    pub(crate) fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("tool_call" | "tool_call_update") => self.merge(update),
            Some("plan") => self.plan = Some(update["entries"].clone()),
            _ => {}
        }
    }

    /// Applies the fields of a call from an update or a permission request.
    pub(crate) fn merge(&mut self, reported: &Value) {
        let (Some(id), Some(fields)) = (reported["toolCallId"].as_str(), reported.as_object())
        else {
            return;
        };
        let call = self.calls.entry(id.to_owned()).or_default();
        for (key, value) in fields {
            match key.as_str() {
                "sessionUpdate" | "toolCallId" => {}
                "_meta" => merge_meta(call, value),
                _ => drop(call.insert(key.clone(), value.clone())),
            }
        }
    }

    /// Returns a field of a call.
    pub(crate) fn get(&self, call: &str, field: &str) -> Option<&Value> {
        self.calls.get(call)?.get(field)
    }
}

fn merge_meta(call: &mut Map<String, Value>, reported: &Value) {
    let known = call.entry("_meta").or_insert_with(|| json!({}));
    for (key, value) in reported.as_object().into_iter().flatten() {
        match key.as_str() {
            BEAT => {}
            CHUNK => append(&mut known[CHUNK], value),
            _ => known[key] = value.clone(),
        }
    }
}

/// Concatenates chunks for a terminal.
fn append(known: &mut Value, chunk: &Value) {
    let before = known["data"].as_str().unwrap_or_default().to_owned();
    *known = chunk.clone();
    let data = chunk["data"].as_str().unwrap_or_default();
    known["data"] = (before + data).into();
}
