//! `toolcall stats`: shows figures on calls, with small bars.
//! `toolcall-history` computes them.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::text::duration;
use toolcall_history::{CallRow, Stats, StatsGroup, StatsPeriod};

use crate::args::{StatsArgs, StatsGrouping};
use crate::history::{call_json, open};
use crate::screen;
use crate::time::millis;
use crate::view::{BOLD, DIM, fit, outcome, paint, pluralize, width};

const BAR: usize = 8;
/// The width that the whole table needs; a narrower one has fewer columns.
const FULL_WIDTH: usize = 76;
const UNKNOWN: &str = "(unknown)";
/// How many items each list below the table has.
const MAX_LISTED: usize = 5;

/// Shows the figures.
pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<ExitCode> {
    let period = StatsPeriod {
        from: args.since.unwrap_or(StatsPeriod::ALL.from),
        ..StatsPeriod::ALL
    };
    let stats = open()?.stats(period)?;
    let lines = if args.json {
        vec![format!("{:#}", as_json(&stats))]
    } else {
        let table = figures(&stats, args.by, width());
        [head(&stats.all), table, lists(&stats)].concat()
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn head(all: &StatsGroup) -> Vec<String> {
    if all.calls == 0 {
        return vec!["no calls were made in that time".to_owned()];
    }
    let line = format!(
        "{}, {} completed; waited for you {}",
        pluralize(all.calls, "call"),
        rate(all),
        duration(all.waited)
    );
    vec![fit(&line, width()).trim_end().to_owned(), String::new()]
}

/// Returns the table, at most `width` columns wide.
pub(crate) fn figures(stats: &Stats, by: StatsGrouping, width: usize) -> Vec<String> {
    let (name, groups) = match by {
        StatsGrouping::Tool => ("tool", &stats.by_tool),
        StatsGrouping::Kind => ("kind", &stats.by_kind),
        StatsGrouping::Agent => ("agent", &stats.by_agent),
        StatsGrouping::Day => ("day", &stats.by_day),
    };
    let Some(most) = groups.iter().map(|group| group.calls).max() else {
        return Vec::new();
    };
    let detail = if width < FULL_WIDTH {
        TableDetail::Less
    } else {
        TableDetail::All
    };
    let names = groups.iter().map(|group| group.name.chars().count());
    let widest = names.max().unwrap_or_default().max(UNKNOWN.len());
    let room = widest.min(width.saturating_sub(detail.width()));
    let head = StatsRow {
        name: fit(name, room),
        calls: "calls".to_owned(),
        bar: " ".repeat(BAR),
        figures: ["ok", "p50", "p95", "p99", "waited", "bytes"].map(str::to_owned),
    };
    let rows = groups.iter().map(|group| row(group, room, most));
    std::iter::once(paint(BOLD, &head.line(detail)))
        .chain(rows.map(|row| row.line(detail)))
        .collect()
}

/// How many columns the table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableDetail {
    All,
    /// No bars, and no p99.
    Less,
}

impl TableDetail {
    /// Returns the width of all columns but the name.
    fn width(self) -> usize {
        let all = 1 + 5 + 1 + BAR + 1 + 5 + 5 * 8;
        match self {
            TableDetail::All => all,
            TableDetail::Less => all - (BAR + 1) - 8,
        }
    }
}

/// One row of the table.
struct StatsRow {
    name: String,
    calls: String,
    bar: String,
    /// Success rate, three run times, waiting time, bytes.
    figures: [String; 6],
}

impl StatsRow {
    fn line(&self, detail: TableDetail) -> String {
        let [ok, p50, p95, p99, waited, bytes] = &self.figures;
        let (name, calls) = (&self.name, &self.calls);
        match detail {
            TableDetail::All => format!(
                "{name} {calls:>5} {} {ok:>5} {p50:>7} {p95:>7} {p99:>7} {waited:>7} {bytes:>7}",
                paint(DIM, &self.bar)
            ),
            TableDetail::Less => {
                format!("{name} {calls:>5} {ok:>5} {p50:>7} {p95:>7} {waited:>7} {bytes:>7}")
            }
        }
    }
}

fn row(group: &StatsGroup, room: usize, most: u64) -> StatsRow {
    let name = if group.name.is_empty() {
        UNKNOWN
    } else {
        &group.name
    };
    StatsRow {
        name: fit(name, room),
        calls: group.calls.to_string(),
        bar: bar(group.calls, most),
        figures: [
            rate(group),
            duration(group.ran.p50),
            duration(group.ran.p95),
            duration(group.ran.p99),
            duration(group.waited),
            bytes(group.bytes),
        ],
    }
}

/// Returns a bar in proportion to the largest group, at least one character long.
fn bar(calls: u64, most: u64) -> String {
    let part = calls as f64 / most.max(1) as f64;
    let full = ((part * BAR as f64).round() as usize).clamp(1, BAR);
    format!("{}{}", "█".repeat(full), " ".repeat(BAR - full))
}

fn rate(group: &StatsGroup) -> String {
    match group.success_rate() {
        Some(rate) => format!("{:.0} %", rate * 100.0),
        None => "-".to_owned(),
    }
}

fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ if size < 99.95 => format!("{size:.1} {}", UNITS[unit]),
        _ => format!("{size:.0} {}", UNITS[unit]),
    }
}

