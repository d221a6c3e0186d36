//! Statistics equal a naive recomputation from the replayed calls.
//! The recomputation shares no code with the crate, only the core's own timing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use toolcall::{
    CallId, Canceller, Decision, Effect, Ending, Event, FileEdit, Intent, Judge, Kind, Prepared,
    Question, QuestionId, Record, Remembered, RuleName, SessionId, Store, Timestamp, ToolCall,
    replay,
};
use toolcall_history::{Percentiles, SessionEvent, SessionFacts, StatsGroup, StatsPeriod};

use crate::setup::{TestHistory, announced, decided, finished};

/// A random call.
#[derive(Clone, Debug)]
struct RandomCall {
    session: usize,
    tool: usize,
    ending: usize,
    asked: bool,
    file: usize,
    /// In milliseconds: when it begins, how long it waits for the user, how long it runs.
    begin: u64,
    wait: u64,
    run: u64,
}

const TOOLS: [(&str, Kind); 3] = [
    ("read", Kind::Read),
    ("edit", Kind::Edit),
    ("run", Kind::Execute),
];

fn any_random_call() -> impl Strategy<Value = RandomCall> {
    let times = (0..400_000_000_u64, 0..5000_u64, 0..9000_u64);
    (
        0..3_usize,
        0..3_usize,
        0..8_usize,
        any::<bool>(),
        0..4_usize,
        times,
    )
        .prop_map(
            |(session, tool, ending, asked, file, (begin, wait, run))| RandomCall {
                session,
                tool,
                ending,
                asked,
                file,
                begin,
                wait,
                run,
            },
        )
}

fn at(millis: u64) -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000 + millis * 1000)
}

/// The records of one call, as an engine would write them.
fn records(number: usize, plan: &RandomCall) -> Vec<Record> {
    let (tool, kind) = TOOLS[plan.tool];
    let id = CallId::new(format!("call-{number}"));
    let edit = FileEdit::added(format!("/work/{}", plan.file), "text");
    let intent = match kind {
        Kind::Edit => Intent::new(kind, tool).editing(edit),
        other => Intent::new(other, tool).reading("/work/0"),
    };
    let subject = Arc::new(Prepared {
        input: Arc::new(json!({})),
        intent,
    });
    let session = SessionId::new(format!("session-{}", plan.session));
    let announced = Event::Announced(Arc::new(announced(tool, json!({}))));
    let mut events = vec![
        (plan.begin, announced),
        (plan.begin, Event::Prepared(subject.clone())),
    ];
    events.extend(deciding(plan, &id, &session, subject));
    if let Some(ending) = ending(plan) {
        let at = plan.begin + plan.wait + plan.run;
        events.push((at, finished(ending, "twelve bytes")));
    }
    let record = |(millis, event)| Record {
        session: session.clone(),
        call: id.clone(),
        at: at(millis),
        event,
    };
    events.into_iter().map(record).collect()
}

/// The question if there is one, the decision, and the start if it was allowed.
fn deciding(
    plan: &RandomCall,
    id: &CallId,
    session: &SessionId,
    subject: Arc<Prepared>,
) -> Vec<(u64, Event)> {
    let mut events = Vec::new();
    let decided_at = plan.begin + plan.wait;
    let effect = match plan.ending {
        1 => Effect::Deny,
        _other => Effect::Allow,
    };
    let rule = if plan.tool == 0 { "one" } else { "two" };
    let mut decision = decided(effect, rule);
    if plan.asked {
        let question = Question {
            id: QuestionId::new("q"),
            session: session.clone(),
            call: id.clone(),
            subject,
            offers: Vec::new(),
            because: RuleName::new("ask"),
        };
        decision = Event::Decided(Arc::new(Decision {
            question: Some(question.id.clone()),
            effect,
            by: Judge::Person(Remembered::Once),
        }));
        events.push((plan.begin, Event::Asked(Arc::new(question))));
    }
    events.push((decided_at, decision));
    if effect == Effect::Allow {
        events.push((decided_at, Event::Started));
    }
    events
}

fn ending(plan: &RandomCall) -> Option<Ending> {
    Some(match plan.ending {
        1 => Ending::denied("no"),
        2 => Ending::failed("it broke"),
        3 => Ending::Cancelled {
            by: Canceller::Person,
        },
        4 => Ending::TimedOut {
            after: Duration::from_secs(1),
        },
        5 => Ending::interrupted("gone"),
        6 => return None,
        _more_that_complete => Ending::Completed,
    })
}

/// Computes the statistics of calls in the simplest way.
fn naive(name: &str, calls: &[(&str, ToolCall)]) -> StatsGroup {
    let ended = |wanted: &str| {
        let is = |call: &ToolCall| call.ending().is_some_and(|ending| ending.name() == wanted);
        calls.iter().filter(|(_, call)| is(call)).count() as u64
    };
    let timing = |call: &ToolCall| call.timing(call.announced_at());
    let mut times: Vec<Duration> = calls
        .iter()
        .filter(|(_, call)| call.has_started() && call.ending().is_some())
        .map(|(_, call)| timing(call).ran)
        .collect();
    times.sort();
    let rank = |percent: f64| {
        let rank = (percent / 100.0 * times.len() as f64).ceil() as usize;
        times.get(rank.max(1) - 1).copied().unwrap_or_default()
    };
    StatsGroup {
        name: name.to_owned(),
        calls: calls.len() as u64,
        completed: ended("completed"),
        failed: ended("failed"),
        denied: ended("denied"),
        cancelled: ended("cancelled"),
        timed_out: ended("timed_out"),
        interrupted: ended("interrupted"),
        open: calls
            .iter()
            .filter(|(_, call)| call.ending().is_none())
            .count() as u64,
        ran: Percentiles {
            p50: rank(50.0),
            p95: rank(95.0),
            p99: rank(99.0),
            most: times.last().copied().unwrap_or_default(),
            total: times.iter().sum(),
        },
        waited: calls.iter().map(|(_, call)| timing(call).waited).sum(),
        bytes: 12
            * calls
                .iter()
                .filter(|(_, call)| call.ending().is_some())
                .count() as u64,
    }
}

