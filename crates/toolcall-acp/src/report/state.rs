//! What a reporter still owes its client.
//! Values only: it sends nothing and waits for nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolcall::{CallId, Ticket, ToolCall};

use super::pace::Pace;
use super::{Fields, ReportCounters, Urgency};
use crate::codec::Reported;
use crate::trace::TraceContext;

/// How long a first report waits for what makes it complete.
const MOMENT: Duration = Duration::from_millis(50);

/// What is owed, by call. A call that owes nothing and shows nothing that grows has no entry.
#[derive(Default)]
pub(super) struct State {
    /// The trace context that is put on what is announced now.
    pub(super) trace: TraceContext,
    pub(super) calls: HashMap<CallId, Entry>,
    /// Calls with something that cannot wait, which did not fit into the lane. Each once.
    pub(super) backlog: VecDeque<CallId>,
    pub(super) counters: ReportCounters,
    /// When the pump looks next, unless it rests.
    pub(super) pump_looks: Option<Instant>,
    /// The client is gone: nothing is owed to anybody any more.
    pub(super) is_gone: bool,
    /// Nothing will be added.
    pub(super) is_over: bool,
}

/// What is owed of one call.
pub(super) struct Entry {
    pub(super) fields: Fields,
    /// How soon the most urgent of them is to be told.
    pub(super) urgency: Urgency,
    pub(super) pace: Pace,
    /// Until when the first report waits for what makes it complete.
    held_until: Option<Instant>,
    /// How far its output was told.
    pub(super) printed: u64,
    /// The call as it will stay, and its place among the unreported.
    pub(super) ended: Option<(Arc<ToolCall>, Ticket)>,
    pub(super) is_queued: bool,
    /// The pump is about to tell something of it that is so urgent: whoever comes now only adds.
    pub(super) in_hand: Option<Urgency>,
}

impl Default for Entry {
    fn default() -> Self {
        Self {
            fields: Fields::NONE,
            urgency: Urgency::WithNext,
            pace: Pace::default(),
            held_until: None,
            printed: 0,
            ended: None,
            is_queued: false,
            in_hand: None,
        }
    }
}

impl Entry {
    pub(super) fn add(&mut self, fields: Fields, urgency: Urgency) {
        self.fields |= fields;
        // Nobody may go on before what is in hand, either.
        self.in_hand = self.in_hand.map(|in_hand| in_hand.max(urgency));
        self.urgency = match self.fields.is_empty() {
            true => Urgency::WithNext,
            false => self.urgency.max(urgency),
        };
        if urgency == Urgency::Soon {
            self.held_until
                .get_or_insert_with(|| Instant::now() + MOMENT);
        }
    }

    /// Takes all it holds, to tell it.
    pub(super) fn take(&mut self) -> (Fields, Urgency) {
        let urgency = std::mem::replace(&mut self.urgency, Urgency::WithNext);
        (std::mem::take(&mut self.fields), urgency)
    }

    /// Whether what it holds may be told now.
    pub(super) fn may_leave(&self, now: Instant) -> bool {
        self.due(now).is_some_and(|due| due <= now)
    }

    /// When what it holds may be told.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        if self.in_hand.is_some() || self.fields.is_empty() {
            return None;
        }
        match self.urgency {
            Urgency::WithNext => None,
            Urgency::Paced => self.pace.due(now),
            Urgency::Soon => self.held_until,
            Urgency::Now => Some(now),
        }
    }

    fn owes(&self) -> bool {
        self.urgency == Urgency::Now || self.in_hand == Some(Urgency::Now)
    }
}

impl State {
    /// Whether something that cannot wait is owed of this call.
    pub(super) fn owes(&self, call: &CallId) -> bool {
        self.calls.get(call).is_some_and(Entry::owes)
    }

    pub(super) fn owes_anything(&self) -> bool {
        self.calls.values().any(Entry::owes)
    }

    /// Whether the pump would look too late for this. It is woken once.
    pub(super) fn wakes_pump(&mut self, due: Instant) -> bool {
        let is_late = self.pump_looks.is_none_or(|looks| looks > due);
        if is_late {
            self.pump_looks = Some(due);
        }
        is_late
    }

    /// A call of which something waits for the first time.
    pub(super) fn begin(&mut self, call: &CallId) {
        self.calls.insert(call.clone(), Entry::default());
        self.counters.deepest = self.counters.deepest.max(self.calls.len());
    }

    /// These parts of a call were told, in so many bytes.
    pub(super) fn settled(
        &mut self,
        call: &CallId,
        fields: Fields,
        bytes: usize,
        reported: Reported,
    ) {
        self.counters.sent += reported.updates;
        self.counters.bytes += bytes as u64;
        if fields.has(Fields::ENDED) {
            self.calls.remove(call);
            return;
        }
        if let Some(entry) = self.calls.get_mut(call) {
            entry.printed = reported.to;
            if !fields.has(Fields::ANNOUNCED | Fields::STARTED) {
                entry.pace.told(bytes, Instant::now());
            }
        }
    }

    /// Nobody is there to be told.
    pub(super) fn give_up(&mut self) {
        self.is_gone = true;
        self.calls.clear();
        self.backlog.clear();
    }
}
