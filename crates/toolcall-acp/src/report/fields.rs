//! The fields of a report, and how soon they are to be sent.
//! Values only: the codec says which event changes which field.

use std::ops::{BitOr, BitOrAssign};

/// A set of fields of a report. Reports that are not sent yet are merged: the values are read from the
/// call when the report is sent, so that only the latest value of each field is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(u16);

impl Fields {
    pub(crate) const NONE: Fields = Fields(0);
    /// The first report, with all fields that are known.
    pub(crate) const ANNOUNCED: Fields = Fields(1);
    pub(crate) const TITLE: Fields = Fields(1 << 1);
    pub(crate) const NAME: Fields = Fields(1 << 2);
    pub(crate) const KIND: Fields = Fields(1 << 3);
    pub(crate) const LOCATIONS: Fields = Fields(1 << 4);
    pub(crate) const INPUT: Fields = Fields(1 << 5);
    pub(crate) const CONTENT: Fields = Fields(1 << 6);
    pub(crate) const OUTPUT: Fields = Fields(1 << 7);
    pub(crate) const PROGRESS: Fields = Fields(1 << 8);
    pub(crate) const HEARTBEAT: Fields = Fields(1 << 9);
    pub(crate) const HELD: Fields = Fields(1 << 10);
    pub(crate) const NOTES: Fields = Fields(1 << 11);
    pub(crate) const STARTED: Fields = Fields(1 << 12);
    pub(crate) const ENDED: Fields = Fields(1 << 13);
    /// The session's plan, which is a separate update.
    pub(crate) const PLAN: Fields = Fields(1 << 14);

    /// The fields that describe a call.
    pub(crate) const DESCRIPTION: Fields = Fields(
        Fields::TITLE.0 | Fields::NAME.0 | Fields::KIND.0 | Fields::LOCATIONS.0 | Fields::INPUT.0,
    );

    /// The fields that are sent together with the ending, if they were not sent before.
    pub(crate) const LAST: Fields =
        Fields(Fields::CONTENT.0 | Fields::OUTPUT.0 | Fields::PROGRESS.0);

    /// The fields that change again and again while a call runs.
    pub(crate) const GROWTH: Fields = Fields(
        Fields::CONTENT.0
            | Fields::OUTPUT.0
            | Fields::PROGRESS.0
            | Fields::HEARTBEAT.0
            | Fields::HELD.0
            | Fields::NOTES.0,
    );

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it contains any of these fields.
    pub(crate) fn has(self, other: Fields) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn only(self, other: Fields) -> Fields {
        Fields(self.0 & other.0)
    }

    pub(crate) fn without(self, other: Fields) -> Fields {
        Fields(self.0 & !other.0)
    }

    pub(crate) fn when(self, condition: impl FnOnce() -> bool) -> Fields {
        if condition() { self } else { Fields::NONE }
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
    /// Together with the next urgent report, which is about to follow.
    WithNext,
    /// At the pace of growing content; only the latest value is sent.
    Paced,
    /// After a short delay, because the event that completes it follows at once.
    Soon,
    /// At once.
    Now,
}
