//! Draws the calls of one session as a timeline: how each ended, and how long it waited and ran, to scale.
//! It only draws; the caller supplies the data.

use std::time::Duration;

use anstyle::Style;
use toolcall::Timestamp;
use toolcall::text::duration;
use toolcall_history::CallRow;

use super::fit;
use super::style::{ATTENTION, BAD, BOLD, BUSY, DIM, GOOD, paint};

/// Symbol, word and style of a call's status.
pub(crate) struct StatusDisplay<'a> {
    pub(crate) symbol: &'static str,
    pub(crate) word: &'a str,
    pub(crate) style: Style,
}

/// Returns the display of a status, by its name in the history.
pub(crate) fn outcome(status: &str) -> StatusDisplay<'_> {
    let (symbol, word, style) = match status {
        "completed" => ("✓", "completed", GOOD),
        "failed" => ("✗", "failed", BAD),
        "denied" => ("✗", "denied", BAD),
        "cancelled" => ("■", "cancelled", ATTENTION),
        "timed_out" => ("■", "timed out", BAD),
        "interrupted" => ("■", "broken off", BAD),
        open => ("▸", open, BUSY),
    };
    StatusDisplay {
        symbol,
        word,
        style,
    }
}

const ENDING_COLUMNS: usize = 12;
const TIME_COLUMNS: usize = 7;
const MIN_TITLE: usize = 10;

/// An interval in which at least one call was open.
struct BusyInterval {
    from: Timestamp,
    to: Timestamp,
    /// The total length of earlier intervals.
    before: Duration,
}

/// The layout of a timeline: one scale for all bars.
pub(crate) struct Timeline {
    /// Intervals with open calls, in order, without overlaps.
    busy: Vec<BusyInterval>,
    total: Duration,
    latest: Timestamp,
    id: usize,
    title: usize,
    bar: usize,
}

impl Timeline {
    /// The legend of the bars.
    pub(crate) const LEGEND: &'static str =
        "  · before it ran   ░ waiting for you   █ running   (idle time is left out)";

    /// Computes the layout for these calls; open calls last until `latest`.
    pub(crate) fn new(calls: &[CallRow], latest: Timestamp, width: usize) -> Self {
        let busy = merged(calls.iter().map(|call| (call.announced, end(call, latest))));
        let id = calls.iter().map(|call| call.id.as_str().chars().count());
        let id = id.max().unwrap_or_default().min(width / 4);
        // Two spaces before the first column, one after each.
        let left = width.saturating_sub(2 + id + 1 + ENDING_COLUMNS + 1 + 2 * (TIME_COLUMNS + 1));
        let title = left.div_ceil(2).max(MIN_TITLE);
        Self {
            total: busy.last().map(BusyInterval::after).unwrap_or_default(),
            busy,
            latest,
            id,
            title,
            bar: left.saturating_sub(title + 1),
        }
    }

    /// Returns the heading of the columns.
    pub(crate) fn head(&self) -> String {
        let head = format!(
            "  {} {} {} {:>TIME_COLUMNS$} {:>TIME_COLUMNS$}",
            fit("call", self.id),
            fit("ending", ENDING_COLUMNS),
            fit("title", self.title),
            "waited",
            "ran"
        );
        paint(BOLD, &head)
    }

    /// Returns the line of one call.
    pub(crate) fn line(&self, call: &CallRow) -> String {
        let display = outcome(&call.status);
        let ending = format!(
            "{} {}",
            display.symbol,
            fit(display.word, ENDING_COLUMNS - 2)
        );
        format!(
            "  {} {} {} {:>TIME_COLUMNS$} {:>TIME_COLUMNS$} {}",
            fit(call.id.as_str(), self.id),
            paint(display.style, &ending),
            fit(&call.title, self.title),
            duration(call.waited),
            duration(call.ran),
            self.bar(call, display.style)
        )
    }

    fn bar(&self, call: &CallRow, style: Style) -> String {
        let ends = end(call, self.latest);
        // The user was waited for before the call started.
        let runs = call.started.unwrap_or(ends);
        let asked = Timestamp::from_micros(
            (runs.as_micros()).saturating_sub(u64::try_from(call.waited.as_micros()).unwrap_or(0)),
        );
        let [from, ask, run, to] = [call.announced, asked, runs, ends].map(|at| self.column(at));
        let mut cells = [
            (DIM, "·", ask.saturating_sub(from)),
            (ATTENTION, "░", run.saturating_sub(ask)),
            (style, "█", to.saturating_sub(run)),
        ];
        if cells.iter().all(|(_, _, columns)| *columns == 0) {
            // Too short for the scale: the longest part gets one column.
            let longest = match (call.started, call.waited) {
                (Some(_), waited) if waited <= call.ran => 2,
                (_, Duration::ZERO) => 0,
                (_, _) => 1,
            };
            cells[longest].2 = 1;
        }
        let used: usize = cells.iter().map(|(_, _, columns)| columns).sum();
        let before = from.min(self.bar.saturating_sub(used));
        let drawn = cells.map(|(style, drawn, columns)| paint(style, &drawn.repeat(columns)));
        format!("{}{}", " ".repeat(before), drawn.concat())
    }

