//! One call folded from its records, with the timestamps that lists and statistics need.
//! It neither reads records nor writes rows.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use toolcall::{
    Announced, CallId, Content, Effect, Event, EventKind, FileEdit, Finish, Input, Judge, Kind,
    Outline, Remembered, ResourceBody, SessionId, Status, Timestamp, ToolCall, Touch,
};

use crate::stored::Encoder;

/// A call folded from its records, and when each step happened.
#[derive(Clone, Debug)]
pub(crate) struct CallSummary {
    pub(crate) call: ToolCall,
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) latest: Timestamp,
    /// When each permission question was asked, and when it was answered.
    pub(crate) question_times: Vec<(Timestamp, Option<Timestamp>)>,
    /// The sequence numbers of its first and its last record.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl CallSummary {
    /// Begins with the first record of a call. A call whose announcement was lost has an empty tool name.
    pub(crate) fn begin(
        session: &SessionId,
        id: &CallId,
        seq: i64,
        at: Timestamp,
        event: &Event,
    ) -> Self {
        let announced = announcement(event).unwrap_or_else(|| {
            Arc::new(Announced {
                tool: "".into(),
                model_id: None,
                parent: None,
                input: None,
                outline: Outline::default(),
            })
        });
        let call = ToolCall::announce(id.clone(), session.clone(), announced, Arc::default(), at);
        let mut summary = Self {
            call,
            started: None,
            ended: None,
            latest: at,
            question_times: Vec::new(),
            first: seq,
            last: seq,
        };
        if announcement(event).is_none() {
            summary.apply(seq, at, event);
        }
        summary
    }

    /// Applies a further record. The fold ignores an irregular event, as it did when the call was live.
    pub(crate) fn apply(&mut self, seq: i64, at: Timestamp, event: &Event) {
        self.last = seq;
        self.latest = self.latest.max(at);
        if self.call.apply(event, at).is_err() {
            return;
        }
        match event.kind() {
            EventKind::Permission => self.apply_permission(event, at),
            EventKind::Start => self.started = Some(at),
            EventKind::Finish => self.ended = Some(at),
            EventKind::Announcement
            | EventKind::Preparation
            | EventKind::Form
            | EventKind::Passing
            | EventKind::Detail => {}
        }
    }

    fn apply_permission(&mut self, event: &Event, at: Timestamp) {
        let Event::Decided(decision) = event else {
            return self.question_times.push((at, None));
        };
        let questions = self.call.questions().iter();
        let index = questions
            .map(|asking| &asking.question.id)
            .position(|id| Some(id) == decision.question.as_ref());
        if let Some((_, answered)) = index.and_then(|index| self.question_times.get_mut(index)) {
            *answered = Some(at);
        }
    }

    /// Returns one word: how it ended, or its status while it is open.
    pub(crate) fn status(&self) -> &'static str {
        match (self.call.ending(), self.call.status()) {
            (Some(ending), _) => ending.name(),
            (None, Status::Streaming) => "streaming",
            (None, Status::Announced) => "announced",
            (None, Status::Prepared) => "prepared",
            (None, Status::Asking) => "asking",
            (None, Status::Allowed) => "allowed",
            (None, Status::Refused) => "refused",
            (None, Status::Running) => "running",
            (None, Status::Held) => "held",
            (None, Status::Unknown(_) | Status::Ended) => "unknown",
        }
    }

    /// Returns the size of its output and its result, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let result_bytes = self.call.finish().map_or(0, |finish| {
            finish.result.content.iter().map(content_bytes).sum()
        });
        self.call.output().total() + result_bytes
    }

    /// Returns the edits that its preview showed.
    pub(crate) fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        self.call.preview().iter().filter_map(Content::as_edit)
    }

    /// Returns the files it touched, and how.
    pub(crate) fn touched_files(&self) -> Vec<(&Path, &'static str)> {
        let mut touched_files = Vec::new();
        match (self.call.restated_as(), self.call.prepared_as()) {
            (None, Some(prepared)) => {
                let touches = prepared.intent.touches.iter();
                touches.for_each(|touch| push_touch(touch, &mut touched_files));
            }
            // Another agent reports no touches, only the locations of its call.
            (Some(_), _) | (None, None) => {
                let how = touch_name(self.call.kind());
                let locations = self.call.locations().iter();
                touched_files.extend(locations.map(|location| (&*location.path, how)));
            }
        }
        touched_files
    }

    /// Returns its input.
    pub(crate) fn input(&self) -> Option<&Input> {
        self.call.input()
    }

    /// Returns the texts of its result.
    pub(crate) fn result_texts(&self) -> impl Iterator<Item = &Arc<str>> {
        let finish: Option<&Arc<Finish>> = self.call.finish();
        let content = finish.into_iter().flat_map(|finish| &finish.result.content);
        content.filter_map(Content::as_text)
    }
}

fn announcement(event: &Event) -> Option<Arc<Announced>> {
    if let Event::Announced(announced) = event {
        return Some(announced.clone());
    }
    None
}

