//! Every irregularity with the shortest history that causes it, and every status of a call.
//! It must not leave a variant out: the table is matched against the enum.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolcall::{
    Announced, CallId, Decision, Effect, Ending, Event, Finish, Form, FormAnswered, FormQuestion,
    FormReply, Input, InputGrowth, Intent, Irregularity, Journal, Judge, Kind, Output, Prepared,
    Progress, Question, QuestionId, RuleName, SessionId, Sketch, Status, Ticket, Timestamp, Timing,
    ToolCall, ToolResult,
};

use Effect::{Allow, Deny};
use Irregularity::*;

fn announced(input: Option<Input>) -> Announced {
    Announced {
        tool: "edit".into(),
        model_id: None,
        parent: None,
        input,
        outline: toolcall::Outline::default(),
    }
}

fn call(announced: Announced) -> ToolCall {
    ToolCall::announce(
        CallId::new("call"),
        SessionId::new("session"),
        Arc::new(announced),
        Arc::default(),
        Timestamp::default(),
    )
}

fn streaming() -> ToolCall {
    call(announced(None))
}

fn complete() -> ToolCall {
    call(announced(Some(Input::from(json!({})))))
}

fn prepared() -> Arc<Prepared> {
    Arc::new(Prepared {
        input: Arc::new(json!({})),
        intent: Intent::new(Kind::Edit, "Edit"),
    })
}

fn asked(id: &str) -> Event {
    Event::Asked(Arc::new(Question {
        id: QuestionId::new(id),
        session: SessionId::new("session"),
        call: CallId::new("call"),
        subject: prepared(),
        offers: Vec::new(),
        because: RuleName::new("rule"),
    }))
}

fn form_asked(id: &str) -> Event {
    Event::FormAsked(Arc::new(FormQuestion {
        id: QuestionId::new(id),
        session: SessionId::new("session"),
        call: CallId::new("call"),
        form: Form::new("a server", "Which?", Vec::new()).expect("a form"),
    }))
}

fn form_answered(id: &str) -> Event {
    Event::FormAnswered(Arc::new(FormAnswered {
        question: QuestionId::new(id),
        reply: FormReply::Cancelled,
    }))
}

fn decided(effect: Effect) -> Event {
    decision(None, effect)
}

fn answered(id: &str, effect: Effect) -> Event {
    decision(Some(QuestionId::new(id)), effect)
}

fn decision(question: Option<QuestionId>, effect: Effect) -> Event {
    Event::Decided(Arc::new(Decision {
        question,
        effect,
        by: Judge::Unseen,
    }))
}

fn grew() -> Event {
    Event::InputGrew(InputGrowth {
        bytes: 1,
        sketch: Arc::new(Sketch::default()),
    })
}

fn finished(ending: Ending) -> Event {
    Event::Finished(Arc::new(Finish {
        ending,
        result: ToolResult::default(),
        output: Arc::new(Output::default()),
    }))
}

/// Applies all events; only the last may be out of place.
fn last_of(mut call: ToolCall, events: &[Event]) -> Irregularity {
    let (last, first) = events.split_last().expect("an event");
    for event in first {
        assert_eq!(call.apply(event, Timestamp::default()), Ok(()), "{event:?}");
    }
    let before = call.clone();
    let irregularity = call
        .apply(last, Timestamp::default())
        .expect_err("no place");
    assert_eq!(call, before, "an event out of place changes nothing");
    irregularity
}

#[test]
fn every_irregularity_has_its_shortest_history() {
    let id = QuestionId::new;
    let table: Vec<(ToolCall, Vec<Event>, Irregularity)> = vec![
        (
            complete(),
            vec![finished(Ending::failed("no")), Event::Started],
            AfterEnding { event: "started" },
        ),
        (
            complete(),
            vec![Event::Announced(Arc::new(announced(None)))],
            AnnouncedTwice,
        ),
        (
            complete(),
            vec![grew()],
            InputComplete {
                event: "input grew",
            },
        ),
        (
            complete(),
            vec![Event::InputArrived(Input::Text("{}".into()))],
            InputComplete {
                event: "input arrived",
            },
        ),
        (
            complete(),
            vec![decided(Allow), Event::Prepared(prepared())],
            PreparedLate,
        ),
        (
            complete(),
            vec![asked("q"), asked("q")],
            AskedTwice(id("q")),
        ),
        (complete(), vec![decided(Allow), asked("q")], AskedLate),
        (complete(), vec![answered("q", Allow)], NeverAsked(id("q"))),
        (
            complete(),
            vec![asked("q"), answered("q", Allow), answered("q", Allow)],
            AnsweredTwice(id("q")),
        ),
        (
            complete(),
            vec![decided(Allow), decided(Allow)],
            DecidedTwice,
        ),
        (complete(), vec![asked("q"), decided(Allow)], QuestionOpen),
        (complete(), vec![Event::Started], StartedUndecided),
        (
            complete(),
            vec![decided(Deny), Event::Started],
            StartedRefused,
        ),
        (
            complete(),
            vec![decided(Allow), Event::Started, Event::Started],
            StartedTwice,
        ),
        (
            complete(),
            vec![Event::Progressed(Progress::at(1.0))],
            NotRunning {
                event: "progressed",
            },
        ),
        (complete(), vec![Event::Resumed], NotHeld),
        (
            complete(),
            vec![finished(Ending::Completed)],
            CompletedUnstarted,
        ),
    ];
    let mut told = BTreeSet::from([name(&NotOpen { event: "started" })]);
    for (call, events, expected) in table {
        assert_eq!(last_of(call, &events), expected);
        told.insert(name(&expected));
    }
    assert_eq!(told.len(), VARIANTS, "told: {told:?}");
}

