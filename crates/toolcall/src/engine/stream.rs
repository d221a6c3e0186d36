//! An input that the model is still writing.
//! It collects text and updates the sketch; nothing is decided before the input is complete.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::turn::CallHandle;
use super::{Core, LiveCall};
use crate::event::{Event, InputGrowth};
use crate::ids::CallId;
use crate::intent::Input;
use crate::partial;

/// The input length at which the first sketch is made; the next follow whenever it has doubled.
const FIRST_SKETCH: usize = 32;

/// A call whose input the model is still writing. Dropping it ends the call as interrupted.
pub struct InputStream {
    core: Arc<Core>,
    live: Arc<LiveCall>,
    handle: CallHandle,
    complete: oneshot::Sender<Input>,
    next_sketch: usize,
}

impl InputStream {
    pub(super) fn new(
        core: Arc<Core>,
        live: Arc<LiveCall>,
        handle: CallHandle,
        complete: oneshot::Sender<Input>,
    ) -> Self {
        Self {
            core,
            live,
            handle,
            complete,
            next_sketch: FIRST_SKETCH,
        }
    }

    /// Returns the call's id.
    pub fn id(&self) -> &CallId {
        self.handle.id()
    }

    /// Adds more of the input. Beyond the engine's limit it is dropped, and the call will fail for
    /// that reason.
    pub fn grow(&mut self, delta: &str) {
        let mut text = self.live.written.lock();
        if text.len() > self.core.limits.input_bytes {
            return;
        }
        text.push_str(delta);
        let is_worth_it = text.len() >= self.next_sketch;
        if is_worth_it {
            self.next_sketch = text.len() * 2;
        }
        drop(text);
        if is_worth_it {
            self.report();
        }
    }

    /// Completes the input: the call goes on like any other.
    pub fn complete(self) -> CallHandle {
        // The last sketch may end in the middle of a name.
        self.report();
        self.live.enqueue(&self.core.queue);
        let text = std::mem::take(&mut *self.live.written.lock());
        let _call_has_ended = self.complete.send(Input::Text(text.into()));
        self.handle
    }

    fn report(&self) {
        let (partial, bytes) = {
            let text = self.live.written.lock();
            (partial::read(&text), text.len() as u64)
        };
        let Some(partial) = partial else {
            return;
        };
        let sketch = self.core.sketch(&self.live.tool, Some(&partial));
        let growth = InputGrowth {
            bytes,
            sketch: Arc::new(sketch),
        };
        let _call_has_ended = self
            .core
            .journal
            .write(self.handle.id(), Event::InputGrew(growth));
    }
}
