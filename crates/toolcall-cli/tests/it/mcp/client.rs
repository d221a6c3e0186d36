//! A client that prompts once, allows what it is asked, cancels what would never end, and keeps every line.
//! It judges nothing.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, split};

pub(crate) const SESSION: &str = "session-1";

/// Every message of the agent, in order.
pub(crate) struct Recorded(Vec<Value>);

impl Recorded {
    /// What was said of one call, counted from 1.
    pub(crate) fn of_call(&self, number: usize) -> Vec<Value> {
        let id = format!("call-{number}");
        let updates = self.0.iter().map(|message| &message["params"]["update"]);
        let updates = updates.filter(|update| update["toolCallId"] == *id);
        updates.cloned().collect()
    }

    pub(crate) fn stop_reason(&self) -> &str {
        let last = self
            .0
            .last()
            .map(|message| &message["result"]["stopReason"]);
        last.and_then(Value::as_str).unwrap_or("none")
    }
}

/// One prompt in one session.
pub(crate) async fn prompt(end: DuplexStream, cwd: &Path) -> Recorded {
    let (reader, mut writer) = split(end);
    let mut lines = BufReader::new(reader).lines();
    let requests = [
        (
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {"elicitation": {"form": {}}}}),
        ),
        ("session/new", json!({"cwd": cwd, "mcpServers": []})),
        (
            "session/prompt",
            json!({"sessionId": SESSION, "prompt": [{"type": "text", "text": "go"}]}),
        ),
    ];
    let mut recorded = Vec::new();
    for (id, (method, params)) in requests.into_iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writer
            .write_all(format!("{request}\n").as_bytes())
            .await
            .unwrap();
        while let Some(line) = lines.next_line().await.unwrap() {
            let message: Value = serde_json::from_str(&line).unwrap();
            if let Some(reply) = reply(&message) {
                writer
                    .write_all(format!("{reply}\n").as_bytes())
                    .await
                    .unwrap();
            }
            recorded.push(message.clone());
            if message["id"] == id && message.get("method").is_none() {
                break;
            }
        }
    }
    Recorded(recorded)
}

/// Allows once; fills in a name; cancels a call of six thousand steps as soon as it made one.
fn reply(message: &Value) -> Option<Value> {
    if message["method"] == "elicitation/create" {
        let answer = json!({"action": "accept", "content": {"name": "Ada"}});
        return Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
    }
    if message["method"] == "session/request_permission" {
        let mut options = message["params"]["options"].as_array()?.iter();
        let once = options.find(|option| option["kind"] == "allow_once")?;
        let outcome = json!({"outcome": "selected", "optionId": once["optionId"]});
        return Some(
            json!({"jsonrpc": "2.0", "id": message["id"], "result": {"outcome": outcome}}),
        );
    }
    let progress = &message["params"]["update"]["_meta"]["toolcall/progress"];
    (progress["total"] == 6000.0 || progress["total"] == 6000).then(
        || json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": SESSION}}),
    )
}