/// How many names [`name`] returns. A new variant does not compile there until it has one.
const VARIANTS: usize = 17;

fn name(irregularity: &Irregularity) -> &'static str {
    match irregularity {
        AfterEnding { .. } => "after ending",
        NotOpen { .. } => "not open",
        AnnouncedTwice => "announced twice",
        InputComplete { .. } => "input complete",
        PreparedLate => "prepared late",
        AskedTwice(_) => "asked twice",
        AskedLate => "asked late",
        NeverAsked(_) => "never asked",
        AnsweredTwice(_) => "answered twice",
        DecidedTwice => "decided twice",
        QuestionOpen => "question open",
        StartedUndecided => "started undecided",
        StartedRefused => "started refused",
        StartedTwice => "started twice",
        NotRunning { .. } => "not running",
        NotHeld => "not held",
        CompletedUnstarted => "completed unstarted",
    }
}

#[test]
fn a_call_that_was_never_announced_is_not_open() {
    let journal = Journal::new(SessionId::new("session"));
    let write = journal.write(&CallId::new("call"), Event::Started);
    assert_eq!(write.err(), Some(NotOpen { event: "started" }));
}

#[test]
fn a_call_that_ended_is_not_open() {
    let (journal, id) = (Journal::new(SessionId::new("session")), CallId::new("call"));
    let begun = journal.announce(&id, announced(None), Ticket::default());
    assert_eq!(begun, Ok(()));
    let end = || journal.finish(&id, Ending::failed("no"), ToolResult::default());
    assert!(end().is_ok());
    assert_eq!(end().err(), Some(NotOpen { event: "finished" }));
}

#[test]
fn an_open_call_is_announced_once() {
    let (journal, id) = (Journal::new(SessionId::new("session")), CallId::new("call"));
    let announce = || journal.announce(&id, announced(None), Ticket::default());
    assert_eq!(announce(), Ok(()));
    assert_eq!(announce(), Err(AnnouncedTwice));
}

/// Prepared too late has four causes.
#[test]
fn preparing_is_late_after_preparing_asking_deciding_and_starting() {
    let prepare = || Event::Prepared(prepared());
    let stories = [
        vec![prepare(), prepare()],
        vec![asked("q"), prepare()],
        vec![decided(Deny), prepare()],
        vec![decided(Allow), Event::Started, prepare()],
    ];
    for story in stories {
        assert_eq!(last_of(complete(), &story), PreparedLate);
    }
}

/// Starts while a second question is open.
#[test]
fn one_answer_of_two_is_no_decision() {
    let story = [
        asked("q1"),
        asked("q2"),
        answered("q1", Allow),
        Event::Started,
    ];
    assert_eq!(last_of(complete(), &story), StartedUndecided);
}

/// A denial outweighs any approval, in either order.
#[test]
fn one_no_of_two_answers_refuses() {
    for (first, second) in [(Allow, Deny), (Deny, Allow)] {
        let story = [
            asked("q1"),
            asked("q2"),
            answered("q1", first),
            answered("q2", second),
            Event::Started,
        ];
        assert_eq!(last_of(complete(), &story), StartedRefused);
    }
}

/// Applies every event and compares the status after each.
fn check_life(mut call: ToolCall, life: Vec<(Event, Status)>) {
    for (event, status) in life {
        assert_eq!(
            call.apply(&event, Timestamp::default()),
            Ok(()),
            "{event:?}"
        );
        assert_eq!(call.status(), status, "after {event:?}");
    }
}

#[test]
fn a_typical_life_passes_every_status() {
    assert_eq!(complete().status(), Status::Announced);
    assert_eq!(streaming().status(), Status::Streaming);
    check_life(
        streaming(),
        vec![
            (grew(), Status::Streaming),
            (
                Event::InputArrived(Input::from(json!({}))),
                Status::Announced,
            ),
            (Event::Prepared(prepared()), Status::Prepared),
            (asked("q"), Status::Asking),
            (answered("q", Allow), Status::Allowed),
            (Event::Started, Status::Running),
            (Event::Progressed(Progress::at(1.0)), Status::Running),
            (Event::Held("rate limit".into()), Status::Held),
            (Event::Resumed, Status::Running),
            (finished(Ending::Completed), Status::Ended),
        ],
    );
}

