//! `toolcall stats`: what calls add up to, in figures and small bars.
//! The counting is the library's; here it is only told.

use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall::text::duration;
use toolcall_history::{CallRow, Group, Period, Stats};

use crate::args::{Counting, Grouping};
use crate::history::{call_json, open};
use crate::screen;
use crate::view::{BOLD, DIM, counted, fitted, outcome, painted, width};
use crate::when::millis;

const BAR: usize = 8;
/// Where there is less room than this, the table has fewer columns.
const ROOMY: usize = 76;
const UNKNOWN: &str = "(unknown)";
/// How many single things are named under the table.
const MOST_NAMED: usize = 5;

/// Shows the figures.
pub(crate) fn run(counting: &Counting) -> anyhow::Result<ExitCode> {
    let period = Period {
        from: counting.since.unwrap_or(Period::ALL.from),
        ..Period::ALL
    };
    let stats = open()?.stats(period)?;
    let lines = match counting.json {
        true => vec![format!("{:#}", as_json(&stats))],
        false => [
            head(&stats.all),
            figures(&stats, counting.by, width()),
            rest(&stats),
        ]
        .concat(),
    };
    screen::print(&lines)?;
    Ok(ExitCode::SUCCESS)
}

fn head(all: &Group) -> Vec<String> {
    if all.calls == 0 {
        return vec!["no calls were made in that time".to_owned()];
    }
    let calls = counted(usize::try_from(all.calls).unwrap_or(usize::MAX), "call");
    let said = format!(
        "{calls}, {} completed; people were waited for {}",
        rate(all),
        duration(all.waited)
    );
    vec![fitted(&said, width()).trim_end().to_owned(), String::new()]
}

/// The table, no wider than this.
pub(crate) fn figures(stats: &Stats, by: Grouping, width: usize) -> Vec<String> {
    let (name, groups) = match by {
        Grouping::Tool => ("tool", &stats.by_tool),
        Grouping::Kind => ("kind", &stats.by_kind),
        Grouping::Agent => ("agent", &stats.by_agent),
        Grouping::Day => ("day", &stats.by_day),
    };
    let Some(most) = groups.iter().map(|group| group.calls).max() else {
        return Vec::new();
    };
    let detail = match width < ROOMY {
        true => Detail::Less,
        false => Detail::All,
    };
    let names = groups.iter().map(|group| group.name.chars().count());
    let widest = names.max().unwrap_or_default().max(UNKNOWN.len());
    let room = widest.min(width.saturating_sub(detail.columns()));
    let head = Row {
        name: fitted(name, room),
        calls: "calls".to_owned(),
        bar: " ".repeat(BAR),
        figures: ["ok", "p50", "p95", "p99", "waited", "bytes"].map(str::to_owned),
    };
    let rows = groups.iter().map(|group| row(group, room, most));
    std::iter::once(painted(BOLD, &head.line(detail)))
        .chain(rows.map(|row| row.line(detail)))
        .collect()
}

/// How much of the table there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    All,
    /// No bars, and no p99.
    Less,
}

impl Detail {
    /// The columns beside the name.
    fn columns(self) -> usize {
        let all = 1 + 5 + 1 + BAR + 1 + 5 + 5 * 8;
        match self {
            Detail::All => all,
            Detail::Less => all - (BAR + 1) - 8,
        }
    }
}

/// One row of the table.
struct Row {
    name: String,
    calls: String,
    bar: String,
    /// Success, three run times, waiting, bytes.
    figures: [String; 6],
}

impl Row {
    fn line(&self, detail: Detail) -> String {
        let [ok, p50, p95, p99, waited, bytes] = &self.figures;
        let (name, calls) = (&self.name, &self.calls);
        match detail {
            Detail::All => format!(
                "{name} {calls:>5} {} {ok:>5} {p50:>7} {p95:>7} {p99:>7} {waited:>7} {bytes:>7}",
                painted(DIM, &self.bar)
            ),
            Detail::Less => {
                format!("{name} {calls:>5} {ok:>5} {p50:>7} {p95:>7} {waited:>7} {bytes:>7}")
            }
        }
    }
}

fn row(group: &Group, room: usize, most: u64) -> Row {
    let name = match group.name.is_empty() {
        true => UNKNOWN,
        false => &group.name,
    };
    Row {
        name: fitted(name, room),
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

/// As long as its part of the most, and never nothing where there is something.
fn bar(calls: u64, most: u64) -> String {
    let part = calls as f64 / most.max(1) as f64;
    let full = ((part * BAR as f64).round() as usize).clamp(1, BAR);
    format!("{}{}", "█".repeat(full), " ".repeat(BAR - full))
}

fn rate(group: &Group) -> String {
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

/// What stands out.
fn rest(stats: &Stats) -> Vec<String> {
    let counted = |(name, times): &(String, u64)| format!("{times:>7}  {name}");
    let denials = stats.denials.iter().map(counted).collect();
    let edited = stats.most_edited.iter().map(counted).collect();
    let slowest = stats.slowest.iter().map(slow).collect();
    [
        named("denied by", denials),
        named("slowest", slowest),
        named("most edited", edited),
    ]
    .concat()
}

fn named(title: &str, all: Vec<String>) -> Vec<String> {
    if all.is_empty() {
        return all;
    }
    let lines = all.iter().take(MOST_NAMED);
    let lines = lines.map(|line| fitted(line, width()).trim_end().to_owned());
    let head = [String::new(), painted(BOLD, title)];
    head.into_iter().chain(lines).collect()
}

fn slow(call: &CallRow) -> String {
    let (ran, word) = (duration(call.ran), outcome(&call.status).word);
    format!(
        "{ran:>7}  {}: {} ({word}, {}/{})",
        call.tool, call.title, call.session, call.id
    )
}

fn as_json(stats: &Stats) -> Value {
    let groups = |groups: &[Group]| groups.iter().map(group_json).collect::<Value>();
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

fn group_json(group: &Group) -> Value {
    let Group {
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
        let group = Group {
            name: "a_tool_with_a_very_long_name_indeed".to_owned(),
            calls: 99_999,
            ..Group::default()
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
            for line in figures(&stats, Grouping::Tool, width) {
                let plain = anstream::adapter::strip_str(&line).to_string();
                assert_eq!(textwrap::core::display_width(&plain), width, "{plain}");
            }
        }
        assert_eq!(figures(&stats, Grouping::Day, 80), [""; 0]);
    }

    #[test]
    fn bars_show_that_there_is_something() {
        assert_eq!(bar(1, 1000), "█       ");
        assert_eq!(bar(1000, 1000), "████████");
    }
}
