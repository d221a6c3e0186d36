//! What calls add up to: counts, times, waiting, denials, by tool, kind, agent and day.
//! It counts rows of calls; it neither folds nor guesses.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::time::Duration;

use toolcall::Timestamp;

use crate::archive::Archive;
use crate::error::HistoryError;
use crate::line::{CALL_COLUMNS, CallRow, span};
use crate::record_writer::micros;

/// How many of the slowest calls, most edited files and rules are named.
const MOST_NAMED: usize = 10;

/// The calls that are counted, by when they were announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// From then on.
    pub from: Timestamp,
    /// Up to then.
    pub until: Timestamp,
}

impl Period {
    /// Everything.
    pub const ALL: Period = Period {
        from: Timestamp::from_micros(0),
        until: Timestamp::from_micros(u64::MAX),
    };
}

/// What the calls of a period add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// All of them.
    pub all: Group,
    /// By tool, the most called first.
    pub by_tool: Vec<Group>,
    /// By kind, the most frequent first.
    pub by_kind: Vec<Group>,
    /// By agent, the most active first.
    pub by_agent: Vec<Group>,
    /// By day (of UTC, `2026-01-31`), in order.
    pub by_day: Vec<Group>,
    /// Which rules denied, and how often; the busiest first.
    pub denials: Vec<(String, u64)>,
    /// The calls that ran longest, of those that ended.
    pub slowest: Vec<CallRow>,
    /// The files that most calls changed.
    pub most_edited: Vec<(String, u64)>,
}

/// What some calls add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub name: String,
    /// How many there are.
    pub calls: u64,
    /// Those that did what they should.
    pub completed: u64,
    /// Those that could not.
    pub failed: u64,
    /// Those that were not allowed.
    pub denied: u64,
    /// Those that were stopped.
    pub cancelled: u64,
    /// Those that took too long.
    pub timed_out: u64,
    /// Those whose program went away.
    pub interrupted: u64,
    /// Those that have not ended.
    pub open: u64,
    /// How long those ran that started and ended.
    pub ran: Percentiles,
    /// How long all of them together waited for people.
    pub waited: Duration,
    /// How much they printed and gave back, in bytes.
    pub bytes: u64,
}

impl Group {
    /// The part of those that ended which did what they should.
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.calls - self.open;
        (ended > 0).then(|| self.completed as f64 / ended as f64)
    }
}

/// How times are spread: of so many in a hundred calls, none took longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percentiles {
    /// Half of them.
    pub p50: Duration,
    /// 95 of 100.
    pub p95: Duration,
    /// 99 of 100.
    pub p99: Duration,
    /// The longest.
    pub most: Duration,
    /// All together.
    pub total: Duration,
}

impl Archive {
    /// Adds up the calls of a period, in one pass over them and one over what they changed.
    pub fn stats(&self, period: Period) -> Result<Stats, HistoryError> {
        let look = self.db.unchecked_transaction()?;
        let mut count = Count::default();
        self.count(period, &mut count)?;
        let most_edited = self.most_edited(&count.completed)?;
        let slowest = self.slowest(count.slowest)?;
        drop(look);
        Ok(Stats {
            all: count.all.group("all".to_owned()),
            by_tool: count.tools.groups(),
            by_kind: count.kinds.groups(),
            by_agent: count.agents.groups(),
            by_day: by_day(count.days),
            denials: busiest(count.denials),
            slowest,
            most_edited,
        })
    }

    fn count(&self, period: Period, count: &mut Count) -> Result<(), HistoryError> {
        let agents = self.agents()?;
        // Everything is read fastest in the order in which it lies.
        let order = if period == Period::ALL {
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
            let one = One {
                id: row.get(0)?,
                status: text(4)?,
                ran: (started && ended).then(|| row.get(8)).transpose()?,
                waited: row.get(9)?,
                bytes: row.get(10)?,
            };
            count.all.add(&one);
            count.tools.of(text(2)?).add(&one);
            count.kinds.of(text(3)?).add(&one);
            let agent = agents.get(&row.get(1)?).map_or("", String::as_str);
            count.agents.of(agent).add(&one);
            let day = row.get::<_, i64>(5)?.div_euclid(MICROS_A_DAY);
            count.days.entry(day).or_default().add(&one);
            if let Some(rule) = row.get::<_, Option<String>>(11)? {
                *count.denials.entry(rule).or_default() += 1;
            }
            count.remember(&one);
        }
        Ok(())
    }

