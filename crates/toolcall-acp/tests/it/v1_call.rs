//! What v1 can say of a call, to compare one with the same that was written and read back.
//! What is left out here is on the list of losses in `docs/acp-v1.md`.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolcall::{CallId, Content, Ending, Exit, Input, Kind, Location, Progress, ToolCall};

/// What v1 can say of a call.
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
            // A call that failed before it began is not told apart from one that failed early on.
            started: call.has_started(),
            progress: call.progress().cloned(),
            metadata: call.metadata().clone(),
            // How a command ended is told with the end of its call.
            exit: call.exit().filter(|_| finish.is_some()),
            shows: shows(call),
            structured: result.and_then(|result| without_exit(result.structured.as_deref())),
            ending: call.ending().cloned(),
        }
    }
}

/// What the tool left, without what is put beside it of a command.
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

/// Everything a call shows that is its tool's: what it would do, shows, and left.
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
