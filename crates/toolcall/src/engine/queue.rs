//! Lets calls wait for their place in the schedule.
//! The order itself is the schedule's business.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::intent::Touch;
use crate::map::Map;
use crate::schedule::{Departures, Place, Schedule, Standing};

/// The schedule, with a bell for every call that waits.
#[derive(Default)]
pub(super) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    schedule: Schedule,
    bells: Map<Place, Arc<Notify>>,
}

/// Whether a call may go on.
pub(super) enum Step {
    /// It may.
    Passed(Passage),
    /// Not before this bell has rung.
    Wait(Arc<Notify>),
}

/// What a call met on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// What it saw is as it was.
    Free,
    /// Earlier calls that touch the same ended since it looked; the world may have changed.
    AfterOthers,
}

impl Queue {
    pub(super) fn enter(&self, parent: Option<Place>) -> Place {
        self.0.lock().schedule.enter(parent)
    }

    pub(super) fn leave(&self, place: Place) {
        let mut waiting = self.0.lock();
        let awake = waiting.schedule.leave(place);
        waiting.bells.remove(&place);
        waiting.ring(&awake);
    }

    /// Where things stand, to be remembered before a call looks at the world.
    pub(super) fn departures(&self) -> Departures {
        self.0.lock().schedule.departures()
    }

    /// Says what a call touches, having looked at the world when things stood so.
    pub(super) fn state(&self, place: Place, touches: &[Touch], since: Departures) -> Step {
        let mut waiting = self.0.lock();
        let awake = waiting.schedule.state(place, touches);
        waiting.ring(&awake);
        waiting.step(place, since)
    }

    /// Waits until nothing earlier is in a call's way.
    pub(super) async fn wait(&self, place: Place, bell: Arc<Notify>, since: Departures) -> Passage {
        loop {
            bell.notified().await;
            match self.0.lock().step(place, since) {
                Step::Passed(passage) => return passage,
                Step::Wait(_same_bell) => {}
            }
        }
    }
}

impl Waiting {
    /// A bell keeps one ring, so none is missed between looking and listening.
    fn ring(&self, places: &[Place]) {
        for bell in places.iter().filter_map(|place| self.bells.get(place)) {
            bell.notify_one();
        }
    }

    fn step(&mut self, place: Place, since: Departures) -> Step {
        match self.schedule.standing(place) {
            Standing::Early | Standing::Blocked => {
                Step::Wait(self.bells.entry(place).or_default().clone())
            }
            Standing::Clear => Step::Passed(if self.schedule.is_outdated(place, since) {
                Passage::AfterOthers
            } else {
                Passage::Free
            }),
        }
    }
}
