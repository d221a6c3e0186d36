//! The comparison of two ways to do the same work, in interleaved pairs.
//! It prints nothing and does not know what is measured.
//!
//! Each pair runs both sides, one right after the other, and who goes first alternates: what slows the machine for a
//! while slows both. The ratio of a case is the median of the ratios of its pairs.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::Options;
use crate::row::{Ratio, Row, Target, Unit};

/// The fewest pairs a case may run.
pub const FEWEST_PAIRS: usize = 7;

/// One comparison, before it is run.
#[derive(Clone, Debug)]
pub struct Case {
    name: String,
    pairs: usize,
    operations: u32,
    target: Option<Target>,
}

impl Case {
    /// A case of one operation a side and no target.
    pub fn new(name: impl Into<String>, options: &Options) -> Self {
        Self {
            name: name.into(),
            pairs: options.pairs.max(FEWEST_PAIRS),
            operations: 1,
            target: None,
        }
    }

    /// Each side does the operation this often in every pair; times are shown for one operation.
    pub fn operations(mut self, count: u32) -> Self {
        self.operations = count.max(1);
        self
    }

    /// The ratio that is wanted.
    pub fn target(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    /// Compares two operations; each is repeated as often as [`Case::operations`] says.
    pub fn compare<A, B>(
        self,
        mut ours: impl FnMut() -> A,
        mut reference: impl FnMut() -> B,
    ) -> Row {
        let count = self.operations;
        self.compare_measured(
            || repeated(count, &mut ours),
            || repeated(count, &mut reference),
        )
    }

    /// Compares two sides that measure themselves: each does all operations and returns the time they took.
    ///
    /// # Panics
    ///
    /// When a side says that it took no time: its clock is too coarse for so few operations.
    pub fn compare_measured(
        self,
        mut ours: impl FnMut() -> Duration,
        mut reference: impl FnMut() -> Duration,
    ) -> Row {
        pair(Turn::OursFirst, &mut ours, &mut reference); // warms both sides up
        let pairs: Vec<_> = turns()
            .take(self.pairs)
            .map(|turn| pair(turn, &mut ours, &mut reference))
            .collect();
        self.row(&pairs)
    }

    /// Compares the memory that our side takes with a bound, as often as it would run pairs.
    pub fn within(self, mut bytes: impl FnMut() -> u64, bound: u64) -> Row {
        let taken: Vec<f64> = (0..self.pairs).map(|_| bytes() as f64).collect();
        let reference = bound as f64;
        let ratios = taken.iter().map(|bytes| bytes / reference);
        Row {
            ratio: spread(ratios.collect()),
            ours: median(taken),
            reference,
            unit: Unit::Bytes,
            pairs: self.pairs,
            target: Some(Target::AtMost(1.0)),
            name: self.name,
        }
    }

    /// How many pairs are run.
    pub fn rounds(&self) -> usize {
        self.pairs
    }

    /// Compares what was measured elsewhere: ours and the reference, side by side, in one unit.
    pub fn of_pairs(self, unit: Unit, pairs: &[(f64, f64)]) -> Row {
        Row {
            ours: median(pairs.iter().map(|(ours, _)| *ours).collect()),
            reference: median(pairs.iter().map(|(_, reference)| *reference).collect()),
            unit,
            ratio: spread(pairs.iter().map(|(a, b)| a / b).collect()),
            pairs: pairs.len(),
            target: self.target,
            name: self.name,
        }
    }

    fn row(self, pairs: &[Pair]) -> Row {
        let name = &self.name;
        let measured = pairs.iter().all(|(a, b)| !a.is_zero() && !b.is_zero());
        assert!(measured, "`{name}` took no time; raise its operations");
        let operations = f64::from(self.operations);
        let each = |time: &Duration| time.as_secs_f64() * 1e9 / operations;
        let pairs: Vec<_> = pairs.iter().map(|(a, b)| (each(a), each(b))).collect();
        self.of_pairs(Unit::Nanoseconds, &pairs)
    }
}

/// The times of ours and of the reference.
type Pair = (Duration, Duration);

#[derive(Clone, Copy)]
enum Turn {
    OursFirst,
    ReferenceFirst,
}

fn turns() -> impl Iterator<Item = Turn> {
    [Turn::ReferenceFirst, Turn::OursFirst].into_iter().cycle()
}

fn pair(
    turn: Turn,
    ours: &mut impl FnMut() -> Duration,
    reference: &mut impl FnMut() -> Duration,
) -> Pair {
    match turn {
        Turn::OursFirst => {
            let first = ours();
            (first, reference())
        }
        Turn::ReferenceFirst => {
            let first = reference();
            (ours(), first)
        }
    }
}

fn repeated<T>(count: u32, work: &mut impl FnMut() -> T) -> Duration {
    let begin = Instant::now();
    for _ in 0..count {
        black_box(work());
    }
    begin.elapsed()
}

fn spread(ratios: Vec<f64>) -> Ratio {
    Ratio {
        least: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        most: ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        median: median(ratios),
    }
}

/// The middle value, or the mean of the two in the middle. The list is never empty: a case runs seven pairs or more.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = ((values.len() - 1) / 2, values.len() / 2);
    (values[low] + values[high]) / 2.0
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const SEVEN: Options = Options { pairs: 7 };

