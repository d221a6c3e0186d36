//! The pending reports of a session, by call.
//! Values only: it sends nothing and waits for nothing.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolcall::{CallId, Ticket, ToolCall};

use super::pace::Pace;
use super::{Fields, ReportCounters, Urgency};
use crate::codec::SentReport;
use crate::trace::TraceContext;

/// How long the first report of a call waits for the call's intent.
const FIRST_REPORT_DELAY: Duration = Duration::from_millis(50);

/// The state of a reporter. A call without pending changes and without growing content has no entry.
#[derive(Default)]
pub(super) struct ReporterState {
    /// The trace context of the calls that are announced now.
    pub(super) trace: TraceContext,
    pub(super) calls: HashMap<CallId, PendingReport>,
    /// Calls with urgent changes that did not fit into the lane, each once.
    pub(super) backlog: VecDeque<CallId>,
    pub(super) counters: ReportCounters,
    /// When the pump wakes next; `None` while it waits for new changes.
    pub(super) pump_wakes_at: Option<Instant>,
    /// The client is gone, so nothing is sent any more.
    pub(super) is_client_gone: bool,
    /// The reporter was dropped, so no change will be added.
    pub(super) is_finished: bool,
}

/// The changes of one call that are not sent yet.
pub(super) struct PendingReport {
    pub(super) fields: Fields,
    /// How soon the most urgent of them is to be sent.
    pub(super) urgency: Urgency,
    pub(super) pace: Pace,
    /// Until when the first report waits for the call's intent.
    held_until: Option<Instant>,
    /// How much of its output was sent, in bytes.
    pub(super) printed: u64,
    /// The final state of the call, and its ticket among the unreported calls.
    pub(super) ended: Option<(Arc<ToolCall>, Ticket)>,
    pub(super) is_queued: bool,
    /// The urgency of what the pump is about to send. New changes are only added meanwhile.
    pub(super) in_flight: Option<Urgency>,
}

impl Default for PendingReport {
    fn default() -> Self {
        Self {
            fields: Fields::NONE,
            urgency: Urgency::WithNext,
            pace: Pace::default(),
            held_until: None,
            printed: 0,
            ended: None,
            is_queued: false,
            in_flight: None,
        }
    }
}

impl PendingReport {
    pub(super) fn add(&mut self, fields: Fields, urgency: Urgency) {
        self.fields |= fields;
        // Those who wait for an urgent change also wait for what is in flight.
        self.in_flight = self.in_flight.map(|in_flight| in_flight.max(urgency));
        self.urgency = if self.fields.is_empty() {
            Urgency::WithNext
        } else {
            self.urgency.max(urgency)
        };
        if urgency == Urgency::Soon {
            self.held_until
                .get_or_insert_with(|| Instant::now() + FIRST_REPORT_DELAY);
        }
    }

    /// Takes all pending fields, to send them.
    pub(super) fn take(&mut self) -> (Fields, Urgency) {
        let urgency = std::mem::replace(&mut self.urgency, Urgency::WithNext);
        (std::mem::take(&mut self.fields), urgency)
    }

    /// Whether it may be sent now.
    pub(super) fn may_leave(&self, now: Instant) -> bool {
        self.due(now).is_some_and(|due| due <= now)
    }

    /// Returns when it may be sent.
    pub(super) fn due(&self, now: Instant) -> Option<Instant> {
        if self.in_flight.is_some() || self.fields.is_empty() {
            return None;
        }
        match self.urgency {
            Urgency::WithNext => None,
            Urgency::Paced => self.pace.due(now),
            Urgency::Soon => self.held_until,
            Urgency::Now => Some(now),
        }
    }

    fn has_unsent(&self) -> bool {
        self.urgency == Urgency::Now || self.in_flight == Some(Urgency::Now)
    }
}

impl ReporterState {
    /// Whether an urgent change of this call is not sent yet.
    pub(super) fn has_unsent(&self, call: &CallId) -> bool {
        self.calls.get(call).is_some_and(PendingReport::has_unsent)
    }

    pub(super) fn has_any_unsent(&self) -> bool {
        self.calls.values().any(PendingReport::has_unsent)
    }

    /// Whether the pump would wake too late for this. Returns true once for each earlier time.
    pub(super) fn pump_is_late_for(&mut self, due: Instant) -> bool {
        let is_late = self.pump_wakes_at.is_none_or(|at| at > due);
        if is_late {
            self.pump_wakes_at = Some(due);
        }
        is_late
    }

    /// Adds an entry for a call.
    pub(super) fn begin(&mut self, call: &CallId) {
        self.calls.insert(call.clone(), PendingReport::default());
        self.counters.max_waiting = self.counters.max_waiting.max(self.calls.len());
    }

    /// Records that these fields of a call were sent, in this many bytes.
    pub(super) fn mark_sent(
        &mut self,
        call: &CallId,
        fields: Fields,
        bytes: usize,
        sent: SentReport,
    ) {
        self.counters.sent += sent.updates;
        self.counters.bytes += bytes as u64;
        if fields.has(Fields::ENDED) {
            self.calls.remove(call);
            return;
        }
        if let Some(entry) = self.calls.get_mut(call) {
            entry.printed = sent.output_end;
            if !fields.has(Fields::ANNOUNCED | Fields::STARTED) {
                entry.pace.record(bytes, Instant::now());
            }
        }
    }

    /// Drops everything, because the client is gone.
    pub(super) fn abandon(&mut self) {
        self.is_client_gone = true;
        self.calls.clear();
        self.backlog.clear();
    }
}
