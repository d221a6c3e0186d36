//! A turn, and how a call enters it: permit, id, announcement.
//! When a turn has ended, so has each of its calls.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, oneshot};

use super::call_task::{CallTask, PendingInput};
use super::queue::Queue;
use super::stream::InputStream;
use super::{Core, LiveCall};
use crate::event::{Announced, Canceller, Outline};
use crate::ids::CallId;
use crate::intent::{Input, Kind};
use crate::journal::Ticket;
use crate::outcome::Outcome;
use crate::request::{ToolRequest, read_input};
use crate::schedule::Position;
use crate::stop::{StopCause, StopSignal};
use crate::text::clean_line;

const LONGEST_NAME: usize = 200;

/// The calls that a model makes between two messages of the user. Dropping it cancels those that
/// are open.
pub struct Turn {
    core: Arc<Core>,
    state: Arc<TurnState>,
}

/// The state that a turn and its calls share.
#[derive(Debug)]
pub(crate) struct TurnState {
    cancelled: Mutex<Option<Canceller>>,
    open: AtomicUsize,
    all_ended: Notify,
    cancel_notify: Notify,
    trace: OnceLock<Trace>,
}

/// Names and values to pass on to the servers that tools call, such as a W3C trace context. Nothing
/// here reads them.
pub type Trace = Arc<[(Arc<str>, Arc<str>)]>;

/// A call that runs. Await it for the outcome; dropping it changes nothing.
pub struct CallHandle {
    id: CallId,
    outcome: oneshot::Receiver<Outcome>,
}

impl Turn {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        let state = TurnState {
            cancelled: Mutex::new(None),
            open: AtomicUsize::new(0),
            all_ended: Notify::new(),
            cancel_notify: Notify::new(),
            trace: OnceLock::new(),
        };
        Self {
            core,
            state: Arc::new(state),
        }
    }

    /// Sets the trace context of the turn's calls. Only the first one counts.
    pub fn set_trace(&self, trace: impl Into<Trace>) {
        let _first = self.state.trace.set(trace.into());
    }

    /// Starts a call. Waits while too many endings are unreported.
    pub async fn call(&self, request: ToolRequest) -> CallHandle {
        let ticket = self.ticket().await;
        let starter = CallStarter::new(&self.core, &self.state, ticket);
        starter.call(request)
    }

    /// Starts a call whose input the model is still writing.
    pub async fn open(&self, tool: impl Into<Arc<str>>) -> InputStream {
        self.open_as(ToolRequest::from_text(tool, "")).await
    }

    /// Like [`Turn::open`], with the model id and parent of the request. Its input is ignored.
    pub async fn open_as(&self, request: ToolRequest) -> InputStream {
        let ticket = self.ticket().await;
        let starter = CallStarter::new(&self.core, &self.state, ticket);
        starter.open(request)
    }

    /// Cancels every call of the turn on behalf of the user. Later calls are cancelled at once.
    pub fn cancel(&self) {
        self.cancel_by(Canceller::Person);
    }

    /// Ends the turn: cancels open calls and waits until all have ended.
    pub async fn end(self) {
        self.close().await;
    }

    /// Like [`Turn::end`], for a shared turn: later calls are cancelled at once.
    pub async fn close(&self) {
        self.cancel_by(Canceller::Turn);
        loop {
            let ended = self.state.all_ended.notified();
            if self.state.open.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }

    fn cancel_by(&self, by: Canceller) {
        self.state.cancelled.lock().get_or_insert(by.clone());
        self.state.cancel_notify.notify_waiters();
        let is_ours = |live: &LiveCall| Arc::ptr_eq(&live.turn, &self.state);
        self.core.stop_where(&StopCause::Cancelled(by), is_ours);
    }

    /// Returns a ticket, after waiting for a permit unless the turn is cancelled: then the call
    /// ends at once anyway.
    async fn ticket(&self) -> Ticket {
        if let Ok(permit) = self.core.unreported.clone().try_acquire_owned() {
            return Ticket::new(permit);
        }
        let cancelled = self.state.cancel_notify.notified();
        if self.state.cancelled.lock().is_some() {
            return Ticket::default();
        }
        let waiting = self.core.unreported.clone().acquire_owned();
        tokio::select! {
            permit = waiting => permit.map_or_else(|_| Ticket::default(), Ticket::new),
            () = cancelled => Ticket::default(),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.cancel_by(Canceller::Turn);
    }
}

impl TurnState {
    pub(super) fn call_ended(&self) {
        if self.open.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.all_ended.notify_waiters();
        }
    }
}

