//! Tracks open calls and turns, and makes their spans when they end. All readers of one telemetry share it.
//! Times are those of the journal; it reads no clock and never waits.

use std::collections::HashMap;
use std::sync::Arc;

use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use toolcall::{CallId, Event, SessionId, Timestamp, ToolCall};

use crate::attributes;
use crate::content::{self, ContentCapture};
use crate::phase::Phase;
use crate::queue::SpanQueue;
use crate::span::{TimeRange, failure, span};
use crate::span_ids::{ParentOrigin, SpanIdentity, SpanIds};
use crate::trace::{Sampling, TraceParent};
use crate::turn::TurnStart;

/// Turns events into spans.
pub(crate) struct SpanTracker {
    ids: SpanIds,
    content: ContentCapture,
    queue: Arc<SpanQueue>,
    open: Mutex<OpenSpans>,
}

#[derive(Default)]
struct OpenSpans {
    /// Bounded by how many calls the engines run at once.
    calls: HashMap<(SessionId, CallId), OpenCall>,
    /// One for each `TurnSpan`.
    turns: Vec<OpenTurn>,
    turns_begun: u64,
}

struct OpenCall {
    identity: SpanIdentity,
    phase: Phase,
    /// When the phase began.
    since: Timestamp,
}

struct OpenTurn {
    id: TurnId,
    start: TurnStart,
    identity: SpanIdentity,
    began: Timestamp,
    /// The latest ending of one of its calls.
    latest: Timestamp,
}

/// Identifies an open turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnId(u64);

/// When a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    At(Timestamp),
    /// When its last call ended.
    WithItsCalls,
}

impl SpanTracker {
    /// Creates a tracker that adds spans to this queue.
    pub(crate) fn new(content: ContentCapture, queue: Arc<SpanQueue>) -> Self {
        Self {
            ids: SpanIds::default(),
            content,
            queue,
            open: Mutex::default(),
        }
    }

    /// Begins the spans of an announced call.
    pub(crate) fn begin_call(&self, call: &ToolCall) {
        let mut open = self.open.lock();
        let identity = match open.parent(call) {
            Some(parent) => self.ids.child_of(parent, ParentOrigin::Local),
            None => self.ids.root(),
        };
        let opened = OpenCall {
            identity,
            phase: Phase::of(call),
            since: call.announced_at(),
        };
        open.calls.insert(key(call), opened);
    }

    /// Ends the span of a phase if the event began another one.
    pub(crate) fn update(&self, call: &ToolCall, event: &Event) {
        let phase = Phase::of(call);
        let at = latest(call);
        let mut open = self.open.lock();
        let Some(opened) = open.calls.get_mut(&key(call)) else {
            return;
        };
        if opened.phase == phase {
            return;
        }
        let ended = self.phase_span(opened, call, event, at);
        (opened.phase, opened.since) = (phase, at);
        drop(open);
        self.send(ended);
    }

    /// Ends the spans of a call.
    pub(crate) fn end_call(&self, call: &ToolCall, event: &Event) {
        let at = latest(call);
        let mut open = self.open.lock();
        let Some(opened) = open.calls.remove(&key(call)) else {
            return;
        };
        if let Some(turn) = open.turn_of(call.session()) {
            turn.latest = turn.latest.max(at);
        }
        drop(open);
        self.send(self.phase_span(&opened, call, event, at));
        self.send(self.call_span(&opened.identity, call, at));
    }

    /// Begins a turn: the calls of its session that are announced from now on are its children.
    pub(crate) fn begin_turn(&self, start: TurnStart, at: Timestamp) -> (TurnId, TraceParent) {
        let identity = match &start.parent {
            Some(parent) => self.ids.child_of(parent, ParentOrigin::Remote),
            None => self.ids.root(),
        };
        let trace = identity.own.clone();
        let mut open = self.open.lock();
        open.turns_begun += 1;
        let id = TurnId(open.turns_begun);
        open.turns.push(OpenTurn {
            id,
            start,
            identity,
            began: at,
            latest: at,
        });
        (id, trace)
    }

