//! Points in time as values, and the clock that hands them out.
//! Everything but the clock only compares and subtracts moments.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time, in microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    /// From microseconds since 1970.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since 1970.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long it has been since `earlier`; nothing if that lies ahead.
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// The moment this much later.
    pub fn plus(self, span: Duration) -> Self {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}

/// Writes it as ISO 8601 in UTC; a precision says how many digits of a second.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = i64::try_from(self.0).unwrap_or(i64::MAX);
        let timestamp = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX);
        timestamp.fmt(out)
    }
}

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now. Never earlier than what it said before.
    fn now(&self) -> Timestamp;
}

/// Wall time read once, carried on by the runtime's monotonic clock, so that it never goes back.
#[derive(Debug)]
pub struct SystemClock {
    began: Timestamp,
    anchor: tokio::time::Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Self::beginning_at(Timestamp::default().plus(wall.unwrap_or_default()))
    }
}

impl SystemClock {
    /// A clock that says `began` now and goes on from there.
    pub fn beginning_at(began: Timestamp) -> Self {
        Self {
            began,
            anchor: tokio::time::Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.began.plus(self.anchor.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_iso_8601() {
        let moment = Timestamp::from_micros(1_794_822_031_657_257);
        assert_eq!(moment.to_string(), "2026-11-16T09:40:31.657257Z");
        assert_eq!(format!("{moment:.0}"), "2026-11-16T09:40:31Z");
        assert_eq!(Timestamp::default().to_string(), "1970-01-01T00:00:00Z");
        let last = Timestamp::from_micros(u64::MAX).to_string();
        assert!(last.starts_with("9999-12-30"), "{last}");
    }
}
