//! The single writer of events: applies each to its call, stores it and sends it to the readers.
//! It knows no tools, no policy and no wire.

use std::collections::hash_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, broadcast};

use crate::call::ToolCall;
use crate::event::{Announced, Ending, Event, Finish, ToolResult};
use crate::ids::{CallId, SessionId};
use crate::irregularity::Irregularity;
use crate::map::FastMap;
use crate::output::{Output, OutputBudget, Spill};
use crate::store::{NoStore, Receipt, Record, Store};
use crate::timestamp::{Clock, SystemClock, Timestamp};

/// Receives every event, with the call as it is after it. It must not block, because it is called
/// while the journal writes. A slow reader keeps a bounded queue or uses [`Journal::follow`]. A
/// closure is a reader.
pub trait Reader: Send + 'static {
    /// Handles an event of this call. A reader that must still report the call's ending keeps a
    /// clone of the ticket until it has done so: meanwhile the engine counts the call against its
    /// limit.
    fn read(&mut self, call: &ToolCall, event: &Event, ticket: &Ticket);
}

impl<F: FnMut(&ToolCall, &Event) + Send + 'static> Reader for F {
    fn read(&mut self, call: &ToolCall, event: &Event, _ticket: &Ticket) {
        self(call, event);
    }
}

/// A permit of a call whose ending is not reported yet. Dropping the last clone releases it.
#[derive(Clone, Debug, Default)]
pub struct Ticket(
    #[expect(dead_code, reason = "held, never read")] Option<Arc<OwnedSemaphorePermit>>,
);

impl Ticket {
    pub(crate) fn new(permit: OwnedSemaphorePermit) -> Self {
        Self(Some(Arc::new(permit)))
    }
}

/// An event as a follower receives it.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    /// The call after the event.
    pub call: Arc<ToolCall>,
    /// The event.
    pub event: Event,
}

/// Whether printed bytes fit into the call's output.
pub(crate) enum OutputFit {
    /// They fit.
    Fits,
    /// From now on the host must store the whole; these are the bytes printed before.
    FirstOverflow(Vec<u8>),
    /// The output was full before.
    Overflow,
}

/// How many events a follower may fall behind at most.
const MOST_BEHIND: usize = 4096;

/// Writes the events of one session's calls.
pub struct Journal {
    session: SessionId,
    /// An empty output with the budget of this session.
    output: Arc<Output>,
    clock: Box<dyn Clock>,
    store: Box<dyn Store>,
    open: Mutex<JournalState>,
}

#[derive(Default)]
struct JournalState {
    calls: FastMap<CallId, OpenCall>,
    subscribers: Subscribers,
}

/// An open call. It is shared with followers and copied only if one of them still holds an earlier
/// state.
struct OpenCall {
    call: Arc<ToolCall>,
    ticket: Ticket,
}

#[derive(Default)]
struct Subscribers {
    readers: Vec<Box<dyn Reader>>,
    followers: Option<broadcast::Sender<JournalEntry>>,
}

impl Journal {
    /// Creates a journal that stores nothing and uses the system clock.
    pub fn new(session: SessionId) -> Self {
        Self {
            session,
            output: Arc::default(),
            clock: Box::new(SystemClock::default()),
            store: Box::new(NoStore),
            open: Mutex::default(),
        }
    }

    /// Stores records here.
    pub fn with_store(mut self, store: impl Store) -> Self {
        self.store = Box::new(store);
        self
    }

    /// Takes the time from this clock.
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// Sets how much output is held for each call.
    pub fn with_budget(mut self, budget: OutputBudget) -> Self {
        self.output = Arc::new(Output::new(budget));
        self
    }

    /// Sends every event to this reader.
    pub fn with_reader(self, reader: impl Reader) -> Self {
        self.open.lock().subscribers.readers.push(Box::new(reader));
        self
    }

    /// Returns the session's id.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns how much output is held for each call.
    pub fn budget(&self) -> OutputBudget {
        self.output.budget()
    }