    fn agents(&self) -> Result<HashMap<i64, String>, HistoryError> {
        let mut find = self.db.prepare_cached("SELECT id, agent FROM sessions")?;
        let rows = find.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Paths come in order, and the calls of each, so that nothing but the names of files is held.
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
        Ok(busiest(times))
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
        let line = |Reverse((_, Reverse(id)))| Ok(find.query_row([id], CallRow::read)?);
        ids.into_sorted_vec().into_iter().map(line).collect()
    }
}

/// The largest first.
fn busiest(times: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut times: Vec<(String, u64)> = times.into_iter().collect();
    times.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    times.truncate(MOST_NAMED);
    times
}

#[derive(Default)]
struct Count {
    all: Tally,
    tools: Tallies,
    kinds: Tallies,
    agents: Tallies,
    days: HashMap<i64, Tally>,
    denials: HashMap<String, u64>,
    completed: HashSet<i64>,
    /// The quickest of the slowest is on top; of equals, the later call.
    slowest: BinaryHeap<Reverse<(i64, Reverse<i64>)>>,
}

impl Count {
    fn remember(&mut self, one: &One<'_>) {
        if one.status == "completed" {
            self.completed.insert(one.id);
        }
        let Some(ran) = one.ran else {
            return;
        };
        self.slowest.push(Reverse((ran, Reverse(one.id))));
        if self.slowest.len() > MOST_NAMED {
            self.slowest.pop();
        }
    }
}

/// One call, as far as it is counted.
struct One<'a> {
    id: i64,
    status: &'a str,
    /// If it started and ended.
    ran: Option<i64>,
    waited: i64,
    bytes: i64,
}

#[derive(Default)]
struct Tally {
    group: Group,
    times: Vec<i64>,
}

/// Tallies by name; a name is copied only when it is new.
#[derive(Default)]
struct Tallies {
    places: HashMap<String, usize>,
    tallies: Vec<Tally>,
}

impl Tallies {
    fn of(&mut self, name: &str) -> &mut Tally {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.places.insert(name.to_owned(), self.tallies.len());
                self.tallies.push(Tally::default());
                self.tallies.len() - 1
            }
        };
        &mut self.tallies[place]
    }

    /// The largest first.
    fn groups(mut self) -> Vec<Group> {
        let group =
            |(name, place): (String, usize)| std::mem::take(&mut self.tallies[place]).group(name);
        let mut groups: Vec<Group> = self.places.into_iter().map(group).collect();
        groups.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        groups
    }
}

impl Tally {
    fn add(&mut self, one: &One<'_>) {
        let group = &mut self.group;
        group.calls += 1;
        match one.status {
            "completed" => group.completed += 1,
            "failed" => group.failed += 1,
            "denied" => group.denied += 1,
            "cancelled" => group.cancelled += 1,
            "timed_out" => group.timed_out += 1,
            "interrupted" => group.interrupted += 1,
            _still_open => group.open += 1,
        }
        group.waited += span(one.waited);
        group.bytes += one.bytes.unsigned_abs();
        self.times.extend(one.ran);
    }

    fn group(mut self, name: String) -> Group {
        self.times.sort_unstable();
        self.group.ran = spread(&self.times);
        self.group.name = name;
        self.group
    }
}

/// By nearest rank: a time that some call took.
fn spread(sorted: &[i64]) -> Percentiles {
    let at = |percent: usize| {
        let rank = (sorted.len() * percent).div_ceil(100);
        let time = rank.checked_sub(1).and_then(|place| sorted.get(place));
        time.map_or(Duration::ZERO, |time| span(*time))
    };
    Percentiles {
        p50: at(50),
        p95: at(95),
        p99: at(99),
        most: at(100),
        total: sorted.iter().map(|time| span(*time)).sum(),
    }
}

fn by_day(tallies: HashMap<i64, Tally>) -> Vec<Group> {
    let mut days: Vec<(i64, Tally)> = tallies.into_iter().collect();
    days.sort_by_key(|(day, _)| *day);
    let named = |(day, tally): (i64, Tally)| tally.group(date(day));
    days.into_iter().map(named).collect()
}

const MICROS_A_DAY: i64 = 24 * 60 * 60 * 1_000_000;

/// The date of a day since 1970, by the calendar that repeats every 400 years (146,097 days). Years
/// are counted from March, so that the day that leap years add is the last.
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
        assert_eq!(spread(&hundred), expected);
        assert_eq!(spread(&[]), Percentiles::default());
        assert_eq!(spread(&[7]).p50, micros(7));
    }
}
