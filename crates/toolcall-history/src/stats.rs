//! Statistics of calls: counts, durations, waiting times and denials, by tool, kind, agent and day.
//! It counts rows of the `calls` table; it folds no records.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::time::Duration;

use toolcall::Timestamp;

use crate::archive::Archive;
use crate::error::HistoryError;
use crate::query::{CALL_COLUMNS, CallRow, duration};
use crate::record_writer::micros;

/// The length of the lists of slowest calls, most edited files and denying rules.
const TOP_COUNT: usize = 10;

/// The period in which the counted calls were announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatsPeriod {
    /// The start of the period, included.
    pub from: Timestamp,
    /// The end of the period, excluded.
    pub until: Timestamp,
}

impl StatsPeriod {
    /// All calls.
    pub const ALL: StatsPeriod = StatsPeriod {
        from: Timestamp::from_micros(0),
        until: Timestamp::from_micros(u64::MAX),
    };
}

/// The statistics of the calls of a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// All calls together.
    pub all: StatsGroup,
    /// Calls by tool, the most frequent first.
    pub by_tool: Vec<StatsGroup>,
    /// Calls by kind, the most frequent first.
    pub by_kind: Vec<StatsGroup>,
    /// Calls by agent, the most frequent first.
    pub by_agent: Vec<StatsGroup>,
    /// Calls by day (UTC, `2026-01-31`), in order.
    pub by_day: Vec<StatsGroup>,
    /// The rules that denied calls and how often, the most frequent first.
    pub denials: Vec<(String, u64)>,
    /// The ended calls that ran longest.
    pub slowest: Vec<CallRow>,
    /// The files that the most calls changed, and how many did.
    pub most_edited: Vec<(String, u64)>,
}

/// The statistics of a group of calls, such as those of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsGroup {
    /// The name of the group: a tool, a kind, an agent or a day.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// Calls that completed.
    pub completed: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were denied.
    pub denied: u64,
    /// Calls that were cancelled.
    pub cancelled: u64,
    /// Calls that timed out.
    pub timed_out: u64,
    /// Calls whose process ended before they did.
    pub interrupted: u64,
    /// Calls that have not ended.
    pub open: u64,
    /// How long the calls ran that started and ended.
    pub ran: Percentiles,
    /// How long all calls together waited for the user.
    pub waited: Duration,
    /// The size of their outputs and results, in bytes.
    pub bytes: u64,
}

impl StatsGroup {
    /// Returns the completed part of the ended calls, from 0 to 1; `None` if none ended.
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.calls - self.open;
        (ended > 0).then(|| self.completed as f64 / ended as f64)
    }
}

/// Percentiles of durations, by nearest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percentiles {
    /// 50 % of the calls took at most this long.
    pub p50: Duration,
    /// 95 % of the calls took at most this long.
    pub p95: Duration,
    /// 99 % of the calls took at most this long.
    pub p99: Duration,
    /// The longest duration.
    pub most: Duration,
    /// The sum of all durations.
    pub total: Duration,
}

impl Archive {
    /// Returns the statistics of a period, in one pass over its calls and one over the touched files.
    pub fn stats(&self, period: StatsPeriod) -> Result<Stats, HistoryError> {
        let snapshot = self.db.unchecked_transaction()?;
        let mut builder = StatsBuilder::default();
        self.count_calls(period, &mut builder)?;
        let most_edited = self.most_edited(&builder.completed)?;
        let slowest = self.slowest(builder.slowest)?;
        drop(snapshot);
        Ok(Stats {
            all: builder.all.group("all".to_owned()),
            by_tool: builder.tools.groups(),
            by_kind: builder.kinds.groups(),
            by_agent: builder.agents.groups(),
            by_day: by_day(builder.days),
            denials: top_counts(builder.denials),
            slowest,
            most_edited,
        })
    }

