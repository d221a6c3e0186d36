//! Properties of a call that hold for any events, in any order and at any times.
//! It must not know how a call stores its state: it uses the public API.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use toolcall::{
    Announced, CallId, Decision, Effect, Ending, Event, Irregularity, Progress, SessionId, Status,
    Timestamp, Timing, ToolCall,
};

use toolcall_testkit::events::{any_announced, any_event};

/// A call's announcement, and everything that arrives for it afterwards.
#[derive(Clone, Debug)]
struct CallHistory {
    announced: Announced,
    at: Timestamp,
    arrivals: Vec<(Event, Timestamp)>,
}

/// One event of a history: the call before it, the result, the call after it.
struct FoldStep<'a> {
    event: &'a Event,
    before: ToolCall,
    result: Result<(), Irregularity>,
    after: ToolCall,
}

impl CallHistory {
    fn announce(&self) -> ToolCall {
        let announced = Arc::new(self.announced.clone());
        let (id, session) = (CallId::new("call"), SessionId::new("session"));
        ToolCall::announce(id, session, announced, Arc::default(), self.at)
    }

    fn steps(&self) -> Vec<FoldStep<'_>> {
        let mut call = self.announce();
        let fold = |(event, at): &'_ (Event, Timestamp)| {
            let before = call.clone();
            let result = call.apply(event, *at);
            (before, result, call.clone())
        };
        let folded: Vec<_> = self.arrivals.iter().map(fold).collect();
        let events = self.arrivals.iter().map(|(event, _)| event);
        let step = |(event, (before, result, after))| FoldStep {
            event,
            before,
            result,
            after,
        };
        events.zip(folded).map(step).collect()
    }

    /// Returns the accepted events before the one at `end`.
    fn accepted_before<'a>(
        steps: &'a [FoldStep<'a>],
        end: usize,
    ) -> impl Iterator<Item = &'a Event> {
        steps[..end]
            .iter()
            .filter(|step| step.result.is_ok())
            .map(|step| step.event)
    }
}

/// Timestamps close together, so that order matters, and anywhere, so that sums could overflow.
fn any_timestamp() -> impl Strategy<Value = Timestamp> {
    prop_oneof![0..1000_u64, any::<u64>()].prop_map(Timestamp::from_micros)
}

fn any_call_history() -> impl Strategy<Value = CallHistory> {
    let arrivals = vec((any_event(), any_timestamp()), 0..40);
    (any_announced(), any_timestamp(), arrivals).prop_map(|(announced, at, arrivals)| CallHistory {
        announced,
        at,
        arrivals,
    })
}

fn decisions<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<&'a Decision> {
    events
        .filter_map(|event| match event {
            Event::Decided(decision) => Some(&**decision),
            _ => None,
        })
        .collect()
}

fn is_finish(event: &Event) -> bool {
    matches!(event, Event::Finished(_))
}

fn adds_up(timing: Timing) -> bool {
    timing.queued + timing.waited + timing.ran == timing.total
}

