//! What a client knows of each call after a number of updates: fields replaced, `_meta` merged.
//! It is as forgetful as a client: what was replaced is gone.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Signs of life are no state.
const BEAT: &str = "toolcall/beat";
const CHUNK: &str = "terminal_output";

/// What a client knows of the calls and the plan of a session.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ClientState {
    pub(crate) calls: BTreeMap<String, Map<String, Value>>,
    pub(crate) plan: Option<Value>,
}

impl ClientState {
    /// Takes in what `params.update` of a `session/update` tells.
    pub(crate) fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("tool_call" | "tool_call_update") => self.merge(update),
            Some("plan") => self.plan = Some(update["entries"].clone()),
            _ => {}
        }
    }

    /// Takes in a call as an update or a request for permission tells it.
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

    /// A field of a call.
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

/// Chunks for a terminal are put together.
fn append(known: &mut Value, chunk: &Value) {
    let before = known["data"].as_str().unwrap_or_default().to_owned();
    *known = chunk.clone();
    let data = chunk["data"].as_str().unwrap_or_default();
    known["data"] = (before + data).into();
}
