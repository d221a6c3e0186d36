//! Prints every event as one JSON object, for programs.
//! The store and the wire have formats of their own.

use std::time::Instant;

use serde_json::{Map, Value, json};
use toolcall::{
    Decision, Effect, Event, Exit, Finish, FormReply, Input, Judge, Plan, PlanEntry, PlanStatus,
    Progress, Reader, Remembered, Status, Ticket, ToolCall, Touch,
};

use crate::client::Viewer;
use crate::screen::Screen;
use crate::time::millis;

/// A reader that prints events as JSON lines.
pub(crate) struct JsonLines {
    screen: Screen,
    began: Instant,
}

impl JsonLines {
    /// Creates a reader; times count from now.
    pub(crate) fn new(screen: Screen) -> Self {
        let began = Instant::now();
        Self { screen, began }
    }
}

/// For a client: the session's plan belongs to no call.
impl Viewer for JsonLines {
    fn event(&mut self, call: &ToolCall, event: &Event) {
        self.read(call, event, &Ticket::default());
    }

    fn plan(&mut self, plan: &Plan) {
        let step = |entry: &PlanEntry| {
            let status = match entry.status {
                PlanStatus::Pending => "pending",
                PlanStatus::InProgress => "in_progress",
                PlanStatus::Completed => "completed",
            };
            json!({"content": entry.content, "status": status})
        };
        let steps: Vec<Value> = plan.entries.iter().map(step).collect();
        let at = millis(self.began.elapsed());
        let line = json!({"event": "plan", "steps": steps, "at_ms": at});
        self.screen.line(&line.to_string());
    }
}

impl Reader for JsonLines {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        let mut object = event_object(call, event);
        object.insert("at_ms".into(), millis(self.began.elapsed()).into());
        self.screen.line(&Value::Object(object).to_string());
    }
}

/// Returns the object of an event.
fn event_object(call: &ToolCall, event: &Event) -> Map<String, Value> {
    let mut object = Map::new();
    let about = json!({
        "call": call.id().as_str(),
        "tool": &**call.tool(),
        "event": event.name().replace(' ', "_"),
        "status": status(&call.status()),
        "kind": call.kind().as_str(),
        "title": call.title(),
    });
    for part in [about, event_json(call, event)] {
        if let Value::Object(fields) = part {
            object.extend(fields);
        }
    }
    object
}

/// Returns the fields that are particular to an event.
pub(crate) fn event_json(call: &ToolCall, event: &Event) -> Value {
    match event {
        Event::Announced(announced) => json!({
            "input": announced.input.as_ref().map(input),
            "parent": announced.parent.as_ref().map(|parent| parent.as_str()),
        }),
        Event::InputGrew(growth) => json!({"bytes": growth.bytes}),
        Event::InputArrived(arrived) => json!({"input": input(arrived)}),
        Event::Prepared(prepared) => {
            let touches: Vec<Value> = prepared.intent.touches.iter().map(touch).collect();
            json!({"touches": touches})
        }
        Event::Asked(question) => {
            let offers: Vec<&str> = question.offers.iter().map(|rule| &*rule.text).collect();
            let because = question.because.as_str();
            json!({"because": (!because.is_empty()).then_some(because), "offers": offers})
        }
        Event::Decided(decision) => decided(decision),
        Event::FormAsked(question) => {
            let fields = question.form.fields().iter().map(|field| &*field.name);
            json!({"by": &**question.form.by(), "fields": fields.collect::<Vec<_>>()})
        }
        Event::FormAnswered(answer) => form_answered(&answer.reply),
        Event::Started | Event::Resumed => json!({}),
        Event::Progressed(progress) => progressed(progress),
        Event::Showed(shown) => json!({"pieces": shown.len()}),
        Event::Printed(printed) => json!({
            "from": printed.from,
            "to": printed.to,
            "text": String::from_utf8_lossy(&call.output().range(*printed)),
        }),
        Event::Heartbeat(beat) => json!({"quiet_ms": millis(beat.quiet), "bytes": beat.bytes}),
        Event::Held(reason) => json!({"reason": &**reason}),
        Event::Planned(plan) => json!({"steps": plan.entries.len()}),
        Event::Noted { key, value } => json!({"key": &**key, "value": &**value}),
        Event::Located(locations) => json!({"locations": locations.len()}),
        Event::Exited(exit) => exited(*exit),
        Event::Restated(_) => json!({"input": call.input().map(input)}),
        Event::StatusUnknown(status) => json!({"reported": &**status}),
        Event::Finished(finish) => finished(call, finish),
    }
}

fn exited(exit: Exit) -> Value {
    match exit {
        Exit::Code(code) => json!({"exit_code": code}),
        Exit::Signal(signal) => json!({"signal": signal}),
    }
}

fn decided(decision: &Decision) -> Value {
    let effect = match decision.effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    };
    let (by, rule) = match &decision.by {
        Judge::Rule(rule) => ("rule", Some(rule.to_string())),
        Judge::Person(Remembered::Kept(rule)) => ("person", Some(rule.text.to_string())),
        Judge::Person(Remembered::Once | Remembered::NotKept { .. }) => ("person", None),
        Judge::Unseen => ("unseen", None),
    };
    json!({"effect": effect, "by": by, "rule": rule})
}

fn form_answered(reply: &FormReply) -> Value {
    match reply {
        FormReply::Accepted(fields) => {
            let fields: Vec<&str> = fields.iter().map(|field| &**field).collect();
            json!({"answer": "accepted", "fields": fields})
        }
        FormReply::Declined { reason } => {
            json!({"answer": "declined", "reason": reason.as_deref()})
        }
        FormReply::Cancelled => json!({"answer": "cancelled"}),
    }
}

fn progressed(progress: &Progress) -> Value {
    json!({
        "current": progress.current(),
        "total": progress.total(),
        "fraction": progress.fraction(),
        "message": progress.message(),
    })
}

fn finished(call: &ToolCall, finish: &Finish) -> Value {
    let timing = call.timing(call.announced_at());
    json!({
        "ending": finish.ending.name(),
        "reason": finish.ending.reason(),
        "output_bytes": finish.output.total(),
        "queued_ms": millis(timing.queued),
        "waited_ms": millis(timing.waited),
        "ran_ms": millis(timing.ran),
    })
}

fn input(input: &Input) -> Value {
    match input {
        Input::Json(value) => (**value).clone(),
        Input::Text(text) => Value::from(&**text),
    }
}

fn touch(touch: &Touch) -> Value {
    match touch {
        Touch::Reads(path) => json!({"reads": path}),
        Touch::Writes(path) => json!({"writes": path}),
        Touch::Deletes(path) => json!({"deletes": path}),
        Touch::Moves { from, to } => json!({"moves": from, "to": to}),
        Touch::Runs(command) => json!({"runs": &*command.text}),
        Touch::Reaches(target) => json!({"reaches": &**target}),
        Touch::Unknown => json!("unknown"),
    }
}

fn status(status: &Status) -> &str {
    match status {
        Status::Streaming => "streaming",
        Status::Announced => "announced",
        Status::Prepared => "prepared",
        Status::Asking => "asking",
        Status::Allowed => "allowed",
        Status::Refused => "refused",
        Status::Running => "running",
        Status::Held => "held",
        Status::Unknown(reported) => reported,
        Status::Ended => "ended",
    }
}
