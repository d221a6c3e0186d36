//! Reports every call to the client: urgent changes at once, growing content at a limited pace and size.
//! It reads calls; it never writes to one, never blocks the journal and never drops an ending.

mod fields;
mod pace;
mod pump;
mod state;

use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use tokio::sync::Notify;
use tokio::time::Instant;
use toolcall::{CallId, Event, Journal, Reader, SessionId, Ticket, ToolCall};

pub(crate) use self::fields::{Fields, Urgency};
use self::state::ReporterState;
use crate::codec::{Codec, Report, SentReport};
use crate::lane::{Lane, TrySendError};
use crate::trace::TraceContext;

/// Reports a session's calls to a client, as a reader of the engine's journal.
pub(crate) struct Reporter {
    inner: Arc<ReporterInner>,
}

/// A handle to a session's reporter, to wait for reports and to read its counters. Cheap to clone.
#[derive(Clone)]
pub struct Reports {
    inner: Arc<ReporterInner>,
}

/// How much a reporter sent so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportCounters {
    /// Updates that entered the lane.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events that were sent together with a later one.
    pub coalesced: u64,
    /// The most calls that ever waited to be reported.
    pub max_waiting: usize,
}

/// The state that the journal reader, the pump and the handles share.
struct ReporterInner {
    session: SessionId,
    codec: Arc<dyn Codec>,
    lane: Lane,
    state: Mutex<ReporterState>,
    /// The journal in which the pump finds open calls.
    journal: OnceLock<Weak<Journal>>,
    /// Wakes the pump.
    work: Notify,
    /// Wakes those who wait for a report.
    sent_notify: Notify,
}

impl Reporter {
    /// Creates a reporter that sends on this lane. Reports that had to wait are sent only after
    /// [`Reports::follow`].
    pub(crate) fn new(session: SessionId, lane: Lane, codec: Arc<dyn Codec>) -> Self {
        let inner = ReporterInner {
            session,
            codec,
            lane,
            state: Mutex::default(),
            journal: OnceLock::new(),
            work: Notify::new(),
            sent_notify: Notify::new(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Returns a handle to it.
    pub(crate) fn reports(&self) -> Reports {
        Reports {
            inner: self.inner.clone(),
        }
    }
}

impl Reader for Reporter {
    fn read(&mut self, call: &ToolCall, event: &Event, ticket: &Ticket) {
        let (fields, urgency) = self.inner.codec.changed(call, event);
        if fields.is_empty() && urgency != Urgency::Now {
            return;
        }
        self.inner.enqueue(call, fields, urgency, ticket);
    }
}

/// The pump sends the last reports of a session before it stops.
impl Drop for Reporter {
    fn drop(&mut self) {
        self.inner.state.lock().is_finished = true;
        self.inner.work.notify_one();
    }
}

impl Reports {
    /// Starts the pump: a task that sends waiting reports until the reporter is dropped or the client
    /// is gone. Call it once, within a tokio runtime. Until then, reports that did not fit into the lane
    /// are never sent.
    pub(crate) fn follow(&self, journal: &Arc<Journal>) {
        if self.inner.journal.set(Arc::downgrade(journal)).is_ok() {
            tokio::spawn(self.inner.clone().pump());
        }
    }

    /// Sets the trace context of the calls that are announced from now on.
    pub(crate) fn trace(&self, trace: TraceContext) {
        self.inner.state.lock().trace = trace;
    }

    /// Returns the trace context of the calls that are announced now.
    pub(crate) fn current_trace(&self) -> TraceContext {
        self.inner.state.lock().trace.clone()
    }

    /// Waits until every urgent change of this call was sent.
    pub async fn reported(&self, call: &CallId) {
        self.inner.until(|state| !state.has_unsent(call)).await;
    }

    /// Waits until every urgent change of every call was sent.
    pub async fn flush(&self) {
        self.inner.until(|state| !state.has_any_unsent()).await;
    }

    /// Returns how much was sent so far.
    pub fn counters(&self) -> ReportCounters {
        self.inner.state.lock().counters
    }
}

impl ReporterInner {
    async fn until(&self, is_so: impl Fn(&ReporterState) -> bool) {
        loop {
            let mut sent = std::pin::pin!(self.sent_notify.notified());
            // Registered before the check, so that no wake-up between check and wait is missed.
            sent.as_mut().enable();
            if is_so(&self.state.lock()) {
                return;
            }
            sent.await;
        }
    }

    /// Sends the change at once if possible; otherwise keeps it for the pump.
    fn enqueue(&self, call: &ToolCall, fields: Fields, urgency: Urgency, ticket: &Ticket) {
        let mut state = self.state.lock();
        if state.is_client_gone {
            return;
        }
        let is_backlog_empty = state.backlog.is_empty();
        if !state.calls.contains_key(call.id()) {
            let is_now = urgency == Urgency::Now;
            if fields.is_empty()
                || is_now && is_backlog_empty && self.try_report(&mut state, call, fields)
            {
                return;
            }
            state.begin(call.id());
        }
        let Some(entry) = state.calls.get_mut(call.id()) else {
            return;
        };
        let is_joined = !entry.fields.is_empty() && !fields.is_empty();
        entry.add(fields, urgency);
        let may_leave = is_backlog_empty && entry.may_leave(Instant::now());
        state.counters.coalesced += u64::from(is_joined);
        if may_leave {
            self.report_entry(&mut state, call);
        }
        self.schedule(&mut state, call, ticket);
    }

    /// Wakes the pump for what is left of a call's report.
    fn schedule(&self, state: &mut ReporterState, call: &ToolCall, ticket: &Ticket) {
        let Some(entry) = state.calls.get_mut(call.id()) else {
            return;
        };
        if entry.fields.is_empty() {
            return;
        }
        if entry.fields.has(Fields::ENDED) && entry.ended.is_none() {
            entry.ended = Some((Arc::new(call.clone()), ticket.clone()));
        }
        let is_urgent = entry.urgency == Urgency::Now;
        if is_urgent && !std::mem::replace(&mut entry.is_queued, true) {
            state.backlog.push_back(call.id().clone());
        }
        let due = entry.due(Instant::now());
        if is_urgent || due.is_some_and(|due| state.pump_is_late_for(due)) {
            self.work.notify_one();
        }
    }

    /// Sends the pending report of a call, if the lane has room.
    fn report_entry(&self, state: &mut ReporterState, call: &ToolCall) {
        let Some(entry) = state.calls.get_mut(call.id()) else {
            return;
        };
        let (fields, urgency) = entry.take();
        if !self.try_report(state, call, fields)
            && let Some(entry) = state.calls.get_mut(call.id())
        {
            entry.add(fields, urgency);
        }
    }

    /// Reports these fields of a call. Returns false if the lane is full.
    fn try_report(&self, state: &mut ReporterState, call: &ToolCall, fields: Fields) -> bool {
        let output_start = state.calls.get(call.id()).map_or(0, |entry| entry.printed);
        let report = Report {
            session: &self.session,
            call,
            fields,
            trace: &state.trace,
            output_start,
        };
        let mut sent = SentReport {
            updates: 0,
            output_end: output_start,
        };
        let written = self
            .lane
            .try_send_all(|lines| sent = self.codec.report(&report, lines));
        match written {
            Ok(bytes) => {
                state.mark_sent(call.id(), fields, bytes, sent);
                self.sent_notify.notify_waiters();
                true
            }
            Err(TrySendError::Full) => false,
            Err(TrySendError::Closed) => {
                state.abandon();
                self.sent_notify.notify_waiters();
                true
            }
        }
    }
}