fn fraction(call: &ToolCall) -> Option<f64> {
    call.progress().and_then(Progress::fraction)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn an_event_out_of_place_changes_nothing(history in any_call_history()) {
        for step in history.steps() {
            if step.result.is_err() {
                prop_assert_eq!(step.before, step.after);
            }
        }
    }

    #[test]
    fn an_ended_call_never_changes_again(history in any_call_history(), late in any_timestamp()) {
        for step in history.steps().iter().filter(|step| step.before.ending().is_some()) {
            let refusal = Irregularity::AfterEnding { event: step.event.name() };
            prop_assert_eq!(step.result.as_ref(), Err(&refusal));
            prop_assert_eq!(&step.before, &step.after);
            prop_assert_eq!(step.after.status(), Status::Ended);
            let (timing, later) = (step.before.timing(Timestamp::default()), step.after.timing(late));
            prop_assert_eq!(timing, later);
        }
    }

    #[test]
    fn an_ended_call_prints_nothing_more(history in any_call_history()) {
        let steps = history.steps();
        let Some(ended) = steps.iter().find(|step| step.after.ending().is_some()) else {
            return Ok(());
        };
        let mut call = ended.after.clone();
        let refusal = Irregularity::AfterEnding { event: "printed" };
        prop_assert_eq!(call.print(b"late"), Err(refusal));
        prop_assert_eq!(&call, &ended.after);
    }

    #[test]
    fn exactly_one_ending_is_accepted(history in any_call_history()) {
        let steps = history.steps();
        let accepted = CallHistory::accepted_before(&steps, steps.len()).filter(|event| is_finish(event));
        let has_ended = steps.last().is_some_and(|step| step.after.ending().is_some());
        prop_assert_eq!(accepted.count(), usize::from(has_ended));
    }

    #[test]
    fn nothing_starts_undecided(history in any_call_history()) {
        let steps = history.steps();
        for (place, step) in steps.iter().enumerate() {
            if step.before.has_started() || !step.after.has_started() {
                continue;
            }
            let decided = decisions(CallHistory::accepted_before(&steps, place));
            let effects: HashSet<Effect> = decided.iter().map(|decision| decision.effect).collect();
            prop_assert_eq!(step.event, &Event::Started);
            prop_assert_eq!(effects, HashSet::from([Effect::Allow]));
            prop_assert!(!step.before.is_asking());
        }
    }

    #[test]
    fn what_started_stays_started_and_its_decision_stands(history in any_call_history()) {
        for step in history.steps().iter().filter(|step| step.before.has_started()) {
            prop_assert!(step.after.has_started());
            prop_assert_eq!(step.before.decision(), step.after.decision());
        }
    }

    #[test]
    fn what_was_refused_stays_refused(history in any_call_history()) {
        let is_refused = |call: &ToolCall| {
            call.decision().is_some_and(|decision| decision.effect == Effect::Deny)
        };
        for step in history.steps().iter().filter(|step| is_refused(&step.before)) {
            prop_assert!(is_refused(&step.after) && !step.after.has_started());
        }
    }

    #[test]
    fn a_completed_call_had_started(history in any_call_history()) {
        for step in history.steps() {
            if step.after.ending() == Some(&Ending::Completed) {
                prop_assert!(step.after.has_started());
            }
        }
    }

    #[test]
    fn the_parts_of_a_calls_time_add_up(history in any_call_history(), now in any_timestamp()) {
        prop_assert!(adds_up(history.announce().timing(now)));
        for step in history.steps() {
            prop_assert!(adds_up(step.after.timing(now)), "{:?}", step.after.timing(now));
            prop_assert!(adds_up(step.after.timing(Timestamp::default())));
            prop_assert!(adds_up(step.after.timing(Timestamp::from_micros(u64::MAX))));
        }
    }

    #[test]
    fn no_part_of_a_calls_time_shrinks(history in any_call_history()) {
        let parts = |call: &ToolCall| {
            let timing = call.timing(Timestamp::default());
            [timing.queued, timing.waited, timing.ran, timing.total]
        };
        let mut earlier = [Duration::ZERO; 4];
        for step in history.steps() {
            let now = parts(&step.after);
            prop_assert!(now.iter().zip(&earlier).all(|(now, earlier)| now >= earlier));
            earlier = now;
        }
    }

    #[test]
    fn a_question_is_answered_at_most_once_and_only_if_asked(history in any_call_history()) {
        let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
        for step in history.steps().iter().filter(|step| step.result.is_ok()) {
            match step.event {
                Event::Asked(question) => prop_assert!(asked.insert(question.id.clone())),
                Event::Decided(decision) => {
                    if let Some(id) = &decision.question {
                        prop_assert!(asked.contains(id) && answered.insert(id.clone()));
                    }
                }
                _ => {}
            }
            prop_assert_eq!(step.after.questions().len(), asked.len());
            let is_open = step.after.questions().iter().any(|asking| asking.answer.is_none());
            prop_assert_eq!(is_open, asked.len() > answered.len());
        }
    }

    #[test]
    fn a_form_is_answered_at_most_once_and_decides_nothing(history in any_call_history()) {
        let (mut asked, mut answered) = (HashSet::new(), HashSet::new());
        for step in history.steps().iter().filter(|step| step.result.is_ok()) {
            match step.event {
                Event::FormAsked(question) => {
                    prop_assert!(asked.insert(question.id.clone()));
                    prop_assert!(step.after.questions().iter().all(|q| q.question.id != question.id));
                }
                Event::FormAnswered(answer) => {
                    prop_assert!(asked.contains(&answer.question));
                    prop_assert!(answered.insert(answer.question.clone()));
                }
                _ => continue,
            }
            prop_assert_eq!(step.before.decision(), step.after.decision());
            prop_assert_eq!(step.before.has_started(), step.after.has_started());
            prop_assert_eq!(step.after.forms().len(), asked.len());
            let is_open = step.after.forms().iter().any(|asking| asking.answer.is_none());
            prop_assert_eq!(is_open, asked.len() > answered.len());
        }
    }

    #[test]
    fn an_answer_never_changes(history in any_call_history()) {
        for step in history.steps() {
            let answered = step.before.questions().iter().filter(|asking| asking.answer.is_some());
            for earlier in answered {
                prop_assert!(step.after.questions().contains(earlier));
            }
        }
    }

    #[test]
    fn progress_never_runs_backwards(history in any_call_history()) {
        for step in history.steps() {
            let (before, after) = (fraction(&step.before), fraction(&step.after));
            prop_assert!(after >= before, "{:?} after {:?}", after, before);
            prop_assert!(after.is_none_or(|after| (0.0..=1.0).contains(&after)));
        }
    }

    #[test]
    fn an_input_once_complete_changes_only_when_it_is_restated(history in any_call_history()) {
        for step in history.steps() {
            if step.before.input().is_some() {
                let restated = matches!(step.event, Event::Restated(_));
                prop_assert!(restated || step.before.input() == step.after.input());
                prop_assert_eq!(step.before.input_growth(), step.after.input_growth());
            }
        }
    }
}

/// The strategy is useful only if its calls reach every status.
#[test]
fn arbitrary_histories_reach_every_status() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut seen = HashSet::new();
    for _ in 0..512 {
        let history = any_call_history().new_tree(&mut runner).expect("a history");
        for step in history.current().steps() {
            seen.insert(name(&step.after.status()));
        }
    }
    let all = [
        "streaming",
        "announced",
        "prepared",
        "asking",
        "allowed",
        "refused",
        "running",
        "held",
        "unknown",
        "ended",
    ];
    assert_eq!(seen, HashSet::from(all));
}

fn name(status: &Status) -> &'static str {
    match status {
        Status::Streaming => "streaming",
        Status::Announced => "announced",
        Status::Prepared => "prepared",
        Status::Asking => "asking",
        Status::Allowed => "allowed",
        Status::Refused => "refused",
        Status::Running => "running",
        Status::Held => "held",
        Status::Unknown(_) => "unknown",
        Status::Ended => "ended",
    }
}