impl CallHandle {
    /// Returns the call's id.
    pub fn id(&self) -> &CallId {
        &self.id
    }
}

impl Future for CallHandle {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        Pin::new(&mut self.outcome)
            .poll(context)
            .map(|outcome| match outcome {
                Ok(outcome) => outcome,
                Err(_) => {
                    unreachable!("a call task sends its outcome, even when it is dropped")
                }
            })
    }
}

/// What a running call needs of its engine: stop signal, time limit, nested calls and forms.
pub(crate) struct EngineHandle {
    pub(super) core: Arc<Core>,
    pub(super) live: Arc<LiveCall>,
}

impl EngineHandle {
    /// Returns the signal that stops the call.
    pub(crate) fn stop(&self) -> &StopSignal {
        &self.live.stop
    }

    /// Returns the trace context.
    pub(crate) fn trace(&self) -> &[(Arc<str>, Arc<str>)] {
        self.live.turn.trace.get().map_or(&[], |trace| trace)
    }

    /// Notes that the tool did something, for the watchdog.
    pub(crate) fn mark_active(&self) {
        self.live.mark_active();
    }

    /// Shortens the time limit of the call.
    pub(crate) fn end_within(&self, limit: Duration) {
        self.live.end_within(limit);
    }

    fn child_permits(&self) -> Arc<Semaphore> {
        let most = self.core.limits.nested.max(1);
        let permits = self
            .live
            .child_permits
            .get_or_init(|| Arc::new(Semaphore::new(most)));
        permits.clone()
    }

    /// Returns whether the call has ended, so that nothing may be done in its name any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.live.has_ended()
    }

    /// Runs a nested call. It runs within its parent's permits, so that parents cannot starve their
    /// own children; each parent has its own limit until their endings are reported. A child whose
    /// future is dropped is cancelled.
    pub(crate) async fn call(&self, request: ToolRequest) -> Outcome {
        let permit = self.child_permits().acquire_owned().await;
        let ticket = permit.map_or_else(|_| Ticket::default(), Ticket::new);
        let mut starter = CallStarter::new(&self.core, &self.live.turn, ticket);
        starter.parent = Some(self.live.clone());
        let handle = starter.call(request);
        let mut waiting = ChildGuard(&self.core, handle);
        (&mut waiting.1).await
    }
}

/// A nested call that is awaited. Dropping it cancels the call, which does nothing to one that has
/// ended.
struct ChildGuard<'a>(&'a Arc<Core>, CallHandle);

impl Drop for ChildGuard<'_> {
    fn drop(&mut self) {
        self.0
            .stop(&self.1.id, StopCause::Cancelled(Canceller::Parent));
    }
}

impl LiveCall {
    /// Takes the call's position in the queue, once its input is complete: calls queue in the order
    /// in which the model made them, whichever task runs first.
    pub(super) fn enqueue(&self, queue: &Queue) -> Position {
        let position = *self
            .position
            .get_or_init(|| queue.enter(self.parent_position));
        if self.has_ended() {
            // It was cancelled meanwhile, perhaps before it had a position to release.
            queue.leave(position);
        }
        position
    }

    /// Adds a nested call that stops with this one; at once, if this one is stopped already.
    fn add_child(&self, child: &Arc<LiveCall>) {
        let mut children = self.children.lock();
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(child));
        drop(children);
        if self.stop.cause().is_some() || self.has_ended() {
            child.stop(StopCause::Cancelled(Canceller::Parent));
        }
    }
}

/// Starts a call: registers it and writes its announcement.
struct CallStarter<'a> {
    core: &'a Arc<Core>,
    turn: &'a Arc<TurnState>,
    ticket: Ticket,
    parent: Option<Arc<LiveCall>>,
}

