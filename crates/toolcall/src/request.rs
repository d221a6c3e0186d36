//! The request of a model to call a tool.
//! A request is not checked here; the engine does that and reports what is wrong.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::ids::CallId;
use crate::intent::Input;

/// The deepest nesting of an input: most JSON parsers stop there.
pub(crate) const DEEPEST: usize = 128;

/// A model's request to call a tool.
///
/// ```
/// use serde_json::json;
/// use toolcall::ToolRequest;
///
/// let request = ToolRequest::new("read_file", json!({"path": "notes.md"})).model_id("toolu_1");
/// let same = ToolRequest::from_text("read_file", r#"{"path": "notes.md"}"#).model_id("toolu_1");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolRequest {
    pub(crate) tool: Arc<str>,
    pub(crate) input: Input,
    pub(crate) model_id: Option<Arc<str>>,
    pub(crate) parent: Option<CallId>,
}

impl ToolRequest {
    /// Creates a request with JSON input.
    pub fn new(tool: impl Into<Arc<str>>, input: Value) -> Self {
        Self::with_input(tool, Input::from(input))
    }

    /// Creates a request with input as text that should be JSON, as some models send it.
    pub fn from_text(tool: impl Into<Arc<str>>, input: impl Into<Arc<str>>) -> Self {
        Self::with_input(tool, Input::Text(input.into()))
    }

    pub(crate) fn with_input(tool: impl Into<Arc<str>>, input: Input) -> Self {
        Self {
            tool: tool.into(),
            input,
            model_id: None,
            parent: None,
        }
    }

    /// Sets the input, as text that should be JSON.
    pub fn text(mut self, input: impl Into<Arc<str>>) -> Self {
        self.input = Input::Text(input.into());
        self
    }

    /// Sets the id that the model gave the call. The result carries it.
    pub fn model_id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.model_id = Some(id.into());
        self
    }

    /// Sets the call on whose behalf this one runs.
    pub fn parent(mut self, parent: CallId) -> Self {
        self.parent = Some(parent);
        self
    }
}

/// Parses an input. Returns the input to record, and the JSON value or what is wrong with it.
pub(crate) fn read_input(input: Input, largest: usize) -> (Input, Result<Arc<Value>, String>) {
    match input {
        Input::Text(text) => read_text(text, largest),
        Input::Json(value) => check_value(value, largest),
    }
}

fn read_text(text: Arc<str>, largest: usize) -> (Input, Result<Arc<Value>, String>) {
    if text.len() > largest {
        return (
            Input::Text(text.clone()),
            Err(too_large(text.len(), largest)),
        );
    }
    if text.trim().is_empty() {
        return check_value(Arc::new(Value::Null), largest);
    }
    match serde_json::from_str::<Value>(&text) {
        Ok(value) => check_value(Arc::new(value), largest),
        Err(error) => (
            Input::Text(text),
            Err(format!("the input is not JSON: {error}")),
        ),
    }
}

/// Checks depth and size. `null` counts as an empty object: models call tools without arguments
/// that way.
fn check_value(value: Arc<Value>, largest: usize) -> (Input, Result<Arc<Value>, String>) {
    if value.is_null() {
        let empty = Arc::new(Value::Object(Map::new()));
        return (Input::Json(empty.clone()), Ok(empty));
    }
    if depth_exceeds(&value, DEEPEST) {
        let problem = format!("the input is nested more than {DEEPEST} deep");
        return (Input::Text(value.to_string().into()), Err(problem));
    }
    let size = size_of(&value);
    let checked = if size > largest {
        Err(too_large(size, largest))
    } else {
        Ok(value.clone())
    };
    (Input::Json(value), checked)
}

fn too_large(size: usize, largest: usize) -> String {
    format!("the input has {size} bytes; at most {largest} are taken")
}

pub(crate) fn depth_exceeds(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| depth_exceeds(item, left - 1)),
        Value::Object(map) => left == 0 || map.values().any(|item| depth_exceeds(item, left - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Returns roughly the length as JSON text. Only called on values of checked depth.
fn size_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| size_of(item) + 1).sum::<usize>() + 2,
        Value::Object(map) => {
            let member = |(key, value): (&String, &Value)| key.len() + 4 + size_of(value);
            map.iter().map(member).sum::<usize>() + 2
        }
    }
}
