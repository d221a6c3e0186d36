//! Moments and spans of time, as people write and read them.
//! It knows the clock and the time zone of this machine, and nothing of what happened when.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use toolcall::Moment;

/// The moment that a person means: so long ago, or a date, with a time or without.
pub(crate) fn parse(text: &str) -> Result<Moment, String> {
    let said = before(text, &Zoned::now());
    said.ok_or_else(|| "write it like 90m, 2d, 1w, 2026-01-31 or 2026-01-31T18:00".to_owned())
}

fn before(text: &str, now: &Zoned) -> Option<Moment> {
    if let Ok(ago) = text.parse::<Span>() {
        return moment(now.checked_sub(ago.abs()).ok()?.timestamp());
    }
    if let Ok(exact) = text.parse::<Timestamp>() {
        return moment(exact);
    }
    let local = text.parse::<DateTime>().ok()?;
    let zoned = local.to_zoned(now.time_zone().clone()).ok()?;
    moment(zoned.timestamp())
}

fn moment(at: Timestamp) -> Option<Moment> {
    let micros = u64::try_from(at.as_microsecond()).ok()?;
    Some(Moment::from_micros(micros))
}

/// Now.
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Moment::default().plus(since.unwrap_or_default())
}

/// A moment as the clock on the wall shows it.
pub(crate) fn local(at: Moment) -> String {
    let zoned = timestamp(at).to_zoned(TimeZone::system());
    zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn timestamp(at: Moment) -> Timestamp {
    let micros = i64::try_from(at.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX)
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