    fn count_calls(
        &self,
        period: StatsPeriod,
        builder: &mut StatsBuilder,
    ) -> Result<(), HistoryError> {
        let agents = self.agents()?;
        // A full scan is fastest in row order.
        let order = if period == StatsPeriod::ALL {
            "NOT INDEXED"
        } else {
            ""
        };
        let sql = format!(
            "SELECT id, session, tool, kind, status, announced, started IS NOT NULL, ended IS NOT NULL,
               ran, waited, bytes, CASE effect WHEN 'deny' THEN coalesce(rule, judge, '') END
             FROM calls {order} WHERE announced >= ?1 AND announced < ?2"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let mut rows = find.query([micros(period.from), micros(period.until)])?;
        while let Some(row) = rows.next()? {
            let text = |at: usize| {
                row.get_ref(at)
                    .map(|text| text.as_str().unwrap_or_default())
            };
            let (started, ended): (bool, bool) = (row.get(6)?, row.get(7)?);
            let call = CountedCall {
                id: row.get(0)?,
                status: text(4)?,
                ran: (started && ended).then(|| row.get(8)).transpose()?,
                waited: row.get(9)?,
                bytes: row.get(10)?,
            };
            builder.all.add(&call);
            builder.tools.of(text(2)?).add(&call);
            builder.kinds.of(text(3)?).add(&call);
            let agent = agents.get(&row.get(1)?).map_or("", String::as_str);
            builder.agents.of(agent).add(&call);
            let day = row.get::<_, i64>(5)?.div_euclid(MICROS_A_DAY);
            builder.days.entry(day).or_default().add(&call);
            if let Some(rule) = row.get::<_, Option<String>>(11)? {
                *builder.denials.entry(rule).or_default() += 1;
            }
            builder.add_to_lists(&call);
        }
        Ok(())
    }

    fn agents(&self) -> Result<HashMap<i64, String>, HistoryError> {
        let mut find = self.db.prepare_cached("SELECT id, agent FROM sessions")?;
        let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Reads the rows ordered by path, so that only the names of files are held in memory.
    fn most_edited(&self, completed: &HashSet<i64>) -> Result<Vec<(String, u64)>, HistoryError> {
        let sql = "SELECT DISTINCT path, call FROM touches WHERE how <> 'read' ORDER BY path, call";
        let mut find = self.db.prepare_cached(sql)?;
        let mut rows = find.query([])?;
        let mut times: HashMap<String, u64> = HashMap::new();
        while let Some(row) = rows.next()? {
            if completed.contains(&row.get(1)?) {
                *times.entry(row.get(0)?).or_default() += 1;
            }
        }
        Ok(top_counts(times))
    }

    fn slowest(
        &self,
        ids: BinaryHeap<Reverse<(i64, Reverse<i64>)>>,
    ) -> Result<Vec<CallRow>, HistoryError> {
        let sql = format!(
            "SELECT {CALL_COLUMNS} FROM calls JOIN sessions ON sessions.id = calls.session
             WHERE calls.id = ?1"
        );
        let mut find = self.db.prepare_cached(&sql)?;
        let read_row = |Reverse((_, Reverse(id)))| Ok(find.query_row([id], CallRow::read)?);
        ids.into_sorted_vec().into_iter().map(read_row).collect()
    }
}

/// Returns the ten highest counts, the highest first.
fn top_counts(counts: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    counts.truncate(TOP_COUNT);
    counts
}

#[derive(Default)]
struct StatsBuilder {
    all: GroupBuilder,
    tools: GroupsByName,
    kinds: GroupsByName,
    agents: GroupsByName,
    days: HashMap<i64, GroupBuilder>,
    denials: HashMap<String, u64>,
    completed: HashSet<i64>,
    /// The fastest of the slowest calls is on top; of equals, the later one.
    slowest: BinaryHeap<Reverse<(i64, Reverse<i64>)>>,
}

impl StatsBuilder {
    fn add_to_lists(&mut self, call: &CountedCall<'_>) {
        if call.status == "completed" {
            self.completed.insert(call.id);
        }
        let Some(ran) = call.ran else {
            return;
        };
        self.slowest.push(Reverse((ran, Reverse(call.id))));
        if self.slowest.len() > TOP_COUNT {
            self.slowest.pop();
        }
    }
}

/// The columns of a call that are counted.
struct CountedCall<'a> {
    id: i64,
    status: &'a str,
    /// How long it ran, if it started and ended.
    ran: Option<i64>,
    waited: i64,
    bytes: i64,
}

#[derive(Default)]
struct GroupBuilder {
    group: StatsGroup,
    times: Vec<i64>,
}

/// Group builders by name; a name is copied only when it is new.
#[derive(Default)]
struct GroupsByName {
    indices: HashMap<String, usize>,
    builders: Vec<GroupBuilder>,
}

impl GroupsByName {
    fn of(&mut self, name: &str) -> &mut GroupBuilder {
        let index = match self.indices.get(name) {
            Some(index) => *index,
            None => {
                self.indices.insert(name.to_owned(), self.builders.len());
                self.builders.push(GroupBuilder::default());
                self.builders.len() - 1
            }
        };
        &mut self.builders[index]
    }

