//! The attributes of spans, named by the GenAI and MCP conventions, or `toolcall.…` where these have no name.
//! Names, sizes and decisions only: `content.rs` adds inputs and outputs if they are switched on.

use opentelemetry_proto::tonic::common::v1::KeyValue;
use toolcall::{
    Content, Decision, Effect, Event, Exit, FormReply, Input, Judge, Lifetime, Origin, Remembered,
    ResourceBody, SessionId, ToolCall,
};

use crate::span::{number, signed, text};

/// Returns the attributes of the span of a turn.
pub(crate) fn of_turn(session: &SessionId, agent: Option<&str>) -> Vec<KeyValue> {
    let mut attributes = vec![
        text("gen_ai.operation.name", "invoke_agent"),
        text("gen_ai.conversation.id", session.as_str()),
    ];
    attributes.extend(agent.map(|agent| text("gen_ai.agent.name", agent)));
    attributes
}

/// Returns the attributes of the span of an ended call.
pub(crate) fn of_call(call: &ToolCall) -> Vec<KeyValue> {
    let id = call.id().as_str();
    let mut attributes = vec![
        text("gen_ai.operation.name", "execute_tool"),
        text("gen_ai.tool.name", call.tool()),
        text("gen_ai.tool.call.id", call.model_id().map_or(id, |id| id)),
        text("gen_ai.conversation.id", call.session().as_str()),
        text("toolcall.call.id", id),
        text("toolcall.kind", call.kind().as_str()),
    ];
    attributes.extend(tool_provider(call));
    if let Some(decision) = call.decision() {
        attributes.extend(of_decision(decision));
    }
    attributes.extend(of_ending(call));
    attributes
}

/// Returns the attributes of the span of a wait that this event ended.
pub(crate) fn of_wait(call: &ToolCall, event: &Event) -> Vec<KeyValue> {
    if let Event::Decided(decision) = event {
        let mut attributes = vec![text("toolcall.wait.for", "permission")];
        attributes.extend(of_decision(decision));
        return attributes;
    }
    if let Event::FormAnswered(answered) = event {
        return vec![
            text("toolcall.wait.for", "form"),
            text("toolcall.form.answer", reply_name(&answered.reply)),
        ];
    }
    // No other event ends a wait, so the call ended without an answer.
    vec![text("toolcall.wait.for", unanswered_wait(call))]
}

fn unanswered_wait(call: &ToolCall) -> &'static str {
    let mut forms = call.forms().iter();
    if forms.any(|asking| asking.answer.is_none()) {
        "form"
    } else {
        "permission"
    }
}

fn reply_name(reply: &FormReply) -> &'static str {
    match reply {
        FormReply::Accepted(_) => "accepted",
        FormReply::Declined { .. } => "declined",
        FormReply::Cancelled => "cancelled",
    }
}

/// Returns the provider of the tool, once it is known.
fn tool_provider(call: &ToolCall) -> Vec<KeyValue> {
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

/// Returns the decision. The name of the rule is content, because it may quote the command it was remembered for.
fn of_decision(decision: &Decision) -> Vec<KeyValue> {
    let effect = match decision.effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    };
    let mut attributes = vec![text("toolcall.decision", effect)];
    match &decision.by {
        Judge::Rule(_) => attributes.push(text("toolcall.decision.by", "rule")),
        Judge::Person(remembered) => {
            attributes.push(text("toolcall.decision.by", "person"));
            attributes.push(text("toolcall.decision.kept", remembered_name(remembered)));
        }
        Judge::Unseen => attributes.push(text("toolcall.decision.by", "unseen")),
    }
    attributes
}

/// Returns how long an answer is remembered. The text of the rule quotes the input, so it is left out.
fn remembered_name(remembered: &Remembered) -> &'static str {
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
    let mut attributes = vec![number("toolcall.output.bytes", call.output().total())];
    if let Some(bytes) = input_bytes(call) {
        attributes.push(number("toolcall.input.bytes", bytes));
    }
    match call.exit() {
        Some(Exit::Code(code)) => attributes.push(signed("process.exit.code", code)),
        Some(Exit::Signal(signal)) => attributes.push(signed("toolcall.exit.signal", signal)),
        None => {}
    }
    if let Some(finish) = call.finish() {
        let given: usize = finish.result.content.iter().map(bytes_of).sum();
        attributes.push(number("toolcall.result.bytes", given as u64));
        attributes.push(text("toolcall.ending", finish.ending.name()));
        if !finish.ending.is_success() {
            attributes.push(text("error.type", finish.ending.name()));
        }
    }
    attributes
}

/// Returns the size of a content as a model would get it: links, edits and terminals count nothing.
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

/// Returns the size of the input, if it arrived as text; JSON is not serialized again to measure it.
fn input_bytes(call: &ToolCall) -> Option<u64> {
    let streamed = call.input_growth().map(|growth| growth.bytes);
    match call.input() {
        Some(Input::Text(text)) => Some(text.len() as u64),
        Some(Input::Json(_)) | None => streamed,
    }
}
