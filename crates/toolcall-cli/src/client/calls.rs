//! The calls of a session, as a client reconstructs them from the agent's updates.
//! It shows each event after it is applied, and invents none.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use toolcall::{CallId, Clock as _, Event, Output, SessionId, SystemClock, ToolCall};
use toolcall_acp::decode::{Announcement, Decoded, Decoder};

use super::Viewer;

#[derive(Default)]
pub(super) struct Calls {
    known: HashMap<CallId, ToolCall>,
    clock: SystemClock,
}

impl Calls {
    pub(super) fn get(&self, id: &CallId) -> Option<&ToolCall> {
        self.known.get(id)
    }

    /// Applies an update of a new or known call. Returns `None` if the update names no call.
    pub(super) fn apply_update(
        &mut self,
        update: &Value,
        viewer: &mut impl Viewer,
    ) -> Option<CallId> {
        let id = CallId::new(update["toolCallId"].as_str()?);
        let (events, printed) = match self.known.get(&id) {
            Some(call) => {
                let Decoded {
                    events, printed, ..
                } = Decoder::default().decode(call, update);
                (events, printed)
            }
            None => {
                let announcement = Decoder::default().announce(update).ok()?;
                self.begin(announcement, viewer)
            }
        };
        for event in &events {
            self.apply_event(&id, event, viewer);
        }
        if let Some(printed) = printed {
            self.print(&id, &printed, viewer);
        }
        Some(id)
    }

    /// Applies an event and shows it.
    pub(super) fn apply_event(&mut self, id: &CallId, event: &Event, viewer: &mut impl Viewer) {
        let now = self.clock.now();
        if let Some(call) = self.known.get_mut(id)
            && call.apply(event, now).is_ok()
        {
            viewer.event(call, event);
        }
    }

    /// Begins a call. Returns the further events and output of the same update.
    fn begin(
        &mut self,
        announcement: Announcement,
        viewer: &mut impl Viewer,
    ) -> (Vec<Event>, Option<String>) {
        let (id, announced) = (announcement.id, Arc::new(announcement.announced));
        let call = ToolCall::announce(
            id.clone(),
            SessionId::new(""),
            announced.clone(),
            Arc::new(Output::default()),
            self.clock.now(),
        );
        viewer.event(&call, &Event::Announced(announced));
        self.known.insert(id, call);
        (announcement.then, announcement.printed)
    }

    fn print(&mut self, id: &CallId, printed: &str, viewer: &mut impl Viewer) {
        if let Some(call) = self.known.get_mut(id)
            && let Ok(event) = call.print(printed.as_bytes())
        {
            viewer.event(call, &event);
        }
    }
}
