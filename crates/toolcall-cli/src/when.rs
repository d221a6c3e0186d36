//! Moments and spans of time, as people write and read them.
//! It knows the clock and the time zone of this machine, and nothing of what happened when.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};
use toolcall::Timestamp;

/// The moment that a person means: so long ago, or a date, with a time or without.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    let said = before(text, &Zoned::now());
    said.ok_or_else(|| "write it like 90m, 2d, 1w, 2026-01-31 or 2026-01-31T18:00".to_owned())
}

fn before(text: &str, now: &Zoned) -> Option<Timestamp> {
    if let Ok(ago) = text.parse::<Span>() {
        return from_jiff(now.checked_sub(ago.abs()).ok()?.timestamp());
    }
    if let Ok(exact) = text.parse::<jiff::Timestamp>() {
        return from_jiff(exact);
    }
    let local = text.parse::<DateTime>().ok()?;
    let zoned = local.to_zoned(now.time_zone().clone()).ok()?;
    from_jiff(zoned.timestamp())
}

fn from_jiff(at: jiff::Timestamp) -> Option<Timestamp> {
    let micros = u64::try_from(at.as_microsecond()).ok()?;
    Some(Timestamp::from_micros(micros))
}

/// Now.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp::default().plus(since.unwrap_or_default())
}

/// A moment as the clock on the wall shows it.
pub(crate) fn local(at: Timestamp) -> String {
    let zoned = to_jiff(at).to_zoned(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn to_jiff(at: Timestamp) -> jiff::Timestamp {
    let micros = i64::try_from(at.as_micros()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX)
}

/// Milliseconds, for programs.
pub(crate) fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let now: Zoned = "2026-03-04T12:00:00+01:00[+01:00]".parse().unwrap();
        before(text, &now).map_or_else(|| "?".to_owned(), |at| at.to_string())
    }

    #[test]
    fn moments_are_read_as_people_write_them() {
        assert_eq!(read("90m"), "2026-03-04T09:30:00Z");
        assert_eq!(read("2d"), "2026-03-02T11:00:00Z");
        assert_eq!(read("1w"), "2026-02-25T11:00:00Z");
        assert_eq!(read("2026-03-01"), "2026-02-28T23:00:00Z");
        assert_eq!(read("2026-03-01T18:30"), "2026-03-01T17:30:00Z");
        assert_eq!(read("2026-03-01T18:30:00Z"), "2026-03-01T18:30:00Z");
        assert_eq!(read("soon"), "?");
        assert_eq!(read("1900-01-01"), "?");
    }
}
