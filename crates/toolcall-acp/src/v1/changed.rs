//! Which fields of a v1 report an event changes.
//! It compares and collects; `update.rs` encodes the fields.

use toolcall::{AskedQuestion, Event, FormReply, Kind, Prepared, Sketch, ToolCall};

use super::content::before_the_end;
use super::view::OutputView;
use super::{OutputFormat, question};
use crate::report::{Fields, Urgency};

/// Returns the fields of a call's report that an event changed, and how soon to send them.
pub(crate) fn changed(call: &ToolCall, event: &Event, printing: OutputFormat) -> (Fields, Urgency) {
    match event {
        // If the input is known, the tool's intent follows at once and goes into the first report.
        Event::Announced(announced) => match announced.input {
            Some(_) => (Fields::ANNOUNCED, Urgency::Soon),
            None => (Fields::ANNOUNCED, Urgency::Now),
        },
        Event::InputGrew(_) => (
            Fields::TITLE | Fields::KIND | Fields::LOCATIONS,
            Urgency::Paced,
        ),
        Event::InputArrived(_) => (Fields::INPUT, Urgency::WithNext),
        Event::Prepared(prepared) => (prepared_anew(call, prepared), Urgency::WithNext),
        // A request follows, and everything must be sent before it.
        Event::Asked(_) | Event::FormAsked(_) => (Fields::NONE, Urgency::Now),
        Event::FormAnswered(answer) => match answer.reply {
            // The reason is shown with the call.
            FormReply::Declined { reason: Some(_) } => {
                (content_beside_terminal(call, printing), Urgency::Paced)
            }
            FormReply::Declined { reason: None }
            | FormReply::Accepted(_)
            | FormReply::Cancelled => (Fields::NONE, Urgency::WithNext),
        },
        Event::Decided(_) | Event::Exited(_) | Event::StatusUnknown(_) => {
            (Fields::NONE, Urgency::WithNext)
        }
        Event::Started => (started(call, printing), Urgency::Now),
        Event::Progressed(_) => (
            Fields::PROGRESS | content_beside_terminal(call, printing),
            Urgency::Paced,
        ),
        Event::Showed(_) => (content_beside_terminal(call, printing), Urgency::Paced),
        Event::Printed(_) => (Fields::OUTPUT, Urgency::Paced),
        Event::Heartbeat(_) => (Fields::HEARTBEAT, Urgency::Paced),
        Event::Held(_) | Event::Resumed => (Fields::HELD, Urgency::Paced),
        Event::Planned(_) => (Fields::PLAN, Urgency::Paced),
        Event::Noted { .. } => (Fields::NOTES, Urgency::Paced),
        Event::Located(_) => (Fields::LOCATIONS, Urgency::Paced),
        Event::Restated(_) => (Fields::DESCRIPTION | Fields::CONTENT, Urgency::Now),
        Event::Finished(_) => (Fields::ENDED, Urgency::Now),
    }
}

/// A call whose terminal the agent fills shows only that terminal, which the first report had.
fn content_beside_terminal(call: &ToolCall, printing: OutputFormat) -> Fields {
    Fields::CONTENT.when(|| !OutputView::live(printing).is_in_agent_terminal(call))
}

fn prepared_anew(call: &ToolCall, prepared: &Prepared) -> Fields {
    let (intent, sketch) = (&prepared.intent, call.sketch());
    let announced = call.announced();
    Fields::TITLE.when(|| intent.title != sketch.title)
        | Fields::KIND.when(|| intent.kind != sketch_kind(call, sketch))
        | Fields::LOCATIONS.when(|| intent.locations != sketch.locations)
        | Fields::NAME.when(|| **call.tool() != *announced.tool)
        | Fields::INPUT.when(|| announced.input.is_none())
        | Fields::CONTENT.when(|| !intent.preview.is_empty())
}

/// Returns the kind that was sent before: of the sketch of a streamed input, or of the announcement.
fn sketch_kind(call: &ToolCall, sketch: &Sketch) -> Kind {
    match call.input_growth() {
        Some(_) => sketch.kind,
        None => call.announced().kind(),
    }
}

/// Returns the fields of a started call. A permission request may show more than the call itself, and
/// clients keep what they received last: so the call's own content is sent again, if it has any.
fn started(call: &ToolCall, printing: OutputFormat) -> Fields {
    let shows_other = |asking: &AskedQuestion| {
        let own = before_the_end(call, OutputView::live(printing));
        !own.is_empty() && own != question::shown(&asking.question)
    };
    let asked = call.questions().last();
    Fields::STARTED | Fields::CONTENT.when(|| asked.is_some_and(shows_other))
}
