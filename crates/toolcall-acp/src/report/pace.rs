//! How often growing content of one call is sent: the more was sent already, the less often.
//! It counts bytes and computes the next time; it sends nothing and never delays an ending.

use std::time::Duration;

use tokio::time::Instant;

/// The interval of a call that sent little: about ten reports a second.
const FIRST_INTERVAL: Duration = Duration::from_millis(100);
/// The interval doubles after every this many bytes. So the bytes of a call grow with the logarithm of
/// its time: about 1.5 MB in ten minutes.
const DOUBLING_BYTES: usize = 128 * 1024;
/// After this many bytes only the ending is sent.
const BUDGET: usize = 2 * 1024 * 1024;

/// The pace of one call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    sent: usize,
    next: Option<Instant>,
}

impl Pace {
    /// Returns when the next report may be sent: at once if there was none, never if the budget is spent.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        (self.sent < BUDGET).then_some(self.next.unwrap_or(now))
    }

    /// Records that a report of this many bytes was sent.
    pub(crate) fn record(&mut self, bytes: usize, now: Instant) {
        self.sent = self.sent.saturating_add(bytes);
        let doublings = u32::try_from(self.sent / DOUBLING_BYTES)
            .unwrap_or(u32::MAX)
            .min(30);
        self.next = Some(now + FIRST_INTERVAL * 2_u32.pow(doublings));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of reports, and their bytes, in this time if each has this many bytes.
    fn sent_in(time: Duration, bytes: usize) -> (usize, usize) {
        let start = Instant::now();
        let (mut pace, mut now, mut reports) = (Pace::default(), start, 0);
        while let Some(due) = pace.due(now).filter(|due| *due <= start + time) {
            now = due;
            pace.record(bytes, now);
            reports += 1;
        }
        (reports, pace.sent)
    }

    #[test]
    fn a_small_report_is_sent_ten_times_a_second() {
        assert_eq!(sent_in(Duration::from_secs(1), 100), (11, 1100));
    }

    #[test]
    fn large_reports_are_sent_ever_less_often() {
        let (_, bytes) = sent_in(Duration::from_secs(600), 16 * 1024);
        assert!((1 << 20..2 << 20).contains(&bytes), "{bytes}");
        let (_, bytes) = sent_in(Duration::from_secs(24 * 3600), 64 * 1024);
        assert!(bytes <= BUDGET + 64 * 1024, "{bytes}");
    }
}