    /// Returns the current time of the journal's clock.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Subscribes to all events from now on, at the receiver's own pace. A receiver that falls more
    /// than `capacity` events behind misses the oldest and gets an error with their number; the
    /// journal never waits for it. The first follower sets the capacity.
    pub fn follow(&self, capacity: usize) -> broadcast::Receiver<JournalEntry> {
        let mut open = self.open.lock();
        let sender = open
            .subscribers
            .followers
            .get_or_insert_with(|| broadcast::channel(capacity.clamp(1, MOST_BEHIND)).0);
        sender.subscribe()
    }

    /// Returns an open call as it is now.
    pub fn call(&self, id: &CallId) -> Option<Arc<ToolCall>> {
        self.open.lock().calls.get(id).map(|open| open.call.clone())
    }

    /// Returns all open calls.
    pub fn open_calls(&self) -> Vec<Arc<ToolCall>> {
        let open = self.open.lock();
        open.calls.values().map(|open| open.call.clone()).collect()
    }

    /// Writes the announcement of a call, which opens it.
    pub fn announce(
        &self,
        id: &CallId,
        announced: Announced,
        ticket: Ticket,
    ) -> Result<(), Irregularity> {
        let announced = Arc::new(announced);
        let event = Event::Announced(announced.clone());
        let mut open = self.open.lock();
        let JournalState { calls, subscribers } = &mut *open;
        let Entry::Vacant(vacant) = calls.entry(id.clone()) else {
            return Err(Irregularity::AnnouncedTwice);
        };
        let at = self.clock.now();
        let call = Arc::new(ToolCall::announce(
            id.clone(),
            self.session.clone(),
            announced,
            self.output.clone(),
            at,
        ));
        self.store(id, at, &event);
        subscribers.notify(&call, &event, &ticket);
        vacant.insert(OpenCall { call, ticket });
        Ok(())
    }

    /// Writes one event of an open call. The receipt resolves when it is stored.
    pub fn write(&self, id: &CallId, event: Event) -> Result<Receipt, Irregularity> {
        if let Event::Finished(finish) = event {
            return self.end(id, |_| finish).map(|(_, receipt)| receipt);
        }
        self.write_open(&mut self.open.lock(), id, self.clock.now(), &event)
    }

    /// Writes two events of an open call at once. Returns the receipt of the second.
    pub(crate) fn write_both(
        &self,
        id: &CallId,
        events: [Event; 2],
    ) -> Result<Receipt, Irregularity> {
        let mut open = self.open.lock();
        let at = self.clock.now();
        let [first, second] = events;
        self.write_open(&mut open, id, at, &first)?;
        self.write_open(&mut open, id, at, &second)
    }

    fn write_open(
        &self,
        open: &mut JournalState,
        id: &CallId,
        at: Timestamp,
        event: &Event,
    ) -> Result<Receipt, Irregularity> {
        let JournalState { calls, subscribers } = open;
        let OpenCall { call, ticket } = calls.get_mut(id).ok_or(not_open(event.name()))?;
        let growth = call
            .input_growth()
            .filter(|_| call.input().is_none())
            .cloned();
        Arc::make_mut(call).apply(event, at)?;
        if let Some(growth) = growth.filter(|_| call.input().is_some()) {
            self.store(id, at, &Event::InputGrew(growth));
        }
        let receipt = if event.is_passing() {
            Receipt::safe()
        } else {
            self.store(id, at, event)
        };
        subscribers.notify(call, event, ticket);
        Ok(receipt)
    }

    /// Adds to the call's output.
    pub(crate) fn print(&self, id: &CallId, bytes: &[u8]) -> Result<OutputFit, Irregularity> {
        let mut open = self.open.lock();
        let JournalState { calls, subscribers } = &mut *open;
        let OpenCall { call, ticket } = calls.get_mut(id).ok_or(not_open("printed"))?;
        let fit = output_fit(call, bytes);
        let event = Arc::make_mut(call).print(bytes)?;
        subscribers.notify(call, &event, ticket);
        Ok(fit)
    }

