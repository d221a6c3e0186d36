//! One call as its records fold, with what lists and counts need of it.
//! It folds; where records come from and where a summary goes is not its business.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use toolcall::{
    Announced, CallId, Content, Effect, Event, EventKind, FileEdit, Finish, Input, Judge, Kind,
    Outline, Remembered, ResourceBody, SessionId, Status, Timestamp, ToolCall, Touch,
};

use crate::stored::Packer;

/// A call and when what happened to it.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) call: ToolCall,
    pub(crate) started: Option<Timestamp>,
    pub(crate) ended: Option<Timestamp>,
    pub(crate) latest: Timestamp,
    /// When each question was asked, and when it was answered.
    pub(crate) asked: Vec<(Timestamp, Option<Timestamp>)>,
    /// Its first and its last record.
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Life {
    /// Begins with the first record of a call. One whose announcement was lost has no tool.
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
        let mut life = Self {
            call,
            started: None,
            ended: None,
            latest: at,
            asked: Vec::new(),
            first: seq,
            last: seq,
        };
        if announcement(event).is_none() {
            life.apply(seq, at, event);
        }
        life
    }

    /// Goes on with a further record. One out of place changes nothing, as when it was lived.
    pub(crate) fn apply(&mut self, seq: i64, at: Timestamp, event: &Event) {
        self.last = seq;
        self.latest = self.latest.max(at);
        if self.call.apply(event, at).is_err() {
            return;
        }
        match event.kind() {
            EventKind::Permission => self.asked_or_decided(event, at),
            EventKind::Start => self.started = Some(at),
            EventKind::Finish => self.ended = Some(at),
            EventKind::Announcement
            | EventKind::Preparation
            | EventKind::Form
            | EventKind::Passing
            | EventKind::Detail => {}
        }
    }

    fn asked_or_decided(&mut self, event: &Event, at: Timestamp) {
        let Event::Decided(decision) = event else {
            return self.asked.push((at, None));
        };
        let questions = self.call.questions().iter();
        let place = questions
            .map(|asking| &asking.question.id)
            .position(|id| Some(id) == decision.question.as_ref());
        if let Some((_, answered)) = place.and_then(|place| self.asked.get_mut(place)) {
            *answered = Some(at);
        }
    }

    /// One word: how it ended, or where it stands.
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

    /// How many bytes it printed and gave back.
    pub(crate) fn bytes(&self) -> u64 {
        let given = self.call.finish().map_or(0, |finish| {
            finish.result.content.iter().map(content_bytes).sum()
        });
        self.call.output().total() + given
    }

    /// The edits that were shown before it ran.
    pub(crate) fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        self.call.preview().iter().filter_map(Content::as_edit)
    }

    /// Which files it touched, and how.
    pub(crate) fn touched(&self) -> Vec<(&Path, &'static str)> {
        let mut touched = Vec::new();
        match (self.call.restated_as(), self.call.prepared_as()) {
            (None, Some(prepared)) => {
                let touches = prepared.intent.touches.iter();
                touches.for_each(|touch| push_touch(touch, &mut touched));
            }
            // A foreign agent states no touches, only where its call is.
            (Some(_), _) | (None, None) => {
                let how = by_kind(self.call.kind());
                let places = self.call.locations().iter();
                touched.extend(places.map(|place| (&*place.path, how)));
            }
        }
        touched
    }

    /// The words of its input.
    pub(crate) fn input(&self) -> Option<&Input> {
        self.call.input()
    }

    /// The texts that it gave back.
    pub(crate) fn given(&self) -> impl Iterator<Item = &Arc<str>> {
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

/// Yes or no, in a word.
pub(crate) fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Deny => "deny",
    }
}

/// Who decided, in a word.
pub(crate) fn judge_name(judge: &Judge) -> &'static str {
    match judge {
        Judge::Rule(_) => "rule",
        Judge::Person(_) => "person",
        Judge::Unseen => "unseen",
    }
}

/// Which rule decided, or was kept. What was kept holds what it covers, which is the input.
pub(crate) fn rule_of(judge: &Judge, packer: &Packer<'_>) -> Option<Arc<str>> {
    match judge {
        Judge::Rule(name) => Some(packer.line(name.as_str())),
        Judge::Person(Remembered::Kept(rule) | Remembered::NotKept { rule, .. }) => {
            Some(packer.told(&rule.text))
        }
        Judge::Person(Remembered::Once) | Judge::Unseen => None,
    }
}

fn push_touch<'a>(touch: &'a Touch, touched: &mut Vec<(&'a Path, &'static str)>) {
    match touch {
        Touch::Reads(path) => touched.push((path, "read")),
        Touch::Writes(path) => touched.push((path, "write")),
        Touch::Deletes(path) => touched.push((path, "delete")),
        Touch::Moves { from, to } => {
            touched.push((from, "move"));
            touched.push((to, "move"));
        }
        Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => {}
    }
}

fn by_kind(kind: Kind) -> &'static str {
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

/// About how many bytes an event holds in memory.
pub(crate) fn weigh(event: &Event) -> usize {
    const BARE: usize = 256;
    let contents = |contents: &[Content]| contents.iter().map(weigh_content).sum::<usize>();
    BARE + match event {
        Event::Announced(announced) => announced.input.as_ref().map_or(0, weigh_input),
        Event::InputArrived(input) => weigh_input(input),
        Event::Prepared(prepared) => {
            weigh_json(&prepared.input) + contents(&prepared.intent.preview)
        }
        Event::Asked(question) => {
            weigh_json(&question.subject.input) + contents(&question.subject.intent.preview)
        }
        Event::Showed(shown) => contents(shown),
        Event::Planned(plan) => plan
            .entries
            .iter()
            .map(|entry| entry.content.len() + 32)
            .sum(),
        Event::Noted { value, .. } => weigh_json(value),
        Event::Located(locations) => locations.len() * 128,
        Event::Restated(restated) => {
            restated.input.as_ref().map_or(0, weigh_input) + contents(&restated.preview)
        }
        Event::Finished(finish) => {
            let pieces = finish.output.pieces();
            let structured = finish.result.structured.as_ref();
            pieces.iter().map(|piece| piece.len()).sum::<usize>()
                + contents(&finish.result.content)
                + structured.map_or(0, |value| weigh_json(value))
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

fn weigh_input(input: &Input) -> usize {
    match input {
        Input::Json(value) => weigh_json(value),
        Input::Text(text) => text.len(),
    }
}

fn weigh_json(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 32,
        Value::String(text) => 32 + text.len(),
        Value::Array(items) => 32 + items.iter().map(weigh_json).sum::<usize>(),
        Value::Object(members) => {
            let weigh = |(key, member): (&String, &Value)| key.len() + 64 + weigh_json(member);
            32 + members.iter().map(weigh).sum::<usize>()
        }
    }
}

fn weigh_content(content: &Content) -> usize {
    let edit = content.as_edit().map_or(0, |edit| {
        use toolcall::Change;
        match &edit.change {
            Change::Added { after } => after.bytes(),
            Change::Modified { before, after } => before.bytes() + after.bytes(),
            Change::Deleted { before } => before.bytes(),
            Change::Moved { .. } => 0,
        }
    });
    (content_bytes(content) + edit) as usize + 64
}
