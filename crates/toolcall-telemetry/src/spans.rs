//! What is open, and the spans that come of it when it ends: the same for all readers of one telemetry.
//! Times are those of the journal; no clock is read here, and nothing waits.

use std::collections::HashMap;
use std::sync::Arc;

use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use toolcall::{CallId, Event, SessionId, Timestamp, ToolCall};

use crate::attributes;
use crate::content::{self, Content};
use crate::node::{Node, Origin, SpanIds};
use crate::phase::Phase;
use crate::queue::Queue;
use crate::span::{Extent, failure, span};
use crate::trace::{Sampling, TraceParent};
use crate::turn::TurnStart;

/// Turns events into spans.
pub(crate) struct Spans {
    ids: SpanIds,
    content: Content,
    queue: Arc<Queue>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    /// As many as the engines let in at once.
    calls: HashMap<(SessionId, CallId), OpenCall>,
    /// As many as there are guards.
    turns: Vec<OpenTurn>,
    turns_so_far: u64,
}

struct OpenCall {
    node: Node,
    phase: Phase,
    /// When the phase began.
    since: Timestamp,
}

struct OpenTurn {
    number: TurnNumber,
    start: TurnStart,
    node: Node,
    began: Timestamp,
    /// The latest ending of a call in it.
    latest: Timestamp,
}

/// Which turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TurnNumber(u64);

/// When a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnEnd {
    At(Timestamp),
    /// With the last call that ended in it.
    WithItsCalls,
}

impl Spans {
    /// Spans for this queue.
    pub(crate) fn new(content: Content, queue: Arc<Queue>) -> Self {
        Self {
            ids: SpanIds::default(),
            content,
            queue,
            open: Mutex::default(),
        }
    }

    /// A call was announced.
    pub(crate) fn announced(&self, call: &ToolCall) {
        let mut open = self.open.lock();
        let node = match open.above(call) {
            Some(above) => self.ids.below(above, Origin::Here),
            None => self.ids.root(),
        };
        let opened = OpenCall {
            node,
            phase: Phase::of(call),
            since: call.announced_at(),
        };
        open.calls.insert(key(call), opened);
    }

    /// Something else happened to it.
    pub(crate) fn happened(&self, call: &ToolCall, event: &Event) {
        let phase = Phase::of(call);
        let at = latest(call);
        let mut open = self.open.lock();
        let Some(opened) = open.calls.get_mut(&key(call)) else {
            return;
        };
        if opened.phase == phase {
            return;
        }
        let ended = self.part(opened, call, event, at);
        (opened.phase, opened.since) = (phase, at);
        drop(open);
        self.send(ended);
    }

    /// It ended.
    pub(crate) fn finished(&self, call: &ToolCall, event: &Event) {
        let at = latest(call);
        let mut open = self.open.lock();
        let Some(opened) = open.calls.remove(&key(call)) else {
            return;
        };
        if let Some(turn) = open.turn_of(call.session()) {
            turn.latest = turn.latest.max(at);
        }
        drop(open);
        self.send(self.part(&opened, call, event, at));
        self.send(self.whole(&opened.node, call, at));
    }

    /// A turn began: the calls of its session that are announced from now on belong to it.
    pub(crate) fn begin_turn(&self, start: TurnStart, at: Timestamp) -> (TurnNumber, TraceParent) {
        let node = match &start.parent {
            Some(above) => self.ids.below(above, Origin::Elsewhere),
            None => self.ids.root(),
        };
        let trace = node.own.clone();
        let mut open = self.open.lock();
        open.turns_so_far += 1;
        let number = TurnNumber(open.turns_so_far);
        open.turns.push(OpenTurn {
            number,
            start,
            node,
            began: at,
            latest: at,
        });
        (number, trace)
    }

