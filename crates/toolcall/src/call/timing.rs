//! How long each phase of a call took.
//! It computes with timestamps that it is given; it reads no clock.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// How long each phase took. `queued + waited + ran = total`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Before it ran, without the time a question was open.
    pub queued: Duration,
    /// While a question was open.
    pub waited: Duration,
    /// While it ran, without the time a question was open.
    pub ran: Duration,
    /// From the announcement to the end.
    pub total: Duration,
}

/// When each phase of a call began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CallTimestamps {
    pub(super) announced: Timestamp,
    pub(super) started: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    pub(super) asking_since: Option<Timestamp>,
    pub(super) waited_before_start: Duration,
    pub(super) waited_while_running: Duration,
    pub(super) latest: Timestamp,
}

impl CallTimestamps {
    pub(super) fn stop_asking(&mut self, at: Timestamp) {
        let waited = self
            .asking_since
            .take()
            .map_or(Duration::ZERO, |since| at.since(since));
        match self.started {
            None => self.waited_before_start += waited,
            Some(_) => self.waited_while_running += waited,
        }
    }

    pub(super) fn timing(mut self, now: Timestamp) -> Timing {
        let end = self.ended.unwrap_or(now.max(self.latest));
        self.stop_asking(end);
        let before = self.started.unwrap_or(end).since(self.announced);
        let after = self
            .started
            .map_or(Duration::ZERO, |started| end.since(started));
        Timing {
            queued: before.saturating_sub(self.waited_before_start),
            waited: self.waited_before_start + self.waited_while_running,
            ran: after.saturating_sub(self.waited_while_running),
            total: end.since(self.announced),
        }
    }
}
