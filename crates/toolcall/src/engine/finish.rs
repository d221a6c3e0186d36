//! Ends a call, once, and releases everything it held.
//! Its task or the watchdog ends it, whichever comes first; the other does nothing.

use std::sync::Arc;

use super::call_task::CallEnd;
use super::{Core, LiveCall};
use crate::call::ToolCall;
use crate::content::Content;
use crate::event::{Announced, Ending, Event, Finish, Outline, ToolResult};
use crate::fit::fit_result;
use crate::host::keep_catching_panics;
use crate::ids::CallId;
use crate::intent::{Input, Touch};
use crate::outcome::{Advice, Outcome};
use crate::output::Spill;
use crate::repeat::Attempt;

impl Core {
    /// Ends a call unless it has ended already.
    pub(super) fn finish(&self, live: &LiveCall, end: CallEnd) {
        let Some(sender) = live.outcome.lock().take() else {
            return;
        };
        let result = self.fit(&live.id, end.result);
        let ended = self.journal.finish(&live.id, end.ending.clone(), result);
        let call = ended.unwrap_or_else(|_| self.reconstruct(live, end.ending));
        let advice = self.advise(live, &call);
        self.release(live);
        let _nobody_waits = sender.send(Outcome { call, advice });
    }

    /// Builds the outcome of a call that was ended directly in the journal.
    fn reconstruct(&self, live: &LiveCall, ending: Ending) -> Arc<ToolCall> {
        let announced = Arc::new(Announced {
            tool: live.tool.clone(),
            model_id: None,
            parent: None,
            input: live.attempted.get().cloned().map(Input::Json),
            outline: Outline::default(),
        });
        let ending = match ending {
            Ending::Completed => Ending::interrupted("it was ended in the journal"),
            other => other,
        };
        let (session, at) = (self.session_context.session.clone(), self.journal.now());
        let mut call = ToolCall::announce(live.id.clone(), session, announced, Arc::default(), at);
        let finish = Finish {
            ending,
            result: ToolResult::default(),
            output: Arc::default(),
        };
        let _always_has_a_place = call.apply(&Event::Finished(Arc::new(finish)), at);
        Arc::new(call)
    }

    /// Cuts a result to the budget; the host stores the whole of the texts that are cut.
    fn fit(&self, id: &CallId, result: ToolResult) -> ToolResult {
        let (mut result, lost) = fit_result(result, &self.journal.budget());
        let keep = |text: &Arc<str>| keep_catching_panics(&*self.host, id, text.as_bytes());
        match lost
            .texts
            .iter()
            .map(keep)
            .try_fold(None, |_, kept| kept.map(Some))
        {
            Ok(None) => {}
            Ok(Some(Spill { bytes, uri, .. })) => {
                let line = format!("({bytes} bytes are kept in {uri})");
                result.content.push(Content::text(line));
            }
            Err(error) => {
                let line = format!("(the rest could not be kept: {error})");
                result.content.push(Content::text(line));
            }
        }
        result
    }

    /// Counts failures of the same attempt. A call that changed something clears the count: what
    /// failed before may now succeed.
    fn advise(&self, live: &LiveCall, call: &ToolCall) -> Advice {
        let mut repeats = self.repeats.lock();
        let Some(ending) = call
            .ending()
            .filter(|ending| !ending.is_success() || !repeats.is_empty())
        else {
            return Advice::None;
        };
        let Some(attempt) = live.attempt() else {
            return Advice::None;
        };
        match ending {
            Ending::Completed if may_change(call) => repeats.forget_all(),
            Ending::Completed => repeats.succeeded(attempt),
            Ending::Failed { .. } if repeats.is_exhausted(attempt) => return repeats.refused(),
            Ending::Failed { reason } | Ending::Denied { reason } => {
                return repeats.failed(attempt, reason);
            }
            Ending::TimedOut { .. } => return repeats.failed(attempt, "timed out"),
            Ending::Cancelled { .. } | Ending::Interrupted { .. } => {}
        }
        Advice::None
    }

    fn release(&self, live: &LiveCall) {
        if let Some(position) = live.position.get() {
            self.queue.leave(*position);
        }
        live.stop_children();
        self.live.lock().remove(&live.id);
        live.turn.call_ended();
    }
}

fn may_change(call: &ToolCall) -> bool {
    let touches = call.prepared_as().map(|prepared| &prepared.intent.touches);
    touches.into_iter().flatten().any(|touch| match touch {
        Touch::Reads(_) | Touch::Reaches(_) => false,
        Touch::Writes(_)
        | Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Runs(_)
        | Touch::Unknown => true,
    })
}

impl LiveCall {
    /// Returns whether the call has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.outcome.lock().is_none()
    }

    /// Returns the tool and its input, once both are known.
    pub(super) fn attempt(&self) -> Option<Attempt> {
        let input = self.attempted.get()?;
        Some(Attempt::new(&self.tool, input))
    }
}