    /// A turn ended.
    pub(crate) fn end_turn(&self, number: TurnNumber, end: TurnEnd) {
        let mut open = self.open.lock();
        let Some(place) = open.turns.iter().position(|turn| turn.number == number) else {
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

    /// Where an open call stands.
    pub(crate) fn trace_of(&self, session: &SessionId, call: &CallId) -> Option<TraceParent> {
        let open = self.open.lock();
        let opened = open.calls.get(&(session.clone(), call.clone()))?;
        Some(opened.node.own.clone())
    }

    fn send(&self, span: Option<Span>) {
        if let Some(span) = span {
            self.queue.push(span);
        }
    }

    /// The span of the part of a call's life that this event ended. Of no length, only a person's
    /// wait is worth one: it says what was answered.
    fn part(
        &self,
        opened: &OpenCall,
        call: &ToolCall,
        event: &Event,
        to: Timestamp,
    ) -> Option<Span> {
        let extent = Extent {
            from: opened.since,
            to,
        };
        let told = match opened.phase {
            Phase::Asking => attributes::of_wait(call, event),
            Phase::Queued | Phase::Running if extent.from == extent.to => return None,
            Phase::Queued | Phase::Running => Vec::new(),
        };
        is_kept(&opened.node)?;
        let node = self.ids.below(&opened.node.own, Origin::Here);
        Some(span(opened.phase.name(), &node, extent, told))
    }

    fn whole(&self, node: &Node, call: &ToolCall, to: Timestamp) -> Option<Span> {
        is_kept(node)?;
        let extent = Extent {
            from: call.announced_at(),
            to,
        };
        let name = format!("execute_tool {}", call.tool());
        let mut told = attributes::of_call(call);
        let ending = call.ending()?;
        let mut failed = (!ending.is_success()).then(|| ending.name().to_owned());
        match &self.content {
            Content::LeftOut => {}
            Content::Sent(_) => {
                told.extend(content::attributes(call));
                failed = ending.reason().as_deref().map(content::reason);
            }
        }
        let mut whole = span(&name, node, extent, told);
        whole.status = failed.map(failure);
        Some(whole)
    }
}

impl Open {
    /// The span that a call is a child of: the call it runs for, or its turn.
    fn above(&self, call: &ToolCall) -> Option<&TraceParent> {
        let session = call.session();
        if let Some(parent) = call.parent() {
            let key = (session.clone(), parent.clone());
            if let Some(parent) = self.calls.get(&key) {
                return Some(&parent.node.own);
            }
        }
        self.turns
            .iter()
            .rev()
            .find(|turn| turn.start.session == *session)
            .map(|turn| &turn.node.own)
    }

    /// The latest turn of a session.
    fn turn_of(&mut self, session: &SessionId) -> Option<&mut OpenTurn> {
        let mut turns = self.turns.iter_mut().rev();
        turns.find(|turn| turn.start.session == *session)
    }
}

fn of_turn(turn: &OpenTurn, to: Timestamp) -> Option<Span> {
    is_kept(&turn.node)?;
    let extent = Extent {
        from: turn.began,
        to,
    };
    let agent = turn.start.agent.as_deref();
    let name = match agent {
        Some(agent) => format!("invoke_agent {agent}"),
        None => "invoke_agent".to_owned(),
    };
    let told = attributes::of_turn(&turn.start.session, agent);
    Some(span(&name, &turn.node, extent, told))
}

/// What a parent's maker left out is left out below it, too.
fn is_kept(node: &Node) -> Option<()> {
    match node.own.sampling {
        Sampling::Kept => Some(()),
        Sampling::LeftOut => None,
    }
}

fn key(call: &ToolCall) -> (SessionId, CallId) {
    (call.session().clone(), call.id().clone())
}

/// When the latest event happened: until then its life is accounted for, whatever the time is now.
fn latest(call: &ToolCall) -> Timestamp {
    let began = call.announced_at();
    began.plus(call.timing(began).total)
}

#[cfg(test)]
mod tests;
