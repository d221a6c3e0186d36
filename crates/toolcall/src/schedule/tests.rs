//! Tests the schedule against a naive one that compares every pair of calls, and its guarantees one
//! by one.
//! It must not share the index with the code under test: conflicts are computed here again.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::command::Part;

const PATHS: [&str; 11] = [
    "/", "/a", "/a/b", "/a/b/c", "/a/bc", "/a-b", "/d", "/d/e", "/a/", "//a//b", "/a/./b/",
];

fn any_path() -> impl Strategy<Value = PathBuf> {
    prop::sample::select(PATHS.to_vec()).prop_map(PathBuf::from)
}

fn any_touch() -> impl Strategy<Value = Touch> {
    prop_oneof![
        6 => any_path().prop_map(Touch::Reads),
        4 => any_path().prop_map(Touch::Writes),
        2 => any_path().prop_map(Touch::Deletes),
        2 => (any_path(), any_path()).prop_map(|(from, to)| Touch::Moves { from, to }),
        1 => Just(understood()),
        1 => Just(unclear()),
        1 => Just(Touch::Reaches("host".into())),
        1 => Just(Touch::Unknown),
    ]
}

pub(super) fn any_touches() -> impl Strategy<Value = Vec<Touch>> {
    vec(any_touch(), 0..3)
}

fn runs(reading: Reading) -> Touch {
    Touch::Runs(Command::new("make", "/", reading))
}

fn understood() -> Touch {
    runs(Reading::Understood(vec![Part::new(
        vec!["make".to_owned()],
        "/",
    )]))
}

fn unclear() -> Touch {
    runs(Reading::Unclear("a loop".into()))
}

fn reads(path: &str) -> Touch {
    Touch::Reads(path.into())
}

fn writes(path: &str) -> Touch {
    Touch::Writes(path.into())
}

/// What one touch does, as far as order goes.
enum TouchAction<'a> {
    Reads(&'a Path),
    Writes(&'a Path),
    Runs,
    RunsAnything,
}

fn touch_actions(touch: &Touch) -> Vec<TouchAction<'_>> {
    match touch {
        Touch::Reads(path) => vec![TouchAction::Reads(path)],
        Touch::Writes(path) | Touch::Deletes(path) => vec![TouchAction::Writes(path)],
        Touch::Moves { from, to } => vec![TouchAction::Writes(from), TouchAction::Writes(to)],
        Touch::Runs(command) => match command.reading {
            Reading::Understood(_) => vec![TouchAction::Runs],
            Reading::Unclear(_) => vec![TouchAction::RunsAnything],
        },
        Touch::Reaches(_) | Touch::Unknown => Vec::new(),
    }
}

fn clash(one: &TouchAction<'_>, other: &TouchAction<'_>) -> bool {
    let overlap = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
    match (one, other) {
        (TouchAction::Reads(_), TouchAction::Reads(_)) => false,
        (TouchAction::Writes(a), TouchAction::Reads(b) | TouchAction::Writes(b)) => overlap(a, b),
        (TouchAction::Reads(a), TouchAction::Writes(b)) => overlap(a, b),
        (TouchAction::Runs, TouchAction::Runs | TouchAction::Reads(_))
        | (TouchAction::Reads(_), TouchAction::Runs) => false,
        (TouchAction::Runs, TouchAction::Writes(_))
        | (TouchAction::Writes(_), TouchAction::Runs) => true,
        (TouchAction::RunsAnything, _) | (_, TouchAction::RunsAnything) => true,
    }
}

fn conflict(some: &[Touch], others: &[Touch]) -> bool {
    let of = |touches: &'_ [Touch], test: &dyn Fn(&TouchAction<'_>) -> bool| {
        touches
            .iter()
            .flat_map(touch_actions)
            .any(|action| test(&action))
    };
    of(some, &|one| of(others, &|other| clash(one, other)))
}

/// The same schedule, computed pair by pair.
#[derive(Default)]
struct NaiveSchedule(BTreeMap<u64, NaiveCall>);

