//! The part of a call that v1 can express, to compare a call before and after encoding and decoding.
//! `docs/acp-v1.md` lists what is left out here.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolcall::{CallId, Content, Ending, Exit, Input, Kind, Location, Progress, ToolCall};

/// The part of a call that v1 can express.
#[derive(Debug, PartialEq)]
pub(crate) struct V1Call {
    tool: Arc<str>,
    title: String,
    kind: Kind,
    locations: Vec<Location>,
    input: Option<Input>,
    parent: Option<CallId>,
    started: bool,
    progress: Option<Progress>,
    metadata: BTreeMap<Arc<str>, Arc<Value>>,
    exit: Option<Exit>,
    shows: Vec<Content>,
    structured: Option<Value>,
    ending: Option<Ending>,
}

impl V1Call {
    pub(crate) fn of(call: &ToolCall) -> Self {
        let finish = call.finish();
        let result = finish.map(|finish| &finish.result);
        Self {
            tool: call.tool().clone(),
            title: call.title().to_owned(),
            kind: call.kind(),
            locations: call.locations().to_vec(),
            input: call.input().cloned(),
            parent: call.parent().cloned(),
            // v1 does not distinguish a call that failed before it started from one that failed early.
            started: call.has_started(),
            progress: call.progress().cloned(),
            metadata: call.metadata().clone(),
            // The exit status is sent with the ending of the call.
            exit: call.exit().filter(|_| finish.is_some()),
            shows: shows(call),
            structured: result.and_then(|result| without_exit(result.structured.as_deref())),
            ending: call.ending().cloned(),
        }
    }
}

/// Returns the structured result without the fields that are added for a command.
fn without_exit(structured: Option<&Value>) -> Option<Value> {
    let Some(Value::Object(object)) = structured else {
        return structured.cloned();
    };
    let mut rest = object.clone();
    for key in ["exitCode", "signal", "cwd"] {
        rest.remove(key);
    }
    let is_wrapped = rest.len() == 1 && rest.len() < object.len();
    match rest.remove("result").filter(|_| is_wrapped) {
        Some(result) => Some(result),
        None => (!rest.is_empty()).then_some(Value::Object(rest)),
    }
}

/// Returns all content of the tool: preview, shown content and result.
fn shows(call: &ToolCall) -> Vec<Content> {
    let preview = call.preview().iter();
    let shown = call.shown().into_iter().flat_map(|shown| shown.iter());
    let Some(finish) = call.finish() else {
        return preview.chain(shown).cloned().collect();
    };
    let left = finish.result.content.iter();
    let edits = preview.filter(|content| content.as_edit().is_some());
    if finish.result.content.is_empty() {
        edits.chain(shown).cloned().collect()
    } else {
        edits.chain(left).cloned().collect()
    }
}
