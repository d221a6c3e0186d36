//! Lets calls wait until the schedule lets them run.
//! It does not decide the order; the schedule does.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::intent::Touch;
use crate::map::FastMap;
use crate::schedule::{ChangeCount, Position, Readiness, Schedule};

/// The schedule, with a [`Notify`] for every waiting call.
#[derive(Default)]
pub(super) struct Queue(Mutex<QueueInner>);

#[derive(Default)]
struct QueueInner {
    schedule: Schedule,
    waiters: FastMap<Position, Arc<Notify>>,
}

/// Whether a call may go on.
pub(super) enum QueueState {
    /// It may go on.
    Ready(Freshness),
    /// It waits for this notification.
    Waiting(Arc<Notify>),
}

/// Whether what a call read while it prepared still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Nothing it depends on has changed.
    Current,
    /// Earlier calls that touch the same have ended since it prepared; the files may have changed.
    Stale,
}

impl Queue {
    pub(super) fn enter(&self, parent: Option<Position>) -> Position {
        self.0.lock().schedule.enter(parent)
    }

    pub(super) fn leave(&self, position: Position) {
        let mut inner = self.0.lock();
        let ready = inner.schedule.leave(position);
        inner.waiters.remove(&position);
        inner.wake(&ready);
    }

    /// Returns the change count, to be taken before a call prepares.
    pub(super) fn change_count(&self) -> ChangeCount {
        self.0.lock().schedule.change_count()
    }

    /// Sets what a call touches, prepared at the change count `since`, and returns whether it may
    /// go on.
    pub(super) fn set_touches(
        &self,
        position: Position,
        touches: &[Touch],
        since: ChangeCount,
    ) -> QueueState {
        let mut inner = self.0.lock();
        let ready = inner.schedule.set_touches(position, touches);
        inner.wake(&ready);
        inner.queue_state(position, since)
    }

    /// Waits until no earlier call blocks this one.
    pub(super) async fn wait(
        &self,
        position: Position,
        notify: Arc<Notify>,
        since: ChangeCount,
    ) -> Freshness {
        loop {
            notify.notified().await;
            match self.0.lock().queue_state(position, since) {
                QueueState::Ready(freshness) => return freshness,
                QueueState::Waiting(_same_notify) => {}
            }
        }
    }
}

impl QueueInner {
    /// Wakes these calls. A `Notify` keeps one permit, so none is missed between checking and
    /// waiting.
    fn wake(&self, positions: &[Position]) {
        for notify in positions
            .iter()
            .filter_map(|position| self.waiters.get(position))
        {
            notify.notify_one();
        }
    }

    fn queue_state(&mut self, position: Position, since: ChangeCount) -> QueueState {
        match self.schedule.readiness(position) {
            Readiness::Pending | Readiness::Blocked => {
                QueueState::Waiting(self.waiters.entry(position).or_default().clone())
            }
            Readiness::Ready => QueueState::Ready(if self.schedule.is_outdated(position, since) {
                Freshness::Stale
            } else {
                Freshness::Current
            }),
        }
    }
}
