//! Events of a call as updates of v1.
//! Pure: the same call and event give the same updates; when they are sent is the reporter's business.

use toolcall::{Event, ToolCall};

use super::changed::changed;
use super::output::{Chunk, OutputStage, chunk};
use super::update::Update;
use super::view::{OutputView, TerminalState};
use super::{Dialect, OutputFormat};
use crate::report::Fields;
use crate::trace::TraceContext;

/// A [`Dialect`], borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DialectRef<'a> {
    pub(crate) printing: OutputFormat,
    pub(crate) trace: &'a TraceContext,
}

impl<'a> From<&'a Dialect> for DialectRef<'a> {
    fn from(dialect: &'a Dialect) -> Self {
        Self {
            printing: dialect.printing,
            trace: &dialect.trace,
        }
    }
}

/// The updates that tell a client of one event: none where there is nothing new to tell.
///
/// `call` is the call after the event. What an event only prepares (an intent before its question)
/// is told here at once; a reporter tells it together with what follows.
pub fn encode<'a>(
    call: &'a ToolCall,
    event: &Event,
    dialect: &'a Dialect,
) -> impl Iterator<Item = Update<'a>> {
    let (fields, _) = changed(call, event, dialect.printing);
    let from = if let Event::Printed(printed) = event {
        printed.from
    } else {
        call.output().total()
    };
    updates(call, fields, dialect.into(), TerminalState::Live, from)
}

/// The updates that tell everything about a call at once, as a replay does. What it printed into a
/// terminal of the client, which is gone, is told as the client takes output otherwise.
pub fn snapshot<'a>(call: &'a ToolCall, dialect: &'a Dialect) -> impl Iterator<Item = Update<'a>> {
    updates(
        call,
        all_of(call, dialect),
        dialect.into(),
        TerminalState::Gone,
        0,
    )
}

/// The first report has what was printed already, unless a terminal takes it.
fn all_of(call: &ToolCall, dialect: &Dialect) -> Fields {
    let has_chunks = dialect.printing.uses_agent_terminal(call) && !call.output().is_empty();
    let when = |field: Fields, condition| field.when(|| condition);
    Fields::ANNOUNCED
        | when(Fields::STARTED, call.has_started())
        | when(Fields::PROGRESS, call.progress().is_some())
        | when(Fields::HELD, call.held_because().is_some())
        | when(Fields::OUTPUT, has_chunks)
        | when(Fields::PLAN, call.plan().is_some())
        | when(Fields::ENDED, call.ending().is_some())
}

/// The updates that tell these parts, in order. What was printed is told from `from` on.
pub(crate) fn updates<'a>(
    call: &'a ToolCall,
    fields: Fields,
    dialect: DialectRef<'a>,
    terminals: TerminalState,
    from: u64,
) -> impl Iterator<Item = Update<'a>> {
    let view = OutputView {
        printing: dialect.printing,
        terminals,
    };
    steps(fields).filter_map(move |step| {
        let chunk = chunk_of(call, step, view, from);
        let says_something =
            step != Fields::OUTPUT || chunk.is_some() || !view.is_shown_in_terminal(call);
        says_something.then_some(Update {
            call,
            dialect,
            fields: step,
            terminals,
            chunk,
        })
    })
}

/// What was printed since, for a call that has a terminal of ours.
fn chunk_of(call: &ToolCall, step: Fields, view: OutputView, from: u64) -> Option<Chunk> {
    if !step.has(Fields::OUTPUT | Fields::ENDED) || !view.is_in_agent_terminal(call) {
        return None;
    }
    let stage = if step.has(Fields::ENDED) {
        OutputStage::Ended
    } else {
        OutputStage::Running
    };
    chunk(call.output(), from, stage)
}

/// SessionSelector parts go into which update. What ran is told as pending, in progress and ended, one after
/// the other, also where all of it is told at once.
fn steps(fields: Fields) -> impl Iterator<Item = Fields> {
    let (first, ends) = (fields.only(Fields::ANNOUNCED), fields.only(Fields::ENDED));
    let mut rest = fields.without(Fields::ANNOUNCED | Fields::ENDED | Fields::PLAN);
    if !first.is_empty() {
        rest = rest.without(Fields::DESCRIPTION | Fields::CONTENT | Fields::NOTES);
    }
    let (steady, growing) = (rest.without(Fields::GROWTH), rest.only(Fields::LAST));
    let (middle, last) = if ends.is_empty() {
        (rest, Fields::NONE)
    } else if rest.has(Fields::STARTED) {
        (steady, growing | ends)
    } else {
        (Fields::NONE, steady | growing | ends)
    };
    let plan = fields.only(Fields::PLAN);
    let steps = [first, middle, plan, last];
    steps.into_iter().filter(|step| !step.is_empty())
}
