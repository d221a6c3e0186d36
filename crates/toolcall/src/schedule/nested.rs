//! Tests nested calls: whatever they touch, there is never a deadlock.
//! It must not run a call that the schedule blocks, nor end one before its children.

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
    Entered(Position),
    Stated(Position),
    /// It waited, so it prepared and stated again.
    StatedAgain(Position),
    Running(Position),
    Ended,
}

struct ScheduleSimulation {
    forest: Forest,
    schedule: Schedule,
    stages: Vec<Stage>,
}

impl ScheduleSimulation {
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
            Stage::Stated(position) | Stage::StatedAgain(position) => {
                self.schedule.readiness(position) == Readiness::Ready
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
            Stage::Absent => Stage::Entered(self.schedule.enter(self.parent_position(call))),
            Stage::Entered(position) => Stage::Stated(self.set_touches(call, position)),
            Stage::Stated(position) => Stage::StatedAgain(self.set_touches(call, position)),
            Stage::StatedAgain(position) => Stage::Running(position),
            Stage::Running(position) => {
                self.schedule.leave(position);
                Stage::Ended
            }
            Stage::Ended => Stage::Ended,
        };
    }

    fn set_touches(&mut self, call: usize, position: Position) -> Position {
        self.schedule
            .set_touches(position, &self.forest.touches[call]);
        position
    }

    fn parent_position(&self, call: usize) -> Option<Position> {
        match self.stages[self.forest.parents[call]?] {
            Stage::Running(position) => Some(position),
            Stage::Absent
            | Stage::Entered(_)
            | Stage::Stated(_)
            | Stage::StatedAgain(_)
            | Stage::Ended => None,
        }
    }

    /// Advances calls that can move, chosen by the picks, until none can.
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
        let mut simulation = ScheduleSimulation::new(forest);
        simulation.play(&picks);
        prop_assert_eq!(&simulation.stages, &vec![Stage::Ended; simulation.stages.len()]);
    }
}

#[test]
fn a_nested_call_never_waits_for_the_call_it_belongs_to() {
    let mut schedule = Schedule::default();
    let outer = schedule.enter(None);
    schedule.set_touches(outer, &[Touch::Writes("/a".into())]);
    let inner = schedule.enter(Some(outer));
    schedule.set_touches(inner, &[Touch::Writes("/a".into())]);
    assert_eq!(schedule.readiness(inner), Readiness::Ready);
}

#[test]
fn a_nested_call_never_waits_for_what_waits_for_its_parent() {
    let mut schedule = Schedule::default();
    let [outer, later] = [(); 2].map(|()| schedule.enter(None));
    for position in [outer, later] {
        schedule.set_touches(position, &[Touch::Writes("/a".into())]);
    }
    let inner = schedule.enter(Some(outer));
    schedule.set_touches(inner, &[Touch::Writes("/a".into())]);
    let readiness = [outer, later, inner].map(|position| schedule.readiness(position));
    assert_eq!(
        readiness,
        [Readiness::Ready, Readiness::Blocked, Readiness::Ready]
    );
}

#[test]
fn nested_calls_wait_for_each_other_in_order() {
    let mut schedule = Schedule::default();
    let outer = schedule.enter(None);
    schedule.set_touches(outer, &[]);
    let [first, second] = [(); 2].map(|()| schedule.enter(Some(outer)));
    for position in [first, second] {
        schedule.set_touches(position, &[Touch::Writes("/a".into())]);
    }
    let readiness = [first, second].map(|position| schedule.readiness(position));
    assert_eq!(readiness, [Readiness::Ready, Readiness::Blocked]);
    assert_eq!(schedule.leave(first), [second]);
}
