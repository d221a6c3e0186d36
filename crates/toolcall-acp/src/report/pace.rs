//! How often growing content of one call is told: the more was told already, the rarer.
//! It counts and names the next moment; it sends nothing and never holds up an ending.

use std::time::Duration;

use tokio::time::Instant;

/// The pace of a call that has told little: about ten reports a second.
const FIRST: Duration = Duration::from_millis(100);
/// After each of these many bytes the interval doubles. So the bytes of a call grow with the
/// logarithm of its time: about 1.5 MB in ten minutes.
const STEP: usize = 128 * 1024;
/// Past this many bytes only the ending is told.
const BUDGET: usize = 2 * 1024 * 1024;

/// The pace of one call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    told: usize,
    next: Option<Instant>,
}

impl Pace {
    /// When the next report may leave: at once if there was none, never if the budget is spent.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        (self.told < BUDGET).then_some(self.next.unwrap_or(now))
    }

    /// A report of this many bytes left.
    pub(crate) fn told(&mut self, bytes: usize, now: Instant) {
        self.told = self.told.saturating_add(bytes);
        let doublings = u32::try_from(self.told / STEP).unwrap_or(u32::MAX).min(30);
        self.next = Some(now + FIRST * 2_u32.pow(doublings));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a call tells in this time if each report has this many bytes.
    fn told_in(time: Duration, bytes: usize) -> (usize, usize) {
        let start = Instant::now();
        let (mut pace, mut now, mut reports) = (Pace::default(), start, 0);
        while let Some(due) = pace.due(now).filter(|due| *due <= start + time) {
            now = due;
            pace.told(bytes, now);
            reports += 1;
        }
        (reports, pace.told)
    }

    #[test]
    fn little_is_told_ten_times_a_second() {
        assert_eq!(told_in(Duration::from_secs(1), 100), (11, 1100));
    }

    #[test]
    fn much_is_told_ever_more_rarely() {
        let (_, bytes) = told_in(Duration::from_secs(600), 16 * 1024);
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
        let (_, bytes) = told_in(Duration::from_secs(24 * 3600), 64 * 1024);
        assert!(bytes <= BUDGET + 64 * 1024, "{bytes}");
    }
}
