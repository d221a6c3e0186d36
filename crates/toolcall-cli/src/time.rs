//! Parses and formats times for the user, in the time zone of this machine.
//! It knows nothing of calls and sessions.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Zoned};
use toolcall::Timestamp;

/// Parses a time: how long ago, or a date with or without a time.
pub(crate) fn parse(text: &str) -> Result<Timestamp, String> {
    let time = parse_at(text, &Zoned::now());
    time.ok_or_else(|| "write it like 90m, 2d, 1w, 2026-01-31 or 2026-01-31T18:00".to_owned())
}

fn parse_at(text: &str, now: &Zoned) -> Option<Timestamp> {
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

/// Returns the current time.
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Timestamp::default().plus(since.unwrap_or_default())
}

/// Formats a time in the local time zone.
pub(crate) fn local(at: Timestamp) -> String {
    let zoned = to_jiff(at).to_zoned(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn to_jiff(at: Timestamp) -> jiff::Timestamp {
    let micros = i64::try_from(at.as_micros()).unwrap_or(i64::MAX);
    jiff::Timestamp::from_microsecond(micros).unwrap_or(jiff::Timestamp::MAX)
}

/// Returns a duration in milliseconds, rounded to microseconds.
pub(crate) fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let now: Zoned = "2026-03-04T12:00:00+01:00[+01:00]".parse().unwrap();
        parse_at(text, &now).map_or_else(|| "?".to_owned(), |at| at.to_string())
    }

    #[test]
    fn times_are_parsed_as_users_write_them() {
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
