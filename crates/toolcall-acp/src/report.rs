//! Tells a client of every call: at once what cannot wait, at a pace what grows, and never without bound.
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
use self::state::State;
use crate::codec::{Codec, Report, Reported};
use crate::lane::{Lane, TrySendError};
use crate::trace::TraceContext;

/// Shows a session's calls to a client. Hand it to the engine's journal as a reader.
pub(crate) struct Reporter {
    telling: Arc<Telling>,
}

/// The other hand on a reporter: to wait for it and to look at its figures. Cheap to clone.
#[derive(Clone)]
pub struct Reports {
    telling: Arc<Telling>,
}

/// What was told so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportCounters {
    /// Updates that entered the lane.
    pub sent: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events that were told together with a later one.
    pub coalesced: u64,
    /// Most calls that ever waited to be told.
    pub deepest: usize,
}

/// What the reader, the pump and those who wait share.
struct Telling {
    session: SessionId,
    codec: Arc<dyn Codec>,
    lane: Lane,
    state: Mutex<State>,
    /// Where the pump finds calls that are open.
    journal: OnceLock<Weak<Journal>>,
    /// There is something for the pump to do.
    work: Notify,
    /// Something was told.
    told: Notify,
}

impl Reporter {
    /// Reports the calls of a session on this lane. Nothing is told late until
    /// [`Reports::follow`] says where the calls are.
    pub(crate) fn new(session: SessionId, lane: Lane, codec: Arc<dyn Codec>) -> Self {
        let telling = Telling {
            session,
            codec,
            lane,
            state: Mutex::default(),
            journal: OnceLock::new(),
            work: Notify::new(),
            told: Notify::new(),
        };
        Self {
            telling: Arc::new(telling),
        }
    }

    /// The other hand on it.
    pub(crate) fn reports(&self) -> Reports {
        Reports {
            telling: self.telling.clone(),
        }
    }
}

impl Reader for Reporter {
    fn read(&mut self, call: &ToolCall, event: &Event, ticket: &Ticket) {
        let (fields, urgency) = self.telling.codec.changed(call, event);
        if fields.is_empty() && urgency != Urgency::Now {
            return;
        }
        self.telling.take_in(call, fields, urgency, ticket);
    }
}

/// The last events of a session are told before its pump rests.
impl Drop for Reporter {
    fn drop(&mut self) {
        self.telling.state.lock().is_over = true;
        self.telling.work.notify_one();
    }
}

impl Reports {
    /// Finds open calls in this journal, and tells what waits in a task of its own until the
    /// reporter is dropped or the client is gone. To be called within a tokio runtime, once; before
    /// it, whoever waits for what did not fit into the lane waits for ever.
    pub(crate) fn follow(&self, journal: &Arc<Journal>) {
        if self.telling.journal.set(Arc::downgrade(journal)).is_ok() {
            tokio::spawn(self.telling.clone().pump());
        }
    }

    /// Puts this trace context on what is announced from now on.
    pub(crate) fn trace(&self, trace: TraceContext) {
        self.telling.state.lock().trace = trace;
    }

    /// The trace context that is put on what is announced now.
    pub(crate) fn current_trace(&self) -> TraceContext {
        self.telling.state.lock().trace.clone()
    }

    /// Waits until the client was told all that cannot wait about this call.
    pub async fn reported(&self, call: &CallId) {
        self.telling.until(|state| !state.owes(call)).await;
    }

    /// Waits until the client was told all that cannot wait about every call.
    pub async fn flush(&self) {
        self.telling.until(|state| !state.owes_anything()).await;
    }

    /// What was told so far.
    pub fn counters(&self) -> ReportCounters {
        self.telling.state.lock().counters
    }
}

impl Telling {
    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        loop {
            let mut told = std::pin::pin!(self.told.notified());
            // From here on no notice is missed, also not between the look and the wait.
            told.as_mut().enable();
            if is_so(&self.state.lock()) {
                return;
            }
            told.await;
        }
    }

    /// Tells it right away if nothing stands in the way, else notes that it is to be told.
    fn take_in(&self, call: &ToolCall, fields: Fields, urgency: Urgency, ticket: &Ticket) {
        let mut state = self.state.lock();
        if state.is_gone {
            return;
        }
        let is_clear = state.backlog.is_empty();
        if !state.calls.contains_key(call.id()) {
            let is_now = urgency == Urgency::Now;
            if fields.is_empty() || is_now && is_clear && self.tell(&mut state, call, fields) {
                return;
            }
            state.begin(call.id());
        }
        let Some(entry) = state.calls.get_mut(call.id()) else {
            return;
        };
        let is_joined = !entry.fields.is_empty() && !fields.is_empty();
        entry.add(fields, urgency);
        let may_leave = is_clear && entry.may_leave(Instant::now());
        state.counters.coalesced += u64::from(is_joined);
        if may_leave {
            self.tell_entry(&mut state, call);
        }
        self.note(&mut state, call, ticket);
    }

    /// Sees to it that what is left of a call's report is told later.
    fn note(&self, state: &mut State, call: &ToolCall, ticket: &Ticket) {
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
        if is_urgent || due.is_some_and(|due| state.wakes_pump(due)) {
            self.work.notify_one();
        }
    }

    /// Tells what a call's entry holds, if the lane takes it.
    fn tell_entry(&self, state: &mut State, call: &ToolCall) {
        let Some(entry) = state.calls.get_mut(call.id()) else {
            return;
        };
        let (fields, urgency) = entry.take();
        if !self.tell(state, call, fields)
            && let Some(entry) = state.calls.get_mut(call.id())
        {
            entry.add(fields, urgency);
        }
    }

    /// Tells these parts of a call. Says whether that is settled; if not, the lane is full.
    fn tell(&self, state: &mut State, call: &ToolCall, fields: Fields) -> bool {
        let from = state.calls.get(call.id()).map_or(0, |entry| entry.printed);
        let report = Report {
            session: &self.session,
            call,
            fields,
            trace: &state.trace,
            from,
        };
        let mut reported = Reported {
            updates: 0,
            to: from,
        };
        let written = self
            .lane
            .try_send_all(|lines| reported = self.codec.report(&report, lines));
        match written {
            Ok(bytes) => {
                state.settled(call.id(), fields, bytes, reported);
                self.told.notify_waiters();
                true
            }
            Err(TrySendError::Full) => false,
            Err(TrySendError::Closed) => {
                state.give_up();
                self.told.notify_waiters();
                true
            }
        }
    }
}
