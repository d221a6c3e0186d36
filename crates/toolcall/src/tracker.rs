//! Tracks calls that somebody else judges and runs: start, progress, finish.
//! It reports; it decides nothing and runs nothing.

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
use crate::tool::{Definition, ToolError};

/// Writes the calls of an agent that runs its own tools.
#[derive(Clone)]
pub struct Tracker {
    journal: Arc<Journal>,
    ids: Arc<CallIds>,
    /// Places for calls whose ending is not reported yet, shared with the engine.
    unreported: Arc<Semaphore>,
}

/// A call that somebody else runs. Dropped without a finish, it has failed.
pub struct Tracked {
    journal: Arc<Journal>,
    id: CallId,
    is_open: bool,
}

impl Tracker {
    /// Writes into this journal, with ids from here.
    pub fn new(journal: Arc<Journal>, ids: Arc<CallIds>) -> Self {
        let most = Limits::default().unreported;
        Self {
            journal,
            ids,
            unreported: Arc::new(Semaphore::new(most)),
        }
    }

    /// Shares these places with others who start calls.
    pub(crate) fn sharing(mut self, unreported: Arc<Semaphore>) -> Self {
        self.unreported = unreported;
        self
    }

    /// Waits until there is room for one more call whose ending is not reported yet. Whoever waits
    /// for this before each call is held up by a client that does not read, and fills no memory.
    pub async fn ready(&self) {
        let _room = self.unreported.acquire().await;
    }

    /// A call of this tool has started. This does not wait: it has started elsewhere.
    pub fn start(&self, tool: &str, input: Value) -> Tracked {
        let id = self.ids.next_call();
        let mut definition = Definition::new(clean_line(tool, 200), "", Value::Bool(true));
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
        let tracked = Tracked {
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

impl Tracked {
    fn begin(&self, definition: &Definition, kind: Kind, input: Arc<Value>) {
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

    /// The call's id.
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// Says how far it is.
    pub fn progress(&self, progress: Progress) {
        self.write(Event::Progressed(progress));
    }

    /// Adds to its output.
    pub fn print(&self, bytes: impl AsRef<[u8]>) {
        let _lost_after_the_end = self.journal.print(&self.id, bytes.as_ref());
    }

    /// It was paused.
    pub fn hold(&self, reason: &str) {
        self.write(Event::Held(reason.into()));
    }

    /// It goes on.
    pub fn resume(&self) {
        self.write(Event::Resumed);
    }

    /// It ended.
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

impl Drop for Tracked {
    fn drop(&mut self) {
        self.end(
            Ending::failed("it was given up without a result"),
            ToolResult::default(),
        );
    }
}