    /// A side that takes the given times in turn; the first is the warm-up.
    fn script(times: [u64; 8]) -> impl FnMut() -> Duration {
        let mut times = times.into_iter();
        move || Duration::from_nanos(times.next().expect("eight runs a side"))
    }

    #[test]
    fn the_ratio_is_the_median_of_the_pairs_with_its_spread() {
        let row = Case::new("fold", &SEVEN)
            .operations(10)
            .target(Target::AtMost(2.0))
            .compare_measured(
                script([9999, 100, 200, 300, 400, 500, 600, 700]),
                script([1, 100, 100, 100, 200, 100, 100, 100]),
            );
        let expected = Row {
            name: "fold".into(),
            ours: 40.0,
            reference: 10.0,
            unit: Unit::Nanoseconds,
            ratio: Ratio {
                median: 3.0,
                least: 1.0,
                most: 7.0,
            },
            pairs: 7,
            target: Some(Target::AtMost(2.0)),
        };
        assert_eq!(row, expected);
    }

    #[test]
    fn what_was_measured_elsewhere_is_compared_in_its_unit() {
        let row = Case::new("memory", &SEVEN).of_pairs(Unit::Bytes, &[(1.0, 10.0), (4.0, 20.0)]);
        let expected = Row {
            name: "memory".into(),
            ours: 2.5,
            reference: 15.0,
            unit: Unit::Bytes,
            ratio: Ratio {
                median: 0.15000000000000002,
                least: 0.1,
                most: 0.2,
            },
            pairs: 2,
            target: None,
        };
        assert_eq!(row, expected);
    }

    #[test]
    fn the_sides_alternate_who_goes_first() {
        let log = RefCell::new(String::new());
        let side = |letter| {
            let log = &log;
            move || {
                log.borrow_mut().push(letter);
                Duration::from_nanos(1)
            }
        };
        Case::new("order", &SEVEN).compare_measured(side('o'), side('r'));
        assert_eq!(log.into_inner(), "or ro or ro or ro or ro".replace(' ', ""));
    }

    #[test]
    fn fewer_than_seven_pairs_are_not_run() {
        let tick = || Duration::from_nanos(1);
        let row = Case::new("few", &Options { pairs: 1 }).compare_measured(tick, tick);
        assert_eq!(row.pairs, 7);
        let row = Case::new("more", &Options { pairs: 8 }).compare_measured(tick, tick);
        assert_eq!(row.pairs, 8);
    }

    #[test]
    fn operations_are_repeated_on_both_sides() {
        let (mut ours, mut reference) = (0, 0);
        let case = Case::new("count", &SEVEN).operations(1000);
        let row = case.compare(|| ours += 1, || reference += 1);
        assert_eq!((ours, reference, row.pairs), (8000, 8000, 7));
    }

    #[test]
    #[should_panic(expected = "`nothing` took no time; raise its operations")]
    fn a_side_that_took_no_time_is_refused() {
        Case::new("nothing", &SEVEN).compare_measured(|| Duration::ZERO, || Duration::ZERO);
    }

    #[test]
    fn an_even_count_has_the_mean_of_the_middle_as_median() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(vec![5.0, 1.0, 3.0]), 3.0);
    }
}