    /// Returns the groups, the largest first.
    fn groups(mut self) -> Vec<StatsGroup> {
        let group =
            |(name, index): (String, usize)| std::mem::take(&mut self.builders[index]).group(name);
        let mut groups: Vec<StatsGroup> = self.indices.into_iter().map(group).collect();
        groups.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        groups
    }
}

impl GroupBuilder {
    fn add(&mut self, call: &CountedCall<'_>) {
        let group = &mut self.group;
        group.calls += 1;
        match call.status {
            "completed" => group.completed += 1,
            "failed" => group.failed += 1,
            "denied" => group.denied += 1,
            "cancelled" => group.cancelled += 1,
            "timed_out" => group.timed_out += 1,
            "interrupted" => group.interrupted += 1,
            _still_open => group.open += 1,
        }
        group.waited += duration(call.waited);
        group.bytes += call.bytes.unsigned_abs();
        self.times.extend(call.ran);
    }

    fn group(mut self, name: String) -> StatsGroup {
        self.times.sort_unstable();
        self.group.ran = percentiles(&self.times);
        self.group.name = name;
        self.group
    }
}

/// Computes percentiles by nearest rank: each is a duration that some call took.
fn percentiles(sorted: &[i64]) -> Percentiles {
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100);
        let time = rank.checked_sub(1).and_then(|place| sorted.get(place));
        time.map_or(Duration::ZERO, |time| duration(*time))
    };
    Percentiles {
        p50: at(50),
        p95: at(95),
        p99: at(99),
        most: at(100),
        total: sorted.iter().map(|time| duration(*time)).sum(),
    }
}

fn by_day(builders: HashMap<i64, GroupBuilder>) -> Vec<StatsGroup> {
    let mut days: Vec<(i64, GroupBuilder)> = builders.into_iter().collect();
    days.sort_by_key(|(day, _)| *day);
    let named = |(day, tally): (i64, GroupBuilder)| tally.group(date(day));
    days.into_iter().map(named).collect()
}

const MICROS_A_DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// Returns the date of a day since 1970. The calendar repeats every 400 years (146,097 days); years are
/// counted from March, so that a leap day is the last day of its year.
fn date(day: i64) -> String {
    let shifted = day + 719_468;
    let (era, in_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let in_month = in_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{in_month:02}", year + era * 400 + carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        let dates = [0, 58, 59, 11_016, 11_017, 19_782, 20_453, 24_837].map(date);
        let expected = [
            "1970-01-01",
            "1970-02-28",
            "1970-03-01",
            "2000-02-29",
            "2000-03-01",
            "2024-02-29",
            "2025-12-31",
            "2038-01-01",
        ];
        assert_eq!(dates, expected);
    }

    #[test]
    fn ranks_are_times_that_were_taken() {
        let micros = Duration::from_micros;
        let hundred: Vec<i64> = (1..=100).collect();
        let expected = Percentiles {
            p50: micros(50),
            p95: micros(95),
            p99: micros(99),
            most: micros(100),
            total: micros(5050),
        };
        assert_eq!(percentiles(&hundred), expected);
        assert_eq!(percentiles(&[]), Percentiles::default());
        assert_eq!(percentiles(&[7]).p50, micros(7));
    }
}