    /// Returns how many bytes an open call has printed.
    pub(crate) fn printed(&self, id: &CallId) -> u64 {
        let open = self.open.lock();
        open.calls
            .get(id)
            .map_or(0, |open| open.call.output().total())
    }

    /// Sets where the whole of a call's output is stored.
    pub(crate) fn set_spill(&self, id: &CallId, spill: Spill) {
        if let Some(open) = self.open.lock().calls.get_mut(id) {
            Arc::make_mut(&mut open.call).output_mut().set_spill(spill);
        }
    }

    /// Ends a call and returns its final state. Its permit is released when every reader has
    /// dropped its ticket.
    pub fn finish(
        &self,
        id: &CallId,
        ending: Ending,
        result: ToolResult,
    ) -> Result<Arc<ToolCall>, Irregularity> {
        self.end(id, |call| {
            Arc::new(Finish {
                ending,
                result,
                output: call.output().clone(),
            })
        })
        .map(|(call, _)| call)
    }

    fn end(
        &self,
        id: &CallId,
        finish: impl FnOnce(&ToolCall) -> Arc<Finish>,
    ) -> Result<(Arc<ToolCall>, Receipt), Irregularity> {
        let mut open = self.open.lock();
        let at = self.clock.now();
        let OpenCall { mut call, ticket } = open.calls.remove(id).ok_or(not_open("finished"))?;
        let event = Event::Finished(finish(&call));
        if let Err(irregularity) = Arc::make_mut(&mut call).apply(&event, at) {
            open.calls.insert(id.clone(), OpenCall { call, ticket });
            return Err(irregularity);
        }
        self.store_passing(&call, at);
        let receipt = self.store(id, at, &event);
        open.subscribers.notify(&call, &event, &ticket);
        Ok((call, receipt))
    }

    /// Stores the latest passing event of each kind: they are stored only once, at the end.
    fn store_passing(&self, call: &ToolCall, at: Timestamp) {
        if let Some(growth) = call.input_growth().filter(|_| call.input().is_none()) {
            self.store(call.id(), at, &Event::InputGrew(growth.clone()));
        }
        if let Some(progress) = call.progress() {
            self.store(call.id(), at, &Event::Progressed(progress.clone()));
        }
        if let Some(shown) = call.shown() {
            self.store(call.id(), at, &Event::Showed(shown.clone()));
        }
    }

    fn store(&self, id: &CallId, at: Timestamp, event: &Event) -> Receipt {
        let record = Record {
            session: self.session.clone(),
            call: id.clone(),
            at,
            event: event.clone(),
        };
        // A panic of the store must not prevent the call's ending.
        catch_unwind(AssertUnwindSafe(|| self.store.append(record)))
            .unwrap_or_else(|_| Receipt::refused("the store panicked"))
    }
}

fn output_fit(call: &ToolCall, bytes: &[u8]) -> OutputFit {
    let output = call.output();
    match (output.has_room_for(0), output.has_room_for(bytes.len())) {
        (true, true) => OutputFit::Fits,
        (true, false) if output.spill().is_none() => {
            OutputFit::FirstOverflow(output.pieces().concat())
        }
        (true, false) | (false, _) => OutputFit::Overflow,
    }
}

fn not_open(event: &'static str) -> Irregularity {
    Irregularity::NotOpen { event }
}

impl Subscribers {
    /// Sends an event to readers and followers. A reader that panics is dropped.
    fn notify(&mut self, call: &Arc<ToolCall>, event: &Event, ticket: &Ticket) {
        self.readers.retain_mut(|reader| {
            catch_unwind(AssertUnwindSafe(|| reader.read(call, event, ticket))).is_ok()
        });
        if let Some(followers) = self.followers.as_ref().filter(|f| f.receiver_count() > 0) {
            let _nobody_listens = followers.send(JournalEntry {
                call: call.clone(),
                event: event.clone(),
            });
        }
    }
}
