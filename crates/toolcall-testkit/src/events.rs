//! Arbitrary events, sensible and absurd, for the properties of the fold and of the journal.
//! It must not favour events that have a place: most sequences it makes are nonsense.

use std::sync::Arc;
use std::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::json;
use toolcall::{
    Announced, CallId, Canceller, Content, Decision, Effect, Ending, Event, Exit, Field,
    FieldRequirement, FieldType, Finish, Form, FormAnswered, FormQuestion, FormReply, Heartbeat,
    Input, InputGrowth, Intent, Judge, Kind, Lifetime, Location, Output, OutputBudget, Plan,
    PlanEntry, PlanStatus, Prepared, Printed, Priority, Progress, Question, QuestionId, Remembered,
    Restatement, Rule, RuleName, SessionId, Sketch, ToolResult, Touch,
};

/// How a call begins, with or without its input.
pub fn any_announced() -> impl Strategy<Value = Announced> {
    (option::of(any_input()), any_sketch()).prop_map(|(input, sketch)| Announced {
        tool: "tool".into(),
        model_id: None,
        parent: None,
        input,
        outline: Arc::unwrap_or_clone(sketch).into(),
    })
}

/// Any event at all. Those that carry a call forward come more often, so that some get far.
pub fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => any_beginning(),
        2 => any_question().prop_map(Event::Asked),
        2 => any_form(),
        4 => any_decision().prop_map(Event::Decided),
        4 => Just(Event::Started),
        5 => any_passing(),
        3 => any_change(),
        1 => any_finish().prop_map(Event::Finished),
    ]
}

fn any_beginning() -> impl Strategy<Value = Event> {
    prop_oneof![
        any_announced().prop_map(|announced| Event::Announced(Arc::new(announced))),
        any_input().prop_map(Event::InputArrived),
        any_prepared().prop_map(Event::Prepared),
    ]
}

fn any_passing() -> impl Strategy<Value = Event> {
    prop_oneof![
        (any::<u64>(), any_sketch())
            .prop_map(|(bytes, sketch)| Event::InputGrew(InputGrowth { bytes, sketch })),
        any_progress().prop_map(Event::Progressed),
        vec(any_content(), 0..3).prop_map(|shown| Event::Showed(shown.into())),
        (any::<u64>(), any::<u64>()).prop_map(|(from, to)| Event::Printed(Printed { from, to })),
        any::<u32>().prop_map(|millis| Event::Heartbeat(Heartbeat {
            elapsed: Duration::from_millis(millis.into()),
            bytes: millis.into(),
            quiet: Duration::from_secs(5),
        })),
    ]
}

fn any_change() -> impl Strategy<Value = Event> {
    prop_oneof![
        any_word().prop_map(Event::Held),
        Just(Event::Resumed),
        any_word().prop_map(Event::StatusUnknown),
        any::<i8>().prop_map(|code| Event::Exited(Exit::Code(code.into()))),
        (1..9_u32).prop_map(|line| Event::Located([Location::line("/w/a", line)].into())),
        (any_sketch(), option::of(any_input())).prop_map(|(sketch, input)| {
            Event::Restated(Arc::new(Restatement {
                sketch: Arc::unwrap_or_clone(sketch),
                input,
                ..Restatement::default()
            }))
        }),
        any_word().prop_map(|word| Event::Planned(Arc::new(plan(&word)))),
        (any_word(), any::<i8>()).prop_map(|(key, value)| Event::Noted {
            key,
            value: Arc::new(json!(value)),
        }),
    ]
}

fn plan(step: &str) -> Plan {
    Plan {
        entries: vec![PlanEntry {
            content: step.to_owned(),
            status: PlanStatus::InProgress,
            priority: Priority::Medium,
        }],
    }
}

fn any_word() -> impl Strategy<Value = Arc<str>> {
    prop::sample::select(vec!["a", "b", "c"]).prop_map(Arc::from)
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        any::<i8>().prop_map(|number| Input::from(json!({ "number": number }))),
        any_word().prop_map(Input::Text),
    ]
}

