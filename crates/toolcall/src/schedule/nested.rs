//! Nested calls on the schedule: whatever they touch, nothing ever waits in a circle.
//! It must not move a call that the schedule holds back, nor end one before its children.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::tests::any_touches;
use super::*;

/// Calls by number. A parent has a smaller number than its children.
#[derive(Clone, Debug)]
struct Forest {
    parents: Vec<Option<usize>>,
    touches: Vec<Vec<Touch>>,
}

fn any_forest() -> impl Strategy<Value = Forest> {
    vec(
        (option::weighted(0.6, any::<usize>()), any_touches()),
        1..14,
    )
    .prop_map(|calls| {
        let parent = |(number, (parent, _)): (usize, &(Option<usize>, _))| {
            parent.filter(|_| number > 0).map(|parent| parent % number)
        };
        Forest {
            parents: calls.iter().enumerate().map(parent).collect(),
            touches: calls.into_iter().map(|(_, touches)| touches).collect(),
        }
    })
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Absent,
    Entered(Place),
    Stated(Place),
    /// It waited, so it looked and stated once more.
    StatedAgain(Place),
    Running(Place),
    Ended,
}

struct World {
    forest: Forest,
    schedule: Schedule,
    stages: Vec<Stage>,
}

impl World {
    fn new(forest: Forest) -> Self {
        Self {
            stages: vec![Stage::Absent; forest.parents.len()],
            schedule: Schedule::default(),
            forest,
        }
    }

    fn can_move(&self, call: usize) -> bool {
        match self.stages[call] {
            Stage::Absent => self.forest.parents[call]
                .is_none_or(|parent| matches!(self.stages[parent], Stage::Running(_))),
            Stage::Entered(_) => true,
            Stage::Stated(place) | Stage::StatedAgain(place) => {
                self.schedule.standing(place) == Standing::Clear
            }
            Stage::Running(_) => self
                .children(call)
                .all(|child| self.stages[child] == Stage::Ended),
            Stage::Ended => false,
        }
    }

    fn children(&self, call: usize) -> impl Iterator<Item = usize> {
        let parents = self.forest.parents.iter().enumerate();
        parents
            .filter(move |(_, parent)| **parent == Some(call))
            .map(|(child, _)| child)
    }

    fn step(&mut self, call: usize) {
        self.stages[call] = match self.stages[call] {
            Stage::Absent => Stage::Entered(self.schedule.enter(self.parent_place(call))),
            Stage::Entered(place) => Stage::Stated(self.state(call, place)),
            Stage::Stated(place) => Stage::StatedAgain(self.state(call, place)),
            Stage::StatedAgain(place) => Stage::Running(place),
            Stage::Running(place) => {
                self.schedule.leave(place);
                Stage::Ended
            }
            Stage::Ended => Stage::Ended,
        };
    }

    fn state(&mut self, call: usize, place: Place) -> Place {
        self.schedule.state(place, &self.forest.touches[call]);
        place
    }

    fn parent_place(&self, call: usize) -> Option<Place> {
        match self.stages[self.forest.parents[call]?] {
            Stage::Running(place) => Some(place),
            Stage::Absent
            | Stage::Entered(_)
            | Stage::Stated(_)
            | Stage::StatedAgain(_)
            | Stage::Ended => None,
        }
    }

    /// Moves whoever can, chosen by the picks, until nobody can.
    fn play(&mut self, picks: &[usize]) {
        for pick in picks.iter().cycle() {
            let movable: Vec<usize> = (0..self.stages.len())
                .filter(|call| self.can_move(*call))
                .collect();
            if movable.is_empty() {
                return;
            }
            self.step(movable[pick % movable.len()]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nothing_waits_in_a_circle(forest in any_forest(), picks in vec(any::<usize>(), 1..40)) {
        let mut world = World::new(forest);
        world.play(&picks);
        prop_assert_eq!(&world.stages, &vec![Stage::Ended; world.stages.len()]);
    }
}

#[test]
fn a_nested_call_never_waits_for_the_call_it_belongs_to() {
    let mut schedule = Schedule::default();
    let outer = schedule.enter(None);
    schedule.state(outer, &[Touch::Writes("/a".into())]);
    let inner = schedule.enter(Some(outer));
    schedule.state(inner, &[Touch::Writes("/a".into())]);
    assert_eq!(schedule.standing(inner), Standing::Clear);
}

#[test]
fn a_nested_call_never_waits_for_what_waits_for_its_parent() {
    let mut schedule = Schedule::default();
    let [outer, later] = [(); 2].map(|()| schedule.enter(None));
    for place in [outer, later] {
        schedule.state(place, &[Touch::Writes("/a".into())]);
    }
    let inner = schedule.enter(Some(outer));
    schedule.state(inner, &[Touch::Writes("/a".into())]);
    let standings = [outer, later, inner].map(|place| schedule.standing(place));
    assert_eq!(
        standings,
        [Standing::Clear, Standing::Blocked, Standing::Clear]
    );
}

#[test]
fn nested_calls_wait_for_each_other_in_order() {
    let mut schedule = Schedule::default();
    let outer = schedule.enter(None);
    schedule.state(outer, &[]);
    let [first, second] = [(); 2].map(|()| schedule.enter(Some(outer)));
    for place in [first, second] {
        schedule.state(place, &[Touch::Writes("/a".into())]);
    }
    let standings = [first, second].map(|place| schedule.standing(place));
    assert_eq!(standings, [Standing::Clear, Standing::Blocked]);
    assert_eq!(schedule.leave(first), [second]);
}