    /// Ends a turn.
    pub(crate) fn end_turn(&self, id: TurnId, end: TurnEnd) {
        let mut open = self.open.lock();
        let Some(place) = open.turns.iter().position(|turn| turn.id == id) else {
            return;
        };
        let turn = open.turns.remove(place);
        drop(open);
        let to = match end {
            TurnEnd::At(at) => at.max(turn.began),
            TurnEnd::WithItsCalls => turn.latest,
        };
        self.send(of_turn(&turn, to));
    }

    /// Returns the trace context of an open call.
    pub(crate) fn trace_of(&self, session: &SessionId, call: &CallId) -> Option<TraceParent> {
        let open = self.open.lock();
        let opened = open.calls.get(&(session.clone(), call.clone()))?;
        Some(opened.identity.own.clone())
    }

    fn send(&self, span: Option<Span>) {
        if let Some(span) = span {
            self.queue.push(span);
        }
    }

    /// Returns the span of the phase that this event ended. A phase of no length has no span, except a wait for the
    /// user, whose span holds the answer.
    fn phase_span(
        &self,
        opened: &OpenCall,
        call: &ToolCall,
        event: &Event,
        to: Timestamp,
    ) -> Option<Span> {
        let range = TimeRange {
            from: opened.since,
            to,
        };
        let attributes = match opened.phase {
            Phase::Asking => attributes::of_wait(call, event),
            Phase::Queued | Phase::Running if range.from == range.to => return None,
            Phase::Queued | Phase::Running => Vec::new(),
        };
        sampled(&opened.identity)?;
        let identity = self.ids.child_of(&opened.identity.own, ParentOrigin::Local);
        Some(span(opened.phase.name(), &identity, range, attributes))
    }

    fn call_span(&self, identity: &SpanIdentity, call: &ToolCall, to: Timestamp) -> Option<Span> {
        sampled(identity)?;
        let range = TimeRange {
            from: call.announced_at(),
            to,
        };
        let name = format!("execute_tool {}", call.tool());
        let mut attributes = attributes::of_call(call);
        let ending = call.ending()?;
        let mut failed = (!ending.is_success()).then(|| ending.name().to_owned());
        match &self.content {
            ContentCapture::Off => {}
            ContentCapture::On(_) => {
                attributes.extend(content::attributes(call));
                failed = ending.reason().as_deref().map(content::reason);
            }
        }
        let mut call_span = span(&name, identity, range, attributes);
        call_span.status = failed.map(failure);
        Some(call_span)
    }
}

impl OpenSpans {
    /// Returns the parent span of a call: its parent call, or its turn.
    fn parent(&self, call: &ToolCall) -> Option<&TraceParent> {
        let session = call.session();
        if let Some(parent) = call.parent() {
            let key = (session.clone(), parent.clone());
            if let Some(parent) = self.calls.get(&key) {
                return Some(&parent.identity.own);
            }
        }
        self.turns
            .iter()
            .rev()
            .find(|turn| turn.start.session == *session)
            .map(|turn| &turn.identity.own)
    }

    /// Returns the latest open turn of a session.
    fn turn_of(&mut self, session: &SessionId) -> Option<&mut OpenTurn> {
        let mut turns = self.turns.iter_mut().rev();
        turns.find(|turn| turn.start.session == *session)
    }
}

fn of_turn(turn: &OpenTurn, to: Timestamp) -> Option<Span> {
    sampled(&turn.identity)?;
    let range = TimeRange {
        from: turn.began,
        to,
    };
    let agent = turn.start.agent.as_deref();
    let name = match agent {
        Some(agent) => format!("invoke_agent {agent}"),
        None => "invoke_agent".to_owned(),
    };
    let attributes = attributes::of_turn(&turn.start.session, agent);
    Some(span(&name, &turn.identity, range, attributes))
}

/// Returns `None` for a span of a trace that is not sampled.
fn sampled(identity: &SpanIdentity) -> Option<()> {
    match identity.own.sampling {
        Sampling::Sampled => Some(()),
        Sampling::NotSampled => None,
    }
}

fn key(call: &ToolCall) -> (SessionId, CallId) {
    (call.session().clone(), call.id().clone())
}

/// Returns the time of the latest event of a call: its phases cover the time until then.
fn latest(call: &ToolCall) -> Timestamp {
    let began = call.announced_at();
    began.plus(call.timing(began).total)
}

#[cfg(test)]
mod tests;