/// Returns the stored name of an effect.
pub(crate) fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    }
}

/// Returns the stored name of who decided.
pub(crate) fn judge_name(judge: &Judge) -> &'static str {
    match judge {
        Judge::Rule(_) => "rule",
        Judge::Person(_) => "person",
        Judge::Unseen => "unseen",
    }
}

/// Returns the rule that decided, or that the user chose to remember.
///
/// The text of a remembered rule quotes the input, so it counts as content.
pub(crate) fn rule_of(judge: &Judge, encoder: &Encoder<'_>) -> Option<Arc<str>> {
    match judge {
        Judge::Rule(name) => Some(encoder.redacted_line(name.as_str())),
        Judge::Person(Remembered::Kept(rule) | Remembered::NotKept { rule, .. }) => {
            Some(encoder.content_line(&rule.text))
        }
        Judge::Person(Remembered::Once) | Judge::Unseen => None,
    }
}

fn push_touch<'a>(touch: &'a Touch, touched_files: &mut Vec<(&'a Path, &'static str)>) {
    match touch {
        Touch::Reads(path) => touched_files.push((path, "read")),
        Touch::Writes(path) => touched_files.push((path, "write")),
        Touch::Deletes(path) => touched_files.push((path, "delete")),
        Touch::Moves { from, to } => {
            touched_files.push((from, "move"));
            touched_files.push((to, "move"));
        }
        Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => {}
    }
}

fn touch_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Edit => "write",
        Kind::Delete => "delete",
        Kind::Move => "move",
        Kind::Read
        | Kind::Search
        | Kind::Execute
        | Kind::Think
        | Kind::Fetch
        | Kind::SwitchMode
        | Kind::Other => "read",
    }
}

fn content_bytes(content: &Content) -> u64 {
    let bytes = match content {
        Content::Text(text) => text.len(),
        Content::Image(blob) | Content::Audio(blob) => blob.base64.len(),
        Content::Resource(resource) => match &resource.body {
            ResourceBody::Text(body) | ResourceBody::Base64(body) => body.len(),
        },
        Content::Link(_) | Content::Edit(_) | Content::Terminal(_) => 0,
    };
    bytes as u64
}

/// Returns the approximate size of an event in memory, in bytes.
pub(crate) fn memory_size(event: &Event) -> usize {
    const BARE: usize = 256;
    let contents = |contents: &[Content]| contents.iter().map(content_size).sum::<usize>();
    BARE + match event {
        Event::Announced(announced) => announced.input.as_ref().map_or(0, input_size),
        Event::InputArrived(input) => input_size(input),
        Event::Prepared(prepared) => {
            json_size(&prepared.input) + contents(&prepared.intent.preview)
        }
        Event::Asked(question) => {
            json_size(&question.subject.input) + contents(&question.subject.intent.preview)
        }
        Event::Showed(shown) => contents(shown),
        Event::Planned(plan) => plan
            .entries
            .iter()
            .map(|entry| entry.content.len() + 32)
            .sum(),
        Event::Noted { value, .. } => json_size(value),
        Event::Located(locations) => locations.len() * 128,
        Event::Restated(restated) => {
            restated.input.as_ref().map_or(0, input_size) + contents(&restated.preview)
        }
        Event::Finished(finish) => {
            let pieces = finish.output.pieces();
            let structured = finish.result.structured.as_ref();
            pieces.iter().map(|piece| piece.len()).sum::<usize>()
                + contents(&finish.result.content)
                + structured.map_or(0, |value| json_size(value))
        }
        Event::FormAsked(question) => {
            question.form.message().len() + question.form.fields().len() * 512
        }
        Event::InputGrew(_)
        | Event::Decided(_)
        | Event::FormAnswered(_)
        | Event::Started
        | Event::Progressed(_)
        | Event::Printed(_)
        | Event::Heartbeat(_)
        | Event::Held(_)
        | Event::Resumed
        | Event::Exited(_)
        | Event::StatusUnknown(_) => 0,
    }
}

fn input_size(input: &Input) -> usize {
    match input {
        Input::Json(value) => json_size(value),
        Input::Text(text) => text.len(),
    }
}

fn json_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
        Value::String(text) => 32 + text.len(),
        Value::Array(items) => 32 + items.iter().map(json_size).sum::<usize>(),
        Value::Object(members) => {
            let memory_size = |(key, member): (&String, &Value)| key.len() + 64 + json_size(member);
            32 + members.iter().map(memory_size).sum::<usize>()
        }
    }
}

fn content_size(content: &Content) -> usize {
    let edit = content.as_edit().map_or(0, |edit| {
        use toolcall::FileChange;
        match &edit.change {
            FileChange::Added { after } => after.bytes(),
            FileChange::Modified { before, after } => before.bytes() + after.bytes(),
            FileChange::Deleted { before } => before.bytes(),
            FileChange::Moved { .. } => 0,
        }
    });
    (content_bytes(content) + edit) as usize + 64
}