/// Returns the lists below the table.
fn lists(stats: &Stats) -> Vec<String> {
    let line = |(name, times): &(String, u64)| format!("{times:>7}  {name}");
    let denials = stats.denials.iter().map(line).collect();
    let edited = stats.most_edited.iter().map(line).collect();
    let slowest = stats.slowest.iter().map(slow_call).collect();
    [
        list("denied by", denials),
        list("slowest", slowest),
        list("most edited", edited),
    ]
    .concat()
}

fn list(title: &str, all: Vec<String>) -> Vec<String> {
    if all.is_empty() {
        return all;
    }
    let lines = all.iter().take(MAX_LISTED);
    let lines = lines.map(|line| fit(line, width()).trim_end().to_owned());
    let head = [String::new(), paint(BOLD, title)];
    head.into_iter().chain(lines).collect()
}

fn slow_call(call: &CallRow) -> String {
    let (ran, word) = (duration(call.ran), outcome(&call.status).word);
    format!(
        "{ran:>7}  {}: {} ({word}, {}/{})",
        call.tool, call.title, call.session, call.id
    )
}

fn as_json(stats: &Stats) -> Value {
    let groups = |groups: &[StatsGroup]| groups.iter().map(group_json).collect::<Value>();
    let counts = |key: &str, counts: &[(String, u64)]| -> Value {
        let count = counts
            .iter()
            .map(|(name, calls)| json!({key: name, "calls": calls}));
        count.collect()
    };
    json!({
        "all": group_json(&stats.all),
        "by_tool": groups(&stats.by_tool),
        "by_kind": groups(&stats.by_kind),
        "by_agent": groups(&stats.by_agent),
        "by_day": groups(&stats.by_day),
        "denials": counts("rule", &stats.denials),
        "slowest": stats.slowest.iter().map(call_json).collect::<Value>(),
        "most_edited": counts("path", &stats.most_edited),
    })
}

fn group_json(group: &StatsGroup) -> Value {
    let StatsGroup {
        name,
        calls,
        completed,
        failed,
        denied,
        cancelled,
        timed_out,
        interrupted,
        open,
        ran,
        waited,
        bytes,
    } = group;
    json!({
        "name": name,
        "calls": calls,
        "completed": completed,
        "failed": failed,
        "denied": denied,
        "cancelled": cancelled,
        "timed_out": timed_out,
        "interrupted": interrupted,
        "open": open,
        "success_rate": group.success_rate(),
        "ran_ms": {
            "p50": millis(ran.p50),
            "p95": millis(ran.p95),
            "p99": millis(ran.p99),
            "most": millis(ran.most),
            "total": millis(ran.total),
        },
        "waited_ms": millis(*waited),
        "bytes": bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_seven_characters() {
        let shown = [0, 999, 1_000, 999_499, 999_500, 12_345_678_901].map(bytes);
        assert_eq!(
            shown,
            ["0 B", "999 B", "1.0 kB", "999 kB", "1.0 MB", "12.3 GB"]
        );
    }

    #[test]
    fn the_table_fits_where_there_is_little_room() {
        let group = StatsGroup {
            name: "a_tool_with_a_very_long_name_indeed".to_owned(),
            calls: 99_999,
            ..StatsGroup::default()
        };
        let stats = Stats {
            all: group.clone(),
            by_tool: vec![group],
            by_kind: Vec::new(),
            by_agent: Vec::new(),
            by_day: Vec::new(),
            denials: Vec::new(),
            slowest: Vec::new(),
            most_edited: Vec::new(),
        };
        for width in [60, 75, 76, 80] {
            for line in figures(&stats, StatsGrouping::Tool, width) {
                let plain = anstream::adapter::strip_str(&line).to_string();
                assert_eq!(textwrap::core::display_width(&plain), width, "{plain}");
            }
        }
        assert_eq!(figures(&stats, StatsGrouping::Day, 80), [""; 0]);
    }

    #[test]
    fn bars_show_that_there_is_something() {
        assert_eq!(bar(1, 1000), "█       ");
        assert_eq!(bar(1000, 1000), "████████");
    }
}
