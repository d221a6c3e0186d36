//! Records calls that an agent judges and runs itself: start, progress, finish.
//! It decides nothing and runs nothing.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::Semaphore;

use crate::engine::Limits;
use crate::event::{
    Announced, Decision, Effect, Ending, Event, Judge, Outline, Prepared, ToolResult,
};
use crate::fit::fit_result;
use crate::ids::{CallId, CallIds};
use crate::infer;
use crate::intent::{Input, Kind, Origin};
use crate::journal::{Journal, Ticket};
use crate::progress::Progress;
use crate::text::{LONGEST_REASON, clean_line};
use crate::tool::{ToolDefinition, ToolError};

/// Records the calls of an agent that runs its own tools.
///
/// ```
/// use serde_json::json;
/// use std::sync::Arc;
/// use toolcall::{CallIds, Journal, Progress, SessionId, Tracker};
///
/// let journal = Arc::new(Journal::new(SessionId::random()));
/// let tracker = Tracker::new(journal, Arc::new(CallIds::random()));
/// let call = tracker.start("download", json!({"url": "https://example.com/data.csv"}));
/// call.progress(Progress::at(1.0).of(2.0));
/// call.finish(Ok("2 lines"));
/// ```
#[derive(Clone)]
pub struct Tracker {
    journal: Arc<Journal>,
    ids: Arc<CallIds>,
    /// Permits for calls whose ending is not reported yet, shared with the engine.
    unreported: Arc<Semaphore>,
}

/// A call that the agent runs. It fails if it is dropped without [`TrackedCall::finish`].
pub struct TrackedCall {
    journal: Arc<Journal>,
    id: CallId,
    is_open: bool,
}

impl Tracker {
    /// Creates a tracker that writes to this journal and takes its call ids from `ids`.
    pub fn new(journal: Arc<Journal>, ids: Arc<CallIds>) -> Self {
        let most = Limits::default().unreported;
        Self {
            journal,
            ids,
            unreported: Arc::new(Semaphore::new(most)),
        }
    }

    /// Shares these permits with an engine.
    pub(crate) fn sharing(mut self, unreported: Arc<Semaphore>) -> Self {
        self.unreported = unreported;
        self
    }

    /// Waits for a permit for one more call whose ending is not reported yet. An agent that awaits
    /// this before each call slows down with a client that does not read, instead of filling the
    /// memory.
    pub async fn ready(&self) {
        let _room = self.unreported.acquire().await;
    }

    /// Records that a call has started. This does not wait, because the call already runs.
    pub fn start(&self, tool: &str, input: Value) -> TrackedCall {
        let id = self.ids.next_call();
        let mut definition = ToolDefinition::new(clean_line(tool, 200), "", Value::Bool(true));
        definition.origin = Origin::Agent;
        let kind = infer::kind_with(&definition, infer::kind_of(&definition), &input);
        let input = Arc::new(input);
        let announced = Announced {
            tool: definition.name.clone(),
            model_id: None,
            parent: None,
            input: Some(Input::Json(input.clone())),
            outline: Outline::inferred(kind),
        };
        let announced = self.journal.announce(&id, announced, self.ticket());
        debug_assert_eq!(announced, Ok(()), "call ids are unique");
        let tracked = TrackedCall {
            journal: self.journal.clone(),
            id,
            is_open: true,
        };
        tracked.begin(&definition, kind, input);
        tracked
    }
}

impl Tracker {
    fn ticket(&self) -> Ticket {
        let permit = self.unreported.clone().try_acquire_owned();
        permit.map_or_else(|_| Ticket::default(), Ticket::new)
    }
}

impl TrackedCall {
    fn begin(&self, definition: &ToolDefinition, kind: Kind, input: Arc<Value>) {
        let mut intent = infer::intent(&definition.name, kind, &input, "/".as_ref());
        intent.tool = definition.identity();
        self.write(Event::Prepared(Arc::new(Prepared { input, intent })));
        self.write(Event::Decided(Arc::new(Decision {
            question: None,
            effect: Effect::Allow,
            by: Judge::Unseen,
        })));
        self.write(Event::Started);
    }

    /// Returns the call's id.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// Records progress.
    pub fn progress(&self, progress: Progress) {
        self.write(Event::Progressed(progress));
    }

    /// Adds bytes to the call's output.
    pub fn print(&self, bytes: impl AsRef<[u8]>) {
        let _lost_after_the_end = self.journal.print(&self.id, bytes.as_ref());
    }

    /// Records that the call was paused.
    pub fn hold(&self, reason: &str) {
        self.write(Event::Held(reason.into()));
    }

    /// Records that the call was resumed.
    pub fn resume(&self) {
        self.write(Event::Resumed);
    }

    /// Records the end of the call.
    pub fn finish(mut self, result: Result<impl Into<ToolResult>, ToolError>) {
        match result {
            Ok(result) => self.end(Ending::Completed, result.into()),
            Err(error) => {
                let reason = clean_line(error.reason(), LONGEST_REASON);
                self.end(Ending::failed(reason), error.into_result());
            }
        }
    }

    fn end(&mut self, ending: Ending, result: ToolResult) {
        if std::mem::take(&mut self.is_open) {
            let (result, _cut) = fit_result(result, &self.journal.budget());
            let _ended_already = self.journal.finish(&self.id, ending, result);
        }
    }

    fn write(&self, event: Event) {
        let _lost_after_the_end = self.journal.write(&self.id, event);
    }
}

impl Drop for TrackedCall {
    fn drop(&mut self) {
        self.end(
            Ending::failed("it was given up without a result"),
            ToolResult::default(),
        );
    }
}