fn any_sketch() -> impl Strategy<Value = Arc<Sketch>> {
    any_word().prop_map(|word| {
        Arc::new(Sketch {
            title: word.to_string(),
            ..Sketch::default()
        })
    })
}

fn any_content() -> impl Strategy<Value = Content> {
    any_word().prop_map(Content::Text)
}

fn any_prepared() -> impl Strategy<Value = Arc<Prepared>> {
    any_word().prop_map(|word| {
        let intent = Intent::new(Kind::Edit, &*word).touching(Touch::Writes("/file".into()));
        let input = Arc::new(json!({ "word": &*word }));
        Arc::new(Prepared { input, intent })
    })
}

/// Few ids, so that questions meet themselves and their answers.
fn any_question_id() -> impl Strategy<Value = QuestionId> {
    prop::sample::select(vec!["q1", "q2", "q3"]).prop_map(QuestionId::new)
}

fn any_question() -> impl Strategy<Value = Arc<Question>> {
    (any_question_id(), any_prepared()).prop_map(|(id, subject)| {
        Arc::new(Question {
            id,
            session: SessionId::new("session"),
            call: CallId::new("call"),
            offers: vec![Rule::exactly(&subject.intent)],
            subject,
            because: RuleName::new("rule"),
        })
    })
}

/// Asked or answered, under the ids of all questions.
fn any_form() -> impl Strategy<Value = Event> {
    let asked = any_question_id().prop_map(|id| {
        let field = Field::new("sure", FieldType::Flag, FieldRequirement::Required);
        Event::FormAsked(Arc::new(FormQuestion {
            id,
            session: SessionId::new("session"),
            call: CallId::new("call"),
            form: Form::new("a server", "Sure?", vec![field]).expect("a form"),
        }))
    });
    let replies = [
        FormReply::Accepted(vec!["sure".into()]),
        FormReply::Declined { reason: None },
        FormReply::Declined {
            reason: Some("nobody there".into()),
        },
        FormReply::Cancelled,
    ];
    let answered = (any_question_id(), prop::sample::select(replies.to_vec()));
    let answered = answered.prop_map(|(question, reply)| {
        Event::FormAnswered(Arc::new(FormAnswered { question, reply }))
    });
    prop_oneof![asked, answered]
}

fn any_decision() -> impl Strategy<Value = Arc<Decision>> {
    let effect = prop_oneof![3 => Just(Effect::Allow), 1 => Just(Effect::Deny)];
    (option::of(any_question_id()), effect, any_judge()).prop_map(|(question, effect, by)| {
        Arc::new(Decision {
            question,
            effect,
            by,
        })
    })
}

fn any_judge() -> impl Strategy<Value = Judge> {
    let rule = Rule {
        text: "this".into(),
        lifetime: Lifetime::Session,
    };
    prop::sample::select(vec![
        Judge::Rule(RuleName::new("rule")),
        Judge::Person(Remembered::Once),
        Judge::Person(Remembered::Kept(rule)),
        Judge::Unseen,
    ])
}

fn any_progress() -> impl Strategy<Value = Progress> {
    (any::<f64>(), option::of(any::<f64>()), any_word()).prop_map(|(current, total, message)| {
        let progress = Progress::at(current).saying(message);
        match total {
            Some(total) => progress.of(total),
            None => progress,
        }
    })
}

fn any_finish() -> impl Strategy<Value = Arc<Finish>> {
    (any_ending(), any_content(), vec(any::<u8>(), 0..12)).prop_map(|(ending, content, bytes)| {
        let mut output = Output::new(OutputBudget { head: 4, tail: 4 });
        output.push(&bytes);
        Arc::new(Finish {
            ending,
            result: ToolResult::from(vec![content]),
            output: Arc::new(output),
        })
    })
}

fn any_ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        4 => Just(Ending::Completed),
        1 => any_word().prop_map(|reason| Ending::Failed { reason }),
        1 => any_word().prop_map(|reason| Ending::Denied { reason }),
        1 => Just(Ending::Cancelled { by: Canceller::Person }),
        1 => Just(Ending::TimedOut { after: Duration::from_secs(1) }),
        1 => any_word().prop_map(|reason| Ending::Interrupted { reason }),
    ]
}