impl<'a> CallStarter<'a> {
    fn new(core: &'a Arc<Core>, turn: &'a Arc<TurnState>, ticket: Ticket) -> Self {
        Self {
            core,
            turn,
            ticket,
            parent: None,
        }
    }

    fn call(self, request: ToolRequest) -> CallHandle {
        let (input, checked) = read_input(request.input.clone(), self.core.limits.input_bytes);
        let outline = self.outline(&request.tool, &input);
        let (task, handle) = self.announce(request, Some(input), outline);
        task.live.enqueue(&task.core.queue);
        task.spawn(PendingInput::Ready(checked));
        handle
    }

    fn open(self, request: ToolRequest) -> InputStream {
        let outline = self.outline(&request.tool, &Input::Text("".into()));
        let core = self.core.clone();
        let (task, handle) = self.announce(request, None, outline);
        let live = task.live.clone();
        let (sender, receiver) = oneshot::channel();
        task.spawn(PendingInput::Streaming(receiver));
        InputStream::new(core, live, handle, sender)
    }

    fn outline(&self, tool: &str, input: &Input) -> Outline {
        let input = match input {
            Input::Json(value) => Some(&**value),
            Input::Text(_) => None,
        };
        match self.core.registry.find(tool) {
            Some(entry) => entry.outline(input),
            None => Outline::inferred(Kind::Other),
        }
    }

    fn announce(
        self,
        request: ToolRequest,
        input: Option<Input>,
        outline: Outline,
    ) -> (CallTask, CallHandle) {
        let id = self.core.ids.next_call();
        let parent = self
            .parent
            .clone()
            .or_else(|| self.find_live(request.parent.as_ref()));
        let (sender, outcome) = oneshot::channel();
        let live = self.register(&id, &request, parent.as_deref(), sender);
        let announced = Announced {
            tool: self.shown_name(&request.tool),
            model_id: request.model_id,
            parent: request.parent,
            input,
            outline,
        };
        let announced = self.core.journal.announce(&id, announced, self.ticket);
        debug_assert_eq!(announced, Ok(()), "call ids are unique");
        let core = self.core.clone();
        (CallTask { core, live }, CallHandle { id, outcome })
    }

    /// Returns the name to show. Names in the registry are plain; any other is cleaned.
    fn shown_name(&self, tool: &Arc<str>) -> Arc<str> {
        match self.core.registry.find(tool) {
            Some(_) => tool.clone(),
            None => clean_line(tool, LONGEST_NAME).into(),
        }
    }

    fn find_live(&self, parent: Option<&CallId>) -> Option<Arc<LiveCall>> {
        self.core.live.lock().get(parent?).cloned()
    }

    /// Registers the call so that it can be cancelled; in a cancelled turn it is cancelled already.
    fn register(
        &self,
        id: &CallId,
        request: &ToolRequest,
        parent: Option<&LiveCall>,
        outcome: oneshot::Sender<Outcome>,
    ) -> Arc<LiveCall> {
        let live = Arc::new(LiveCall {
            id: id.clone(),
            tool: request.tool.clone(),
            written: Mutex::default(),
            attempted: OnceLock::new(),
            outcome: Mutex::new(Some(outcome)),
            stop: StopSignal::default(),
            is_nested: self.parent.is_some(),
            parent_position: parent.and_then(|parent| parent.position.get().copied()),
            depth: parent.map_or(0, |parent| parent.depth + 1),
            turn: self.turn.clone(),
            position: OnceLock::new(),
            child_permits: OnceLock::new(),
            children: Mutex::default(),
            forms: AtomicUsize::new(0),
            watched: Mutex::new(None),
        });
        self.turn.open.fetch_add(1, Ordering::AcqRel);
        if let Some(parent) = parent {
            parent.add_child(&live);
        }
        let cancelled = self.turn.cancelled.lock();
        if let Some(by) = &*cancelled {
            live.stop.stop(StopCause::Cancelled(by.clone()));
        }
        self.core.live.lock().insert(id.clone(), live.clone());
        if self.core.is_closed.load(Ordering::SeqCst) {
            live.stop.stop(StopCause::Cancelled(Canceller::Engine));
        }
        live
    }
}
