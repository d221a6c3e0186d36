//! Validates the agent's lines against the schema of v1, with the SDK's own types.
//! It checks single lines, not their order.

use std::collections::HashMap;
use std::sync::LazyLock;

use agent_client_protocol::v1::schema::{
    CancelRequestNotification, CreateElicitationRequest, CreateTerminalRequest, InitializeResponse,
    KillTerminalRequest, NewSessionResponse, PromptResponse, ReadTextFileRequest,
    ReleaseTerminalRequest, RequestPermissionRequest, SessionNotification, TerminalOutputRequest,
    WaitForTerminalExitRequest, WriteTextFileRequest,
};
use jsonschema::Validator;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::golden::line::{Line, Side};

/// The schema of one kind of message.
struct MessageSchema {
    validator: Validator,
    /// Parses a message into the SDK's type and serializes it again.
    through_type: fn(&Value) -> Result<Value, String>,
}

impl MessageSchema {
    fn of<T: JsonSchema + Serialize + DeserializeOwned>() -> Self {
        let schema = schema_for!(T).to_value();
        Self {
            validator: jsonschema::validator_for(&schema).expect("a schema"),
            through_type: |value| {
                let typed: T = T::deserialize(value).map_err(|error| error.to_string())?;
                serde_json::to_value(typed).map_err(|error| error.to_string())
            },
        }
    }

    fn findings(&self, message: &Value) -> Vec<String> {
        let errors = self.validator.iter_errors(message);
        let mut findings: Vec<_> = errors.map(|error| error.to_string()).collect();
        match (self.through_type)(message) {
            Err(error) => findings.push(error),
            Ok(read) if items(&read) != items(message) => {
                findings.push(format!(
                    "items are lost: {:?} of {:?}",
                    items(&read),
                    items(message)
                ));
            }
            Ok(_) => {}
        }
        findings
    }
}

/// Returns the length of each list. The SDK drops malformed items silently.
fn items(message: &Value) -> Vec<(&'static str, usize)> {
    const LISTS: [&str; 10] = [
        "/update/content",
        "/update/locations",
        "/update/entries",
        "/toolCall/content",
        "/toolCall/locations",
        "/options",
        "/args",
        "/requestedSchema/properties",
        "/update/content/0/content",
        "/update/_meta",
    ];
    let length = |list: &Value| {
        list.as_array()
            .map(Vec::len)
            .or(list.as_object().map(|o| o.len()))
    };
    let counted = LISTS
        .into_iter()
        .map(|at| (at, message.pointer(at).and_then(length)));
    counted
        .map(|(at, length)| (at, length.unwrap_or_default()))
        .collect()
}

/// The schemas by method, and those of responses by the method of their request.
static SCHEMAS: LazyLock<HashMap<&'static str, MessageSchema>> = LazyLock::new(|| {
    HashMap::from([
        ("session/update", MessageSchema::of::<SessionNotification>()),
        (
            "session/request_permission",
            MessageSchema::of::<RequestPermissionRequest>(),
        ),
        (
            "elicitation/create",
            MessageSchema::of::<CreateElicitationRequest>(),
        ),
        (
            "fs/read_text_file",
            MessageSchema::of::<ReadTextFileRequest>(),
        ),
        (
            "fs/write_text_file",
            MessageSchema::of::<WriteTextFileRequest>(),
        ),
        (
            "terminal/create",
            MessageSchema::of::<CreateTerminalRequest>(),
        ),
        (
            "terminal/output",
            MessageSchema::of::<TerminalOutputRequest>(),
        ),
        (
            "terminal/wait_for_exit",
            MessageSchema::of::<WaitForTerminalExitRequest>(),
        ),
        ("terminal/kill", MessageSchema::of::<KillTerminalRequest>()),
        (
            "terminal/release",
            MessageSchema::of::<ReleaseTerminalRequest>(),
        ),
        (
            "$/cancel_request",
            MessageSchema::of::<CancelRequestNotification>(),
        ),
        (
            "answer to initialize",
            MessageSchema::of::<InitializeResponse>(),
        ),
        (
            "answer to session/new",
            MessageSchema::of::<NewSessionResponse>(),
        ),
        (
            "answer to session/prompt",
            MessageSchema::of::<PromptResponse>(),
        ),
    ])
});

/// Returns everything that is wrong with single lines of the agent.
pub(crate) fn findings(lines: &[Line]) -> Vec<String> {
    let asked = |id: &Value| {
        let asks = |line: &&Line| line.side == Side::Client && line.json["id"] == *id;
        let request = lines
            .iter()
            .filter(asks)
            .find(|line| line.json.get("method").is_some());
        request.and_then(|line| line.json["method"].as_str())
    };
    let said = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.side == Side::Agent);
    said.flat_map(|(at, line)| {
        let found = validate(&line.json, asked(&line.json["id"]));
        found
            .into_iter()
            .map(move |what| format!("line {}: {what}", at + 1))
    })
    .collect()
}

fn validate(line: &Value, asked: Option<&str>) -> Vec<String> {
    let (name, message) = match (line["method"].as_str(), asked) {
        (Some(method), _) => (method.to_owned(), &line["params"]),
        (None, _) if line.get("error").is_some() => return Vec::new(),
        (None, Some(asked)) if asked.starts_with('_') => return Vec::new(),
        (None, asked) => (
            format!("answer to {}", asked.unwrap_or_default()),
            &line["result"],
        ),
    };
    match SCHEMAS.get(name.as_str()) {
        Some(shape) => shape.findings(message),
        None => vec![format!("`{name}` is not known")],
    }
}