struct NaiveCall {
    lineage: Vec<u64>,
    touches: Option<Vec<Touch>>,
    is_admitted: bool,
    waits_for: BTreeSet<u64>,
}

impl NaiveSchedule {
    fn enter(&mut self, position: Position, parent: Option<Position>) {
        let parent = parent.and_then(|parent| self.0.get(&parent.0));
        let mut lineage = parent.map_or_else(Vec::new, |parent| parent.lineage.clone());
        lineage.push(position.0);
        let call = NaiveCall {
            lineage,
            touches: None,
            is_admitted: false,
            waits_for: BTreeSet::new(),
        };
        self.0.insert(position.0, call);
    }

    fn set_touches(&mut self, position: Position, touches: &[Touch]) {
        let Some(call) = self.0.get_mut(&position.0) else {
            return;
        };
        call.touches = Some(touches.to_vec());
        if call.is_admitted {
            self.admit(position.0);
        } else {
            self.advance();
        }
    }

    fn leave(&mut self, position: Position) {
        self.0.remove(&position.0);
        for call in self.0.values_mut() {
            call.waits_for.remove(&position.0);
        }
        self.advance();
    }

    fn advance(&mut self) {
        let is_stated = |(_, call): &(&u64, &NaiveCall)| call.touches.is_some();
        let stated: Vec<u64> = self
            .0
            .iter()
            .take_while(is_stated)
            .map(|(p, _)| *p)
            .collect();
        for position in stated {
            if !self.0[&position].is_admitted {
                self.admit(position);
            }
        }
    }

    fn admit(&mut self, position: u64) {
        let own = &self.0[&position];
        let is_before = |other: &NaiveCall| {
            other.is_admitted
                && other.lineage < own.lineage
                && !own.lineage.starts_with(&other.lineage)
        };
        let touches = |call: &NaiveCall| call.touches.clone().unwrap_or_default();
        let blocks = |(_, other): &(&u64, &NaiveCall)| {
            is_before(other) && conflict(&touches(other), &touches(own))
        };
        let waits_for = self
            .0
            .iter()
            .filter(blocks)
            .map(|(position, _)| *position)
            .collect();
        let own = self.0.get_mut(&position).expect("it is there");
        own.waits_for = waits_for;
        own.is_admitted = true;
    }

    fn readiness(&self, position: u64) -> Readiness {
        match self.0.get(&position) {
            Some(call) if !call.is_admitted => Readiness::Pending,
            Some(call) if !call.waits_for.is_empty() => Readiness::Blocked,
            Some(_) | None => Readiness::Ready,
        }
    }
}

/// A change to a schedule. Numbers choose among the calls that are there.
#[derive(Clone, Debug)]
enum ScheduleMove {
    Enter(Option<usize>),
    SetTouches(usize, Vec<Touch>),
    Leave(usize),
}

fn any_move() -> impl Strategy<Value = ScheduleMove> {
    prop_oneof![
        3 => option::weighted(0.4, any::<usize>()).prop_map(ScheduleMove::Enter),
        4 => (any::<usize>(), any_touches()).prop_map(|(which, touches)| ScheduleMove::SetTouches(which, touches)),
        2 => any::<usize>().prop_map(ScheduleMove::Leave),
    ]
}

#[derive(Default)]
struct SchedulePair {
    schedule: Schedule,
    naive: NaiveSchedule,
}

impl SchedulePair {
    fn choose(&self, which: usize) -> Option<Position> {
        let positions: Vec<u64> = self.naive.0.keys().copied().collect();
        positions
            .get(which % positions.len().max(1))
            .map(|position| Position(*position))
    }

