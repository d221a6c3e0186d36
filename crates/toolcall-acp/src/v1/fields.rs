//! Which parts of a report an event changes, and how soon the client should know.
//! It compares and collects; what the parts look like on the wire is written elsewhere.

use std::ops::{BitOr, BitOrAssign};

use toolcall::{Asking, Event, FormReply, Kind, Prepared, Sketch, ToolCall};

use super::content::before_the_end;
use super::view::View;
use super::{Printing, subject};

/// A set of parts of a report. Reports that were not sent yet add up: the values are read off the
/// call when it is sent, so that only the latest of each goes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(u16);

impl Fields {
    pub(crate) const NONE: Fields = Fields(0);
    /// The first report, with all that is known.
    pub(crate) const ANNOUNCED: Fields = Fields(1);
    pub(crate) const TITLE: Fields = Fields(1 << 1);
    pub(crate) const NAME: Fields = Fields(1 << 2);
    pub(crate) const KIND: Fields = Fields(1 << 3);
    pub(crate) const LOCATIONS: Fields = Fields(1 << 4);
    pub(crate) const INPUT: Fields = Fields(1 << 5);
    pub(crate) const CONTENT: Fields = Fields(1 << 6);
    pub(crate) const OUTPUT: Fields = Fields(1 << 7);
    pub(crate) const PROGRESS: Fields = Fields(1 << 8);
    pub(crate) const BEAT: Fields = Fields(1 << 9);
    pub(crate) const HELD: Fields = Fields(1 << 10);
    pub(crate) const NOTES: Fields = Fields(1 << 11);
    pub(crate) const STARTED: Fields = Fields(1 << 12);
    pub(crate) const ENDED: Fields = Fields(1 << 13);
    /// The session's plan: a report of its own.
    pub(crate) const PLAN: Fields = Fields(1 << 14);

    /// What a call is described by.
    pub(crate) const DESCRIPTION: Fields = Fields(
        Fields::TITLE.0 | Fields::NAME.0 | Fields::KIND.0 | Fields::LOCATIONS.0 | Fields::INPUT.0,
    );

    /// What the last report tells together with the end, if it was not told before.
    pub(crate) const LAST: Fields =
        Fields(Fields::CONTENT.0 | Fields::OUTPUT.0 | Fields::PROGRESS.0);

    /// What changes again and again while a call runs.
    pub(crate) const GROWTH: Fields = Fields(
        Fields::CONTENT.0
            | Fields::OUTPUT.0
            | Fields::PROGRESS.0
            | Fields::BEAT.0
            | Fields::HELD.0
            | Fields::NOTES.0,
    );

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether any of these is in it.
    pub(crate) fn has(self, other: Fields) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn only(self, other: Fields) -> Fields {
        Fields(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Fields) -> Fields {
        Fields(self.0 & !other.0)
    }

    fn when(self, condition: impl FnOnce() -> bool) -> Fields {
        match condition() {
            true => self,
            false => Fields::NONE,
        }
    }
}

impl BitOr for Fields {
    type Output = Fields;

    fn bitor(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
    }
}

impl BitOrAssign for Fields {
    fn bitor_assign(&mut self, other: Fields) {
        *self = *self | other;
    }
}

/// How soon a change should reach the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Urgency {
    /// Together with the next report that cannot wait: one is about to follow.
    WithNext,
    /// At the pace of growing content; the latest wins.
    Paced,
    /// In a moment: what follows at once makes it complete.
    Soon,
    /// At once.
    Now,
}

/// What an event changed in what the client should know of a call, and how soon.
pub(crate) fn changed(call: &ToolCall, event: &Event, printing: Printing) -> (Fields, Urgency) {
    match event {
        // With its input known, the tool is about to say what it will do: the first report has it.
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
        // A request follows: before it everything must be told.
        Event::Asked(_) | Event::FormAsked(_) => (Fields::NONE, Urgency::Now),
        Event::FormAnswered(answer) => match answer.reply {
            // Why nobody could answer is shown with the call.
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
        Event::Beat(_) => (Fields::BEAT, Urgency::Paced),
        Event::Held(_) | Event::Resumed => (Fields::HELD, Urgency::Paced),
        Event::Planned(_) => (Fields::PLAN, Urgency::Paced),
        Event::Noted { .. } => (Fields::NOTES, Urgency::Paced),
        Event::Located(_) => (Fields::LOCATIONS, Urgency::Paced),
        Event::Restated(_) => (Fields::DESCRIPTION | Fields::CONTENT, Urgency::Now),
        Event::Finished(_) => (Fields::ENDED, Urgency::Now),
    }
}

/// A call with a terminal of ours shows nothing else, and that one was told first.
fn content_beside_terminal(call: &ToolCall, printing: Printing) -> Fields {
    Fields::CONTENT.when(|| !View::live(printing).is_by_ours(call))
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

/// The kind that was told before: of the sketch that the input grew to, else of the announcement.
fn sketch_kind(call: &ToolCall, sketch: &Sketch) -> Kind {
    match call.input_growth() {
        Some(_) => sketch.kind,
        None => call.announced().kind(),
    }
}

/// A request for permission may show more than the call itself, and clients keep what they were
/// shown last: once the call runs it shows its own content again, if it has any.
fn started(call: &ToolCall, printing: Printing) -> Fields {
    let shows_other = |asking: &Asking| {
        let own = before_the_end(call, View::live(printing));
        !own.is_empty() && own != subject::shown(&asking.question)
    };
    let asked = call.questions().last();
    Fields::STARTED | Fields::CONTENT.when(|| asked.is_some_and(shows_other))
}
