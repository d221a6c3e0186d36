//! What is told of a call, under the names of the GenAI and MCP conventions, and ours where they have none.
//! Names, sizes and decisions only: what a call was given and what it gave is told elsewhere, and only on request.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use toolcall::{
    Content, Decision, Effect, Event, Exit, FormReply, Input, Judge, Lifetime, Origin, Remembered,
    ResourceBody, SessionId, ToolCall,
};

use crate::span::{number, signed, text};

/// Of the span of a turn.
pub(crate) fn of_turn(session: &SessionId, agent: Option<&str>) -> Vec<KeyValue> {
    let mut told = vec![
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.conversation.id", session.as_str()),
    ];
    told.extend(agent.map(|agent| text("gen_ai.agent.name", agent)));
    told
}

/// Of the span of an ended call.
pub(crate) fn of_call(call: &ToolCall) -> Vec<KeyValue> {
    let id = call.id().as_str();
    let mut told = vec![
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", call.tool()),
        text("gen_ai.tool.call.id", call.model_id().map_or(id, |id| id)),
        text("gen_ai.conversation.id", call.session().as_str()),
        text("toolcall.call.id", id),
        text("toolcall.kind", call.kind().as_str()),
    ];
    told.extend(provider(call));
    if let Some(decision) = call.decision() {
        told.extend(of_decision(decision));
    }
    told.extend(of_ending(call));
    told
}

/// Of the span of a wait that this event ended.
pub(crate) fn of_wait(call: &ToolCall, event: &Event) -> Vec<KeyValue> {
    if let Event::Decided(decision) = event {
        let mut told = vec![text("toolcall.wait.for", "permission")];
        told.extend(of_decision(decision));
        return told;
    }
    if let Event::FormAnswered(answered) = event {
        return vec![
            text("toolcall.wait.for", "form"),
            text("toolcall.form.answer", reply(&answered.reply)),
        ];
    }
    // It ended unanswered: no other event ends a wait.
    vec![text("toolcall.wait.for", unanswered(call))]
}

fn unanswered(call: &ToolCall) -> &'static str {
    let mut forms = call.forms().iter();
    if forms.any(|asking| asking.answer.is_none()) {
        "form"
    } else {
        "permission"
    }
}

fn reply(reply: &FormReply) -> &'static str {
    match reply {
        FormReply::Accepted(_) => "accepted",
        FormReply::Declined { .. } => "declined",
        FormReply::Cancelled => "cancelled",
    }
}

/// Who provides the tool, once that is known.
fn provider(call: &ToolCall) -> Vec<KeyValue> {
    let Some(prepared) = call.prepared_as() else {
        return Vec::new();
    };
    match &prepared.intent.tool.origin {
        Origin::Local => vec![text("gen_ai.tool.type", "function")],
        Origin::Mcp(server) => vec![
            text("gen_ai.tool.type", "extension"),
            text("mcp.method.name", "tools/call"),
            text("toolcall.mcp.server", server),
        ],
        Origin::Agent => Vec::new(),
    }
}

/// Which rule decided is told with the content: its name may quote the command it was kept for.
fn of_decision(decision: &Decision) -> Vec<KeyValue> {
    let effect = match decision.effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    };
    let mut told = vec![text("toolcall.decision", effect)];
    match &decision.by {
        Judge::Rule(_) => told.push(text("toolcall.decision.by", "rule")),
        Judge::Person(remembered) => {
            told.push(text("toolcall.decision.by", "person"));
            told.push(text("toolcall.decision.kept", kept(remembered)));
        }
        Judge::Unseen => told.push(text("toolcall.decision.by", "unseen")),
    }
    told
}

/// For how long an answer holds. The rule's text says what was done, so it is not told.
fn kept(remembered: &Remembered) -> &'static str {
    match remembered {
        Remembered::Once => "once",
        Remembered::NotKept { .. } => "not_kept",
        Remembered::Kept(rule) => match rule.lifetime {
            Lifetime::Session => "session",
            Lifetime::Project => "project",
            Lifetime::Everywhere => "everywhere",
        },
    }
}

fn of_ending(call: &ToolCall) -> Vec<KeyValue> {
    let mut told = vec![number("toolcall.output.bytes", call.output().total())];
    if let Some(bytes) = input_bytes(call) {
        told.push(number("toolcall.input.bytes", bytes));
    }
    match call.exit() {
        Some(Exit::Code(code)) => told.push(signed("process.exit.code", code)),
        Some(Exit::Signal(signal)) => told.push(signed("toolcall.exit.signal", signal)),
        None => {}
    }
    if let Some(finish) = call.finish() {
        let given: usize = finish.result.content.iter().map(bytes_of).sum();
        told.push(number("toolcall.result.bytes", given as u64));
        told.push(text("toolcall.ending", finish.ending.name()));
        if !finish.ending.is_success() {
            told.push(text("error.type", finish.ending.name()));
        }
    }
    told
}

/// As it would go to a model: what is only pointed at weighs nothing.
fn bytes_of(content: &Content) -> usize {
    match content {
        Content::Text(text) => text.len(),
        Content::Image(blob) | Content::Audio(blob) => blob.base64.len(),
        Content::Resource(resource) => match &resource.body {
            ResourceBody::Text(body) | ResourceBody::Base64(body) => body.len(),
        },
        Content::Link(_) | Content::Edit(_) | Content::Terminal(_) => 0,
    }
}

/// Known without writing it down again only where it was text.
fn input_bytes(call: &ToolCall) -> Option<u64> {
    let streamed = call.input_growth().map(|growth| growth.bytes);
    match call.input() {
        Some(Input::Text(text)) => Some(text.len() as u64),
        Some(Input::Json(_)) | None => streamed,
    }
}
