//! Lets calls wait for their position in the schedule.
//! The order itself is the schedule's business.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::intent::Touch;
use crate::map::FastMap;
use crate::schedule::{ChangeCount, Position, Readiness, Schedule};

/// The schedule, with a notify for every call that waits.
#[derive(Default)]
pub(super) struct Queue(Mutex<QueueInner>);

#[derive(Default)]
struct QueueInner {
    schedule: Schedule,
    waiters: FastMap<Position, Arc<Notify>>,
}

/// Whether a call may go on.
pub(super) enum QueueState {
    /// It may.
    Ready(Freshness),
    /// Not before this notify has rung.
    Waiting(Arc<Notify>),
}

/// What a call met on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// What it saw is as it was.
    Current,
    /// Earlier calls that touch the same ended since it looked; the world may have changed.
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

    /// Where things stand, to be remembered before a call looks at the world.
    pub(super) fn change_count(&self) -> ChangeCount {
        self.0.lock().schedule.change_count()
    }

    /// Says what a call touches, having looked at the world when things stood so.
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

    /// Waits until nothing earlier is in a call's way.
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
    /// A notify keeps one wake, so none is missed between looking and listening.
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