#[test]
fn a_question_while_running_is_asking_until_it_is_answered() {
    check_life(
        complete(),
        vec![
            (decided(Allow), Status::Allowed),
            (Event::Started, Status::Running),
            (asked("q"), Status::Asking),
            (answered("q", Deny), Status::Running),
            (finished(Ending::Completed), Status::Ended),
        ],
    );
}

#[test]
fn a_form_is_asking_until_it_is_answered() {
    check_life(
        complete(),
        vec![
            (decided(Allow), Status::Allowed),
            (Event::Started, Status::Running),
            (form_asked("f"), Status::Asking),
            (asked("q"), Status::Asking),
            (answered("q", Allow), Status::Asking),
            (form_answered("f"), Status::Running),
            (form_asked("g"), Status::Asking),
            (finished(Ending::Completed), Status::Ended),
        ],
    );
}

#[test]
fn a_form_has_its_place_while_a_tool_acts_and_its_id_once() {
    let id = QuestionId::new;
    let running = || vec![decided(Allow), Event::Started];
    let after = |events: &[Event]| last_of(complete(), &[running(), events.to_vec()].concat());
    let event = "form asked";
    assert_eq!(
        last_of(complete(), &[form_asked("f")]),
        NotRunning { event }
    );
    assert_eq!(
        after(&[form_asked("f"), form_asked("f")]),
        AskedTwice(id("f"))
    );
    assert_eq!(after(&[asked("f"), form_asked("f")]), AskedTwice(id("f")));
    assert_eq!(after(&[form_asked("f"), asked("f")]), AskedTwice(id("f")));
    assert_eq!(after(&[form_answered("f")]), NeverAsked(id("f")));
    assert_eq!(
        after(&[asked("f"), form_answered("f")]),
        NeverAsked(id("f"))
    );
    assert_eq!(
        after(&[form_asked("f"), answered("f", Allow)]),
        NeverAsked(id("f"))
    );
    assert_eq!(
        after(&[form_asked("f"), form_answered("f"), form_answered("f")]),
        AnsweredTwice(id("f"))
    );
}

#[test]
fn two_questions_are_asking_until_both_are_answered() {
    check_life(
        complete(),
        vec![
            (asked("q1"), Status::Asking),
            (asked("q2"), Status::Asking),
            (answered("q2", Allow), Status::Asking),
            (answered("q1", Allow), Status::Allowed),
        ],
    );
}

#[test]
fn a_refused_call_waits_for_its_ending() {
    check_life(
        complete(),
        vec![
            (Event::Prepared(prepared()), Status::Prepared),
            (decided(Deny), Status::Refused),
            (finished(Ending::denied("no")), Status::Ended),
        ],
    );
}

#[test]
fn an_unknown_status_is_shown_until_something_better_is_known() {
    check_life(
        complete(),
        vec![
            (
                Event::StatusUnknown("reticulating".into()),
                Status::Unknown("reticulating".into()),
            ),
            (
                Event::Progressed(Progress::at(1.0)),
                Status::Unknown("reticulating".into()),
            ),
            (decided(Allow), Status::Unknown("reticulating".into())),
            (Event::Started, Status::Running),
            (
                Event::StatusUnknown("splining".into()),
                Status::Unknown("splining".into()),
            ),
            (Event::Held("paused".into()), Status::Held),
            (Event::Resumed, Status::Running),
            (finished(Ending::Completed), Status::Ended),
        ],
    );
}

#[test]
fn a_pause_out_of_an_unknown_status_is_a_pause() {
    check_life(
        complete(),
        vec![
            (
                Event::StatusUnknown("warming up".into()),
                Status::Unknown("warming up".into()),
            ),
            (Event::Held("paused".into()), Status::Held),
            (Event::Progressed(Progress::at(1.0)), Status::Held),
            (finished(Ending::failed("no")), Status::Ended),
        ],
    );
}

#[test]
fn each_part_of_the_time_is_counted_where_it_was_spent() {
    let seconds = |s| Timestamp::default().plus(Duration::from_secs(s));
    let life = [
        (Event::Prepared(prepared()), 1),
        (asked("q1"), 2),
        (asked("q2"), 4),
        (answered("q1", Allow), 6),
        (answered("q2", Allow), 9),
        (Event::Started, 10),
        (asked("q3"), 20),
        (answered("q3", Allow), 50),
        (finished(Ending::Completed), 60),
    ];
    let mut call = complete();
    for (event, at) in life {
        assert_eq!(call.apply(&event, seconds(at)), Ok(()));
    }
    let spent = Timing {
        queued: Duration::from_secs(3),
        waited: Duration::from_secs(37),
        ran: Duration::from_secs(20),
        total: Duration::from_secs(60),
    };
    assert_eq!(call.timing(seconds(999)), spent);
}
