//! Timestamps, and the clock that they come from.
//! Only the clock reads the time; everything else compares and subtracts timestamps.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time, in microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates a timestamp from microseconds since 1970.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Returns the microseconds since 1970.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Returns the time since `earlier`; zero if that is later.
    pub const fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Returns the timestamp this much later.
    pub fn plus(self, span: Duration) -> Self {
        let micros = u64::try_from(span.as_micros()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(micros))
    }
}

/// Formats as ISO 8601 in UTC; the precision sets the digits of a second.
impl fmt::Display for Timestamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = i64::try_from(self.0).unwrap_or(i64::MAX);
        let timestamp = jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX);
        timestamp.fmt(out)
    }
}

/// A clock. Replace it in tests to control the time.
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time, never earlier than before.
    fn now(&self) -> Timestamp;
}

/// A clock that reads the wall time once and adds the runtime's monotonic time, so that it never
/// goes back.
#[derive(Debug)]
pub struct SystemClock {
    began: Timestamp,
    anchor: tokio::time::Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH);
        Self::starting_at(Timestamp::default().plus(wall.unwrap_or_default()))
    }
}

impl SystemClock {
    /// Creates a clock that starts at `began` now.
    pub fn starting_at(began: Timestamp) -> Self {
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
    fn timestamps_are_written_as_iso_8601() {
        let timestamp = Timestamp::from_micros(1_794_822_031_657_257);
        assert_eq!(timestamp.to_string(), "2026-11-16T09:40:31.657257Z");
        assert_eq!(format!("{timestamp:.0}"), "2026-11-16T09:40:31Z");
        assert_eq!(Timestamp::default().to_string(), "1970-01-01T00:00:00Z");
        let last = Timestamp::from_micros(u64::MAX).to_string();
        assert!(last.starts_with("9999-12-30"), "{last}");
    }
}