    /// Returns the column of a time.
    fn column(&self, at: Timestamp) -> usize {
        let begun = self.busy.partition_point(|busy| busy.from <= at);
        let last = begun.checked_sub(1).and_then(|last| self.busy.get(last));
        let passed = last.map(|busy| busy.before + at.min(busy.to).since(busy.from));
        let passed = passed.unwrap_or_default();
        let part = passed.as_secs_f64() / self.total.as_secs_f64().max(1e-6);
        ((part * self.bar as f64).round() as usize).min(self.bar)
    }
}

fn end(call: &CallRow, latest: Timestamp) -> Timestamp {
    call.ended.unwrap_or(latest).max(call.announced)
}

impl BusyInterval {
    fn after(&self) -> Duration {
        self.before + self.to.since(self.from)
    }
}

/// Merges overlapping intervals, and sorts them.
fn merged(spans: impl Iterator<Item = (Timestamp, Timestamp)>) -> Vec<BusyInterval> {
    let mut sorted: Vec<(Timestamp, Timestamp)> = spans.collect();
    sorted.sort_unstable();
    let mut merged: Vec<BusyInterval> = Vec::new();
    for (from, to) in sorted {
        match merged.last_mut() {
            Some(busy) if from <= busy.to => busy.to = to.max(busy.to),
            last => {
                let before = last.map(|busy| busy.after()).unwrap_or_default();
                merged.push(BusyInterval { from, to, before });
            }
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use toolcall::{CallId, Kind, SessionId};

    use super::*;

    #[test]
    fn lines_fit_where_there_is_little_room() {
        let mut long = call(1, "completed", [Some(0), Some(1), Some(5)], 0);
        long.id = CallId::new("call-0123456789ab-0123456789ab");
        let calls = [long, call(2, "denied", [Some(0), None, Some(4)], 3)];
        for calls in [&calls[..], &calls[1..]] {
            let timeline = Timeline::new(calls, Timestamp::default(), 60);
            for line in calls.iter().map(|call| timeline.line(call)) {
                let plain = anstream::adapter::strip_str(&line).to_string();
                assert!(textwrap::core::display_width(&plain) <= 60, "{plain}");
            }
        }
    }

    fn call(number: u32, status: &str, times: [Option<u64>; 3], waited: u64) -> CallRow {
        let at = |second: u64| Timestamp::from_micros(second * 1_000_000);
        let [announced, started, ended] = times;
        let ran = ended.unwrap_or(100).saturating_sub(started.unwrap_or(100));
        CallRow {
            session: SessionId::new("s"),
            id: CallId::new(format!("call-{number}")),
            parent: None,
            tool: "tool".into(),
            kind: Kind::Read,
            title: format!("Call number {number} 日本語の長い題名です"),
            status: status.into(),
            reason: None,
            effect: None,
            judge: None,
            rule: None,
            announced: at(announced.unwrap_or_default()),
            started: started.map(at),
            ended: ended.map(at),
            queued: Duration::ZERO,
            waited: Duration::from_secs(waited),
            ran: Duration::from_secs(ran),
            bytes: 0,
        }
    }

    #[test]
    fn bars_are_to_scale_and_idle_time_is_left_out() {
        let calls = [
            call(1, "completed", [Some(0), Some(1), Some(5)], 0),
            call(2, "denied", [Some(0), None, Some(4)], 3),
            call(3, "completed", [Some(1000), Some(1000), Some(1000)], 0),
            call(4, "running", [Some(1001), Some(1002), None], 0),
        ];
        let latest = Timestamp::from_micros(1_006_000_000);
        let timeline = Timeline::new(&calls, latest, 80);
        let lines = calls.iter().map(|call| timeline.line(call));
        let lines: Vec<String> = std::iter::once(timeline.head()).chain(lines).collect();
        let mut text = String::new();
        for line in &lines {
            let plain = anstream::adapter::strip_str(line).to_string();
            assert!(textwrap::core::display_width(&plain) <= 80, "{plain}");
            text += &format!("|{plain}\n");
        }
        expect![[r#"
            |  call   ending       title                  waited     ran
            |  call-1 ✓ completed  Call number 1 日本語…       -  4.00 s ··████████
            |  call-2 ✗ denied     Call number 2 日本語…  3.00 s       - ··░░░░░░
            |  call-3 ✓ completed  Call number 3 日本語…       -       -           █
            |  call-4 ▸ running    Call number 4 日本語…       -       -           ··████████
        "#]]
        .assert_eq(&text);
    }
}