fn grouped<'c>(
    calls: &[(&'c str, ToolCall)],
    key: impl Fn(&str, &ToolCall) -> String,
) -> BTreeMap<String, StatsGroup> {
    let mut groups: BTreeMap<String, Vec<(&'c str, ToolCall)>> = BTreeMap::new();
    for (agent, call) in calls {
        groups
            .entry(key(agent, call))
            .or_default()
            .push((agent, call.clone()));
    }
    let group = |(name, calls): (String, Vec<_>)| (name.clone(), naive(&name, &calls));
    groups.into_iter().map(group).collect()
}

fn named(groups: &[StatsGroup]) -> BTreeMap<String, StatsGroup> {
    groups
        .iter()
        .map(|group| (group.name.clone(), group.clone()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn statistics_equal_a_naive_recomputation(plans in vec(any_random_call(), 0..60)) {
        let files = TestHistory::default();
        let history = files.open();
        let agents = ["one agent", "another", ""];
        for (number, agent) in agents.iter().enumerate() {
            let facts = SessionFacts { agent: (*agent).into(), ..SessionFacts::default() };
            let session = SessionId::new(format!("session-{number}"));
            drop(history.record(&session, SessionEvent::Opened(facts)));
        }
        for (number, plan) in plans.iter().enumerate() {
            for record in records(number, plan) {
                drop(history.append(record));
            }
        }
        let archive = history.archive().expect("an archive");
        let mut calls = Vec::new();
        for (number, agent) in agents.into_iter().enumerate() {
            let session = SessionId::new(format!("session-{number}"));
            let records = archive.records(&session).expect("records");
            calls.extend(replay(&records).into_iter().map(|call| (agent, call)));
        }
        prop_assert_eq!(calls.len(), plans.len());
        let stats = archive.stats(StatsPeriod::ALL).expect("statistics");
        // The duration of an open call ends with its last record.
        prop_assert_eq!(&stats.all, &naive("all", &calls));
        prop_assert_eq!(named(&stats.by_tool), grouped(&calls, |_, call| call.tool().to_string()));
        prop_assert_eq!(named(&stats.by_kind), grouped(&calls, |_, call| call.kind().as_str().to_owned()));
        prop_assert_eq!(named(&stats.by_agent), grouped(&calls, |agent, _| agent.to_owned()));
        let day = |_: &str, call: &ToolCall| {
            let day = call.announced_at().as_micros() / 86_400_000_000;
            // 19675 is the 14th of November 2023.
            format!("2023-11-{:02}", day - 19_675 + 14)
        };
        prop_assert_eq!(named(&stats.by_day), grouped(&calls, day));
        check_lists(&stats, &calls)?;
        let half = StatsPeriod { from: at(0), until: at(200_000_000) };
        let is_early = |(_, call): &&(&str, ToolCall)| call.announced_at() < half.until;
        let early: Vec<_> = calls.iter().filter(is_early).cloned().collect();
        prop_assert_eq!(archive.stats(half).expect("statistics").all, naive("all", &early));
        prop_assert_eq!(archive.verify().err(), None);
    }
}

fn check_lists(
    stats: &toolcall_history::Stats,
    calls: &[(&str, ToolCall)],
) -> Result<(), TestCaseError> {
    let mut denials: BTreeMap<String, u64> = BTreeMap::new();
    let mut edited: BTreeMap<String, u64> = BTreeMap::new();
    let mut longest = Vec::new();
    for (_, call) in calls {
        let decision = call.decision().expect("it was decided");
        if decision.effect == Effect::Deny {
            let by = match &decision.by {
                Judge::Rule(rule) => rule.as_str(),
                Judge::Person(_) => "person",
                Judge::Unseen => "unseen",
            };
            *denials.entry(by.to_owned()).or_default() += 1;
        }
        if call.kind() == Kind::Edit && call.ending() == Some(&Ending::Completed) {
            let path = call.locations()[0].path.to_string_lossy().into_owned();
            *edited.entry(path).or_default() += 1;
        }
        if call.has_started() && call.ending().is_some() {
            longest.push(call.timing(call.announced_at()).ran);
        }
    }
    longest.sort();
    longest.reverse();
    longest.truncate(10);
    prop_assert_eq!(
        stats.denials.iter().cloned().collect::<BTreeMap<_, _>>(),
        denials
    );
    prop_assert_eq!(
        stats
            .most_edited
            .iter()
            .cloned()
            .collect::<BTreeMap<_, _>>(),
        edited
    );
    let slowest: Vec<Duration> = stats.slowest.iter().map(|call| call.ran).collect();
    prop_assert_eq!(slowest, longest);
    Ok(())
}
