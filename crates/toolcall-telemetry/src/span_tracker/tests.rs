//! The phases of a call as spans, compared with the core's own timing.
//! Events come in any order; the journal refuses irregular ones.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use toolcall::{
    Announced, Decision, Effect, Ending, Form, FormAnswered, FormQuestion, FormReply, Input,
    Intent, Journal, Judge, Kind, Outline, Prepared, Question, QuestionId, RuleName, Ticket,
    Timing, ToolResult,
};
use toolcall_testkit::clock::TestClock;

use super::*;
use crate::reader::SpanReader;

/// How long to wait, and the next event.
type Step = (u64, TestEvent);

#[derive(Clone, Copy, Debug)]
enum TestEvent {
    Asked(u8),
    Answered(u8),
    Ruled,
    Started,
    FormAsked(u8),
    FormAnswered(u8),
}

fn any_test_event() -> impl Strategy<Value = TestEvent> {
    prop_oneof![
        (0..3_u8).prop_map(TestEvent::Asked),
        (0..3_u8).prop_map(TestEvent::Answered),
        Just(TestEvent::Ruled),
        Just(TestEvent::Started),
        (3..6_u8).prop_map(TestEvent::FormAsked),
        (3..6_u8).prop_map(TestEvent::FormAnswered),
    ]
}

fn id(number: u8) -> QuestionId {
    QuestionId::new(format!("question-{number}"))
}

fn decision(question: Option<QuestionId>, by: Judge) -> Event {
    Event::Decided(Arc::new(Decision {
        question,
        effect: Effect::Allow,
        by,
    }))
}

fn event(test_event: TestEvent, call: &CallId) -> Event {
    let session = SessionId::new("session");
    match test_event {
        TestEvent::Asked(number) => Event::Asked(Arc::new(Question {
            id: id(number),
            session,
            call: call.clone(),
            subject: Arc::new(Prepared {
                input: Arc::default(),
                intent: Intent::new(Kind::Other, "Something"),
            }),
            offers: Vec::new(),
            because: RuleName::new("rule"),
        })),
        TestEvent::Answered(number) => decision(Some(id(number)), Judge::Unseen),
        TestEvent::Ruled => decision(None, Judge::Rule(RuleName::new("rule"))),
        TestEvent::Started => Event::Started,
        TestEvent::FormAsked(number) => Event::FormAsked(Arc::new(FormQuestion {
            id: id(number),
            session,
            call: call.clone(),
            form: Form::new("server", "Which?", Vec::new()).unwrap(),
        })),
        TestEvent::FormAnswered(number) => Event::FormAnswered(Arc::new(FormAnswered {
            question: id(number),
            reply: FormReply::Cancelled,
        })),
    }
}

/// Runs the steps; returns the spans and the core's timing of the call.
fn run_steps(steps: &[Step]) -> (Vec<Span>, Timing) {
    let queue = SpanQueue::new(1000);
    let spans = Arc::new(SpanTracker::new(ContentCapture::Off, queue.clone()));
    let clock = TestClock::default();
    let journal = Journal::new(SessionId::new("session"))
        .with_clock(clock.clone())
        .with_reader(SpanReader::new(spans));
    let call = CallId::new("call");
    let announced = Announced {
        tool: "tool".into(),
        model_id: None,
        parent: None,
        input: Some(Input::Text("".into())),
        outline: Outline::inferred(Kind::Other),
    };
    journal
        .announce(&call, announced, Ticket::default())
        .unwrap();
    for (after, test_event) in steps {
        clock.advance(*after);
        let _may_be_irregular = journal.write(&call, event(*test_event, &call));
    }
    let ended = journal.finish(&call, Ending::failed("over"), ToolResult::default());
    let ended = ended.unwrap();
    (queue.drain(), ended.timing(Timestamp::default()))
}

fn lasted(span: &Span) -> Duration {
    Duration::from_nanos(span.end_time_unix_nano - span.start_time_unix_nano)
}

proptest! {
    /// Waiting for the user never counts as running, and no time counts twice.
    #[test]
    fn the_parts_of_a_call_add_up(
        steps in proptest::collection::vec((0..5_u64, any_test_event()), 0..24)
    ) {
        let (mut spans, timing) = run_steps(&steps);
        let whole = spans.pop().unwrap();
        prop_assert_eq!(lasted(&whole), timing.total);
        let sum = |name: &str| spans.iter().filter(|span| span.name == name).map(lasted).sum();
        let measured = Timing {
            queued: sum("queue"),
            waited: sum("wait_for_person"),
            ran: sum("run"),
            total: lasted(&whole),
        };
        prop_assert_eq!(measured, timing);
        for next in spans.windows(2) {
            prop_assert!(next[0].end_time_unix_nano <= next[1].start_time_unix_nano);
        }
        for part in &spans {
            prop_assert_eq!(&part.parent_span_id, &whole.span_id);
        }
    }
}

#[test]
fn nothing_is_kept_of_a_call_that_ended() {
    let queue = SpanQueue::new(8);
    let spans = Arc::new(SpanTracker::new(ContentCapture::Off, queue));
    let journal = Journal::new(SessionId::new("session"));
    let journal = journal.with_reader(SpanReader::new(spans.clone()));
    let announced = || Announced {
        tool: "tool".into(),
        model_id: None,
        parent: None,
        input: None,
        outline: Outline::default(),
    };
    for number in 0..100 {
        let call = CallId::new(format!("call-{number}"));
        journal
            .announce(&call, announced(), Ticket::default())
            .unwrap();
        journal
            .finish(&call, Ending::failed("over"), ToolResult::default())
            .unwrap();
    }
    assert!(spans.open.lock().calls.is_empty());
}
