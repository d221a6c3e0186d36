//! The floor: the same messages in the protocol's own types, through serde_json into a buffered writer.
//! Nothing is made, shared, counted or bounded; nothing that reports calls can be much faster.

use std::io::{BufWriter, Write as _, stdout};

use agent_client_protocol::v1::schema::{
    SessionNotification, SessionUpdate, ToolCall, ToolCallContent, ToolCallStatus, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind,
};
use serde::Serialize;
use serde_json::json;

use toolcall_acp::v1::{EncodeOptions, encode};

use super::CALLS;
use super::ours::{POOL, record};

/// A notification as it goes over the wire.
#[derive(Serialize)]
struct Message {
    jsonrpc: &'static str,
    method: &'static str,
    params: SessionNotification,
}

pub(super) fn send() {
    let messages = messages();
    let mut out = BufWriter::with_capacity(64 * 1024, stdout().lock());
    for _ in 0..CALLS / POOL {
        for message in &messages {
            serde_json::to_writer(&mut out, message).expect("it can be written");
            out.write_all(b"\n").expect("it can be written");
        }
    }
    out.flush().expect("it can be written");
}

/// What ours sends, read back.
fn messages() -> Vec<Message> {
    let dialect = EncodeOptions::default();
    let told = record();
    let updates = told
        .iter()
        .flat_map(|(call, event)| encode(call, event, &dialect));
    let typed = updates.map(|update| serde_json::from_value(update.to_value()));
    typed
        .map(|update| message(update.expect("it is of the protocol")))
        .collect()
}

fn message(update: SessionUpdate) -> Message {
    Message {
        jsonrpc: "2.0",
        method: "session/update",
        params: SessionNotification::new("session", update),
    }
}

/// What a client is told of one call: that it is there, runs, and has ended.
pub(super) fn updates(number: u32) -> [SessionUpdate; 3] {
    let id = format!("call-{number}");
    let fields = ToolCallUpdateFields::new;
    let text = ToolCallContent::from("nothing was read");
    let done = fields()
        .status(ToolCallStatus::Completed)
        .content(vec![text]);
    [
        SessionUpdate::ToolCall(
            ToolCall::new(id.clone(), "Read nothing")
                .name("read_nothing".to_owned())
                .kind(ToolKind::Read)
                .raw_input(json!({"path": "src/main.rs", "line": 10, "limit": 20})),
        ),
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
            id.clone(),
            fields().status(ToolCallStatus::InProgress),
        )),
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id, done)),
    ]
}
