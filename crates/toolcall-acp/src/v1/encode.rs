//! Encodes events of a call as updates of v1.
//! Pure: the same call and event give the same updates; the reporter decides when they are sent.

use toolcall::{Event, ToolCall};

use super::changed::changed;
use super::output::{Chunk, OutputStage, chunk};
use super::update::Update;
use super::view::{OutputView, TerminalState};
use super::{EncodeOptions, OutputFormat};
use crate::report::Fields;
use crate::trace::TraceContext;

/// A [`EncodeOptions`], borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EncodeOptionsRef<'a> {
    pub(crate) printing: OutputFormat,
    pub(crate) trace: &'a TraceContext,
}

impl<'a> From<&'a EncodeOptions> for EncodeOptionsRef<'a> {
    fn from(dialect: &'a EncodeOptions) -> Self {
        Self {
            printing: dialect.printing,
            trace: &dialect.trace,
        }
    }
}

/// Encodes one event as updates. There are none if the client learns nothing new.
///
/// `call` is the call after the event. Every change is encoded here at once; a session merges changes
/// that follow each other, such as an intent and its question.
///
/// ```
/// use std::sync::Arc;
///
/// use serde_json::json;
/// use toolcall::{Announced, CallId, Event, Kind, Outline, Output, SessionId, Timestamp, ToolCall};
/// use toolcall_acp::v1::{EncodeOptions, encode};
///
/// let announced = Arc::new(Announced {
///     tool: "read_file".into(),
///     model_id: None,
///     parent: None,
///     input: None,
///     outline: Outline::inferred(Kind::Read),
/// });
/// let (id, session) = (CallId::new("c1"), SessionId::new("s1"));
/// let output = Arc::new(Output::default());
/// let call = ToolCall::announce(id, session, announced.clone(), output, Timestamp::default());
/// let dialect = EncodeOptions::default();
/// let update = encode(&call, &Event::Announced(announced), &dialect).next().expect("an update");
/// assert_eq!(update.to_value()["sessionUpdate"], json!("tool_call"));
/// ```
pub fn encode<'a>(
    call: &'a ToolCall,
    event: &Event,
    dialect: &'a EncodeOptions,
) -> impl Iterator<Item = Update<'a>> {
    let (fields, _) = changed(call, event, dialect.printing);
    let from = if let Event::Printed(printed) = event {
        printed.from
    } else {
        call.output().total()
    };
    updates(call, fields, dialect.into(), TerminalState::Live, from)
}

/// Encodes a whole call at once, for a replay. Output in a terminal of the client, which is gone, is
/// encoded like other output.
pub fn snapshot<'a>(
    call: &'a ToolCall,
    dialect: &'a EncodeOptions,
) -> impl Iterator<Item = Update<'a>> {
    updates(
        call,
        all_of(call, dialect),
        dialect.into(),
        TerminalState::Gone,
        0,
    )
}

/// Returns all fields of a call. The first report includes the output, unless a terminal shows it.
fn all_of(call: &ToolCall, dialect: &EncodeOptions) -> Fields {
    let has_chunks = dialect.printing.uses_agent_terminal(call) && !call.output().is_empty();
    let when = |field: Fields, condition| field.when(|| condition);
    Fields::ANNOUNCED
        | when(Fields::STARTED, call.has_started())
        | when(Fields::PROGRESS, call.progress().is_some())
        | when(Fields::HELD, call.hold_reason().is_some())
        | when(Fields::OUTPUT, has_chunks)
        | when(Fields::PLAN, call.plan().is_some())
        | when(Fields::ENDED, call.ending().is_some())
}

/// Encodes these fields as updates, in order. Output is encoded from byte `from` on.
pub(crate) fn updates<'a>(
    call: &'a ToolCall,
    fields: Fields,
    dialect: EncodeOptionsRef<'a>,
    terminals: TerminalState,
    from: u64,
) -> impl Iterator<Item = Update<'a>> {
    let view = OutputView {
        printing: dialect.printing,
        terminals,
    };
    steps(fields).filter_map(move |step| {
        let chunk = chunk_of(call, step, view, from);
        let has_content =
            step != Fields::OUTPUT || chunk.is_some() || !view.is_shown_in_terminal(call);
        has_content.then_some(Update {
            call,
            dialect,
            fields: step,
            terminals,
            chunk,
        })
    })
}

/// Returns the new output of a call whose terminal the agent fills.
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

/// Splits the fields into updates. A call that ran is reported as pending, in progress and ended, one
/// after the other, even if all of it is reported at once.
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
