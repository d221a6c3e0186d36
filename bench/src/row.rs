//! The outcome of a case, and how outcomes are printed: an aligned table or one JSON object per row.
//! It measures nothing.

use serde_json::json;

/// The outcome of one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was compared.
    pub name: String,
    /// The median of what one of our operations took.
    pub ours: f64,
    /// The median of what one operation of the reference took.
    pub reference: f64,
    /// What both are counted in.
    pub unit: Unit,
    /// Ours divided by the reference.
    pub ratio: Ratio,
    /// How many pairs were run.
    pub pairs: usize,
    /// The ratio that is wanted, if one is.
    pub target: Option<Target>,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Time, in nanoseconds.
    Nanoseconds,
    /// Memory, in bytes.
    Bytes,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Nanoseconds => "ns",
            Unit::Bytes => "bytes",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Unit::Nanoseconds => time(value),
            Unit::Bytes => bytes(value),
        }
    }
}

/// The ratios of all pairs: less than 1 means that ours is faster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The median.
    pub median: f64,
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// A bound on the ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// Ours takes at most this many times as much as the reference.
    AtMost(f64),
}

impl Target {
    /// Whether the target is met. It is missed only when the whole spread misses it: anything less may be noise.
    pub fn is_met_by(self, ratio: Ratio) -> bool {
        match self {
            Self::AtMost(bound) => ratio.least <= bound,
        }
    }
}

/// The rows as one JSON object a line.
pub fn as_json(rows: &[Row]) -> String {
    rows.iter()
        .map(|row| format!("{}\n", object(row)))
        .collect()
}

/// The rows as an aligned table with a header; names to the left, numbers to the right.
pub fn as_table(rows: &[Row]) -> String {
    let header = ["case", "ours", "reference", "ratio (spread)", "target"].map(String::from);
    let lines: Vec<_> = std::iter::once(header)
        .chain(rows.iter().map(cells))
        .collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        let lengths = lines.iter().map(|line| line[column].chars().count());
        lengths.max().unwrap_or_default()
    });
    lines.iter().map(|line| aligned(line, widths)).collect()
}

fn object(row: &Row) -> serde_json::Value {
    let bound = row.target.map(|Target::AtMost(bound)| bound);
    json!({
        "name": row.name,
        "ours": row.ours,
        "reference": row.reference,
        "unit": row.unit.name(),
        "ratio": row.ratio.median,
        "ratio_min": row.ratio.least,
        "ratio_max": row.ratio.most,
        "pairs": row.pairs,
        "target": bound,
        "met": row.target.map(|target| target.is_met_by(row.ratio)),
    })
}

fn cells(row: &Row) -> [String; 5] {
    let Ratio {
        median,
        least,
        most,
    } = row.ratio;
    [
        row.name.clone(),
        row.unit.show(row.ours),
        row.unit.show(row.reference),
        format!("{} ({}–{})", factor(median), factor(least), factor(most)),
        row.target
            .map(|target| verdict(target, row.ratio))
            .unwrap_or_default(),
    ]
}

fn verdict(target: Target, ratio: Ratio) -> String {
    let Target::AtMost(bound) = target;
    let word = if target.is_met_by(ratio) {
        "met"
    } else {
        "missed"
    };
    format!("≤ {bound:.2} {word}")
}

/// A small factor needs more digits to say anything.
fn factor(value: f64) -> String {
    if value < 0.1 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}

/// A time in the unit that leaves one to three digits before the point.
fn time(ns: f64) -> String {
    match ns {
        _ if ns < 1e3 => format!("{ns:.1} ns"),
        _ if ns < 1e6 => format!("{:.2} µs", ns / 1e3),
        _ if ns < 1e9 => format!("{:.2} ms", ns / 1e6),
        _ => format!("{:.2} s", ns / 1e9),
    }
}

/// An amount of memory; what is small is told in KiB.
fn bytes(value: f64) -> String {
    let kib = value / 1024.0;
    if kib < 1024.0 {
        format!("{kib:.0} KiB")
    } else {
        format!("{:.1} MiB", kib / 1024.0)
    }
}

fn aligned(line: &[String; 5], widths: [usize; 5]) -> String {
    let [name, ours, reference, ratio, target] = line;
    let [a, b, c, d, _] = widths;
    let text = format!("{name:a$}  {ours:>b$}  {reference:>c$}  {ratio:>d$}  {target}");
    format!("{}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, [ours, reference]: [f64; 2], target: Option<Target>) -> Row {
        Row {
            name: name.into(),
            ours,
            reference,
            unit: Unit::Nanoseconds,
            ratio: Ratio {
                median: 1.5,
                least: 1.25,
                most: 12.0,
            },
            pairs: 7,
            target,
        }
    }

    #[test]
    fn a_target_is_missed_only_by_the_whole_spread() {
        let ratio = row("a", [1.0, 1.0], None).ratio;
        assert!(Target::AtMost(1.25).is_met_by(ratio));
        assert!(!Target::AtMost(1.2).is_met_by(ratio));
    }

    #[test]
    fn the_table_is_aligned() {
        let rows = [
            row("fold", [812.34, 1_500.0], Some(Target::AtMost(2.0))),
            row("a long name", [2.5e6, 3e9], Some(Target::AtMost(1.1))),
            row("free", [1.0, 1.0], None),
        ];
        let expected = "\
case             ours  reference     ratio (spread)  target
fold         812.3 ns    1.50 µs  1.50 (1.25–12.00)  ≤ 2.00 met
a long name   2.50 ms     3.00 s  1.50 (1.25–12.00)  ≤ 1.10 missed
free           1.0 ns     1.0 ns  1.50 (1.25–12.00)
";
        assert_eq!(as_table(&rows), expected);
    }

    #[test]
    fn small_amounts_of_memory_are_told_in_kib() {
        assert_eq!(
            [300.0 * 1024.0, 29.1 * 1024.0 * 1024.0].map(bytes),
            ["300 KiB", "29.1 MiB"]
        );
    }

    #[test]
    fn small_ratios_have_more_digits() {
        assert_eq!(
            [0.00512, 0.1, 12.0].map(factor),
            ["0.0051", "0.10", "12.00"]
        );
    }

    #[test]
    fn json_has_one_object_a_row() {
        let rows = [
            row("fold", [10.0, 20.0], Some(Target::AtMost(2.0))),
            row("free", [1.0, 1.0], None),
        ];
        let text = as_json(&rows);
        let objects: Vec<serde_json::Value> =
            text.lines().map(|line| line.parse().unwrap()).collect();
        let expected = [
            json!({"name": "fold", "ours": 10.0, "reference": 20.0, "unit": "ns", "ratio": 1.5, "ratio_min": 1.25,
                   "ratio_max": 12.0, "pairs": 7, "target": 2.0, "met": true}),
            json!({"name": "free", "ours": 1.0, "reference": 1.0, "unit": "ns", "ratio": 1.5, "ratio_min": 1.25,
                   "ratio_max": 12.0, "pairs": 7, "target": null, "met": null}),
        ];
        assert_eq!(objects, expected);
    }
}