    /// Makes the move in both, and returns which call moved and which were woken.
    fn make(&mut self, step: &ScheduleMove) -> (Option<Position>, Vec<Position>) {
        match step {
            ScheduleMove::Enter(parent) => {
                let parent = parent.and_then(|which| self.choose(which));
                let position = self.schedule.enter(parent);
                self.naive.enter(position, parent);
                (Some(position), Vec::new())
            }
            ScheduleMove::SetTouches(which, touches) => {
                self.choose(*which)
                    .map_or_else(Default::default, |position| {
                        self.naive.set_touches(position, touches);
                        (Some(position), self.schedule.set_touches(position, touches))
                    })
            }
            ScheduleMove::Leave(which) => {
                self.choose(*which)
                    .map_or_else(Default::default, |position| {
                        self.naive.leave(position);
                        (Some(position), self.schedule.leave(position))
                    })
            }
        }
    }

    fn readiness(&self) -> BTreeMap<Position, Readiness> {
        let positions = (0..self.schedule.next).map(Position);
        positions
            .map(|position| (position, self.schedule.readiness(position)))
            .collect()
    }

    fn naive_readiness(&self) -> BTreeMap<Position, Readiness> {
        let positions = (0..self.schedule.next).map(Position);
        positions
            .map(|position| (position, self.naive.readiness(position.0)))
            .collect()
    }

    fn blockers(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let numbers = |slot: &Slot| slot.waits_for.iter().map(|position| position.0).collect();
        let slots = self.schedule.slots.iter();
        slots
            .map(|(position, slot)| (position.0, numbers(slot)))
            .collect()
    }

    fn naive_blockers(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let calls = self.naive.0.iter();
        calls
            .map(|(position, call)| (*position, call.waits_for.clone()))
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_index_finds_what_comparing_every_pair_finds(moves in vec(any_move(), 0..60)) {
        let mut pair = SchedulePair::default();
        for step in &moves {
            pair.make(step);
            prop_assert_eq!(pair.blockers(), pair.naive_blockers());
            prop_assert_eq!(pair.readiness(), pair.naive_readiness());
        }
    }

    #[test]
    fn a_call_that_becomes_ready_is_woken(moves in vec(any_move(), 0..60)) {
        let mut pair = SchedulePair::default();
        for step in &moves {
            let before = pair.readiness();
            let (moved, ready) = pair.make(step);
            for (position, readiness) in before {
                let is_now_clear = pair.schedule.readiness(position) == Readiness::Ready;
                if readiness != Readiness::Ready && is_now_clear && moved != Some(position) {
                    prop_assert!(ready.contains(&position), "{position:?} was not woken by {step:?}");
                }
            }
        }
    }

    #[test]
    fn an_emptied_schedule_holds_nothing(moves in vec(any_move(), 0..60)) {
        let mut pair = SchedulePair::default();
        for step in &moves {
            pair.make(step);
        }
        while let Some(position) = pair.choose(0) {
            pair.make(&ScheduleMove::Leave(0));
            prop_assert!(!pair.schedule.slots.contains_key(&position));
        }
        let Schedule { slots, files, commands, .. } = pair.schedule;
        prop_assert!(slots.is_empty() && files.is_empty() && commands.is_empty());
    }

    #[test]
    fn a_call_is_clear_once_all_earlier_ones_left_in_any_order(
        calls in vec(any_touches(), 1..12).prop_flat_map(|calls| {
            let order: Vec<usize> = (0..calls.len() - 1).collect();
            (Just(calls), Just(order).prop_shuffle())
        }),
    ) {
        let (calls, order) = calls;
        let (mut schedule, positions) = filled(&calls);
        for left in order {
            schedule.leave(positions[left]);
        }
        prop_assert_eq!(schedule.readiness(positions[positions.len() - 1]), Readiness::Ready);
    }

    #[test]
    fn reads_never_wait_for_reads(paths in vec(any_path(), 1..12)) {
        let calls: Vec<_> = paths.into_iter().map(|path| vec![Touch::Reads(path)]).collect();
        prop_assert!(all_clear(&calls));
    }

    #[test]
    fn calls_that_do_not_conflict_are_clear_at_once(
        calls in vec(any_touches(), 1..5).prop_filter("they conflict", |calls| {
            (0..calls.len()).all(|at| calls[..at].iter().all(|call| !conflict(call, &calls[at])))
        }),
    ) {
        prop_assert!(all_clear(&calls));
    }
}

/// Calls that came in this order and have all said what they touch.
fn filled(calls: &[Vec<Touch>]) -> (Schedule, Vec<Position>) {
    let mut schedule = Schedule::default();
    let positions: Vec<Position> = calls.iter().map(|_| schedule.enter(None)).collect();
    for (position, touches) in positions.iter().zip(calls) {
        schedule.set_touches(*position, touches);
    }
    (schedule, positions)
}

fn all_clear(calls: &[Vec<Touch>]) -> bool {
    let (schedule, positions) = filled(calls);
    let mut readiness = positions
        .iter()
        .map(|position| schedule.readiness(*position));
    readiness.all(|readiness| readiness == Readiness::Ready)
}

/// Whether the second waits for the first.
fn waits(first: Touch, second: Touch) -> bool {
    let (schedule, positions) = filled(&[vec![first], vec![second]]);
    match schedule.readiness(positions[1]) {
        Readiness::Blocked => true,
        Readiness::Ready => false,
        Readiness::Pending => panic!("both have said what they touch"),
    }
}

#[test]
fn an_unclear_command_waits_for_all_and_all_wait_for_it() {
    let moves = || Touch::Moves {
        from: "/a".into(),
        to: "/b".into(),
    };
    for touch in [
        reads("/a"),
        writes("/a"),
        Touch::Deletes("/a".into()),
        moves(),
        understood(),
        unclear(),
    ] {
        assert!(waits(touch.clone(), unclear()), "for {touch:?}");
        assert!(waits(unclear(), touch.clone()), "{touch:?}");
    }
}

#[test]
fn understood_commands_run_side_by_side_but_not_with_writes() {
    assert!(!waits(understood(), understood()));
    assert!(!waits(reads("/a"), understood()));
    assert!(!waits(understood(), reads("/a")));
    assert!(waits(writes("/a"), understood()));
    assert!(waits(understood(), writes("/a")));
}

#[test]
fn folders_conflict_with_what_lies_beneath_and_above() {
    for (one, other) in [
        ("/a", "/a/b/c"),
        ("/a/b/c", "/a"),
        ("/", "/x"),
        ("/a", "/a"),
    ] {
        assert!(waits(writes(one), reads(other)), "{one} {other}");
        assert!(waits(reads(one), writes(other)), "{one} {other}");
    }
    for (one, other) in [("/a", "/a-b"), ("/a/b", "/a/bc"), ("/a/b", "/a/c")] {
        assert!(!waits(writes(one), writes(other)), "{one} {other}");
    }
}

#[test]
fn one_file_conflicts_with_itself_however_it_is_spelled() {
    for (one, other) in [
        ("/a/", "/a/b"),
        ("/a/./b", "/a/b"),
        ("//a", "/a"),
        ("/a/.", "/a/b/"),
    ] {
        assert!(waits(writes(one), writes(other)), "{one} {other}");
        assert!(waits(writes(other), writes(one)), "{one} {other}");
    }
}

#[test]
fn what_is_not_stated_or_lies_outside_waits_for_nothing() {
    for touch in [Touch::Unknown, Touch::Reaches("host".into())] {
        assert!(!waits(writes("/"), touch.clone()) && !waits(touch, writes("/")));
    }
}

#[test]
fn a_call_is_early_until_every_earlier_one_has_spoken_or_left() {
    let mut schedule = Schedule::default();
    let [first, second, third] = [(); 3].map(|()| schedule.enter(None));
    assert_eq!(schedule.set_touches(third, &[reads("/a")]), []);
    assert_eq!(schedule.readiness(third), Readiness::Pending);
    assert_eq!(schedule.set_touches(first, &[writes("/a")]), []);
    assert_eq!(schedule.leave(second), [third]);
    assert_eq!(schedule.readiness(third), Readiness::Blocked);
    assert_eq!(schedule.leave(first), [third]);
    assert_eq!(schedule.readiness(third), Readiness::Ready);
}
