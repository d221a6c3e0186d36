//! Forms of a tool's server: filled in, declined, withdrawn, and never more than that.
//! Only the server gets the values.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolcall::*;

use crate::engine::support::*;

/// Answers every form with this closure and rejects every question.
struct FormApprover<F>(F);

impl<F> Approver for FormApprover<F>
where
    F: Fn(&FormQuestion) -> BoxFuture<'static, FormAnswer> + Send + Sync + 'static,
{
    fn ask<'a>(&'a self, _question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::reject() })
    }

    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        (self.0)(question)
    }
}

fn answers(answer: FormAnswer) -> impl Approver {
    FormApprover(move |_: &FormQuestion| -> BoxFuture<'static, FormAnswer> {
        Box::pin(std::future::ready(answer.clone()))
    })
}

fn filled(values: Value) -> FormAnswer {
    match values {
        Value::Object(map) => FormAnswer::Accepted(FormValues::new(map)),
        other => panic!("{other} are no values"),
    }
}

fn form() -> Form {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
        },
        "required": ["city"],
    });
    Form::read("weather", "Where, and for how long?", &schema).expect("a form")
}

/// A tool whose server sends one form, and that returns the answer.
fn asking() -> Arc<CustomTool> {
    tool("forecast", |_, context: RunContext| async move {
        let message = match context.elicit(form()).await {
            FormAnswer::Accepted(values) => Value::Object(values.into_map()).to_string(),
            FormAnswer::Declined { reason } => format!("declined: {reason:?}"),
            FormAnswer::Cancelled => "cancelled".to_owned(),
        };
        Ok::<_, ToolError>(message)
    })
}

fn forecast() -> ToolRequest {
    ToolRequest::new("forecast", json!({}))
}

/// Checks the answer that the server gets and what the journal records of it.
async fn check(approver: Option<FormAnswer>, expected: Expect) {
    let log = Log::default();
    let builder = engine(registry([asking()]), &log).policy(AllowAll);
    let engine = match approver {
        Some(answer) => builder.approver(answers(answer)).build(),
        None => builder.build(),
    };
    let outcome = engine.run(forecast()).await;
    let reply = outcome.call.forms()[0]
        .answer
        .as_ref()
        .map(|answer| &answer.reply);
    let message = text_of(&outcome.result().content);
    expected.assert_eq(&format!("{message}\n{reply:?}"));
    assert_eq!(
        log.names(&id(1)),
        [
            "announced",
            "prepared",
            "decided",
            "started",
            "form asked",
            "form answered",
            "finished"
        ]
    );
}

#[tokio::test]
async fn what_is_filled_in_reaches_the_server_and_not_the_journal() {
    check(
        Some(filled(json!({"city": "Rome", "days": 3}))),
        expect![[r#"
            {"city":"Rome","days":3}
            Some(Accepted(["city", "days"]))"#]],
    )
    .await;
}

#[tokio::test]
async fn what_was_declined_or_closed_is_reported() {
    check(
        Some(FormAnswer::declined()),
        expect![[r#"
        declined: None
        Some(Declined { reason: None })"#]],
    )
    .await;
    check(
        Some(FormAnswer::Cancelled),
        expect![[r#"
        cancelled
        Some(Cancelled)"#]],
    )
    .await;
}

#[tokio::test]
async fn where_nobody_can_answer_a_form_is_declined() {
    check(
        None,
        expect![[r#"
        declined: Some("nobody can be asked")
        Some(Declined { reason: Some("nobody can be asked") })"#]],
    )
    .await;
}

#[tokio::test]
async fn what_does_not_fit_the_form_never_reaches_the_server() {
    let unfit = [
        json!({}),
        json!({"city": "R"}),
        json!({"city": "Rome", "days": 15}),
        json!({"city": "Rome", "card": "4111"}),
        json!({"city": ["Rome"]}),
    ];
    let mut message = Vec::new();
    for values in unfit {
        let log = Log::default();
        let engine = engine(registry([asking()]), &log)
            .policy(AllowAll)
            .approver(answers(filled(values)))
            .build();
        let outcome = engine.run(forecast()).await;
        message.push(text_of(&outcome.result().content));
    }
    expect![[r#"
        declined: Some("the answer does not fit the form: `city` is missing")
        declined: Some("the answer does not fit the form: `city`: it is shorter than 2 characters")
        declined: Some("the answer does not fit the form: `days`: it is greater than the maximum of 14")
        declined: Some("the answer does not fit the form: `card` was not asked for")
        declined: Some("the answer does not fit the form: `city`: it must be string, not array")"#]].assert_eq(&message.join("\n"));
}

#[tokio::test]
async fn whoever_knows_only_permissions_declines_forms() {
    let log = Log::default();
    let engine = engine(registry([asking()]), &log)
        .policy(AllowAll)
        .approver(|_| async { Answer::AllowOnce })
        .build();
    let outcome = engine.run(forecast()).await;
    assert_eq!(
        text_of(&outcome.result().content),
        r#"declined: Some("nobody here can fill in a form")"#
    );
}

/// A form that is open when the call stops is withdrawn.
#[tokio::test]
async fn a_stopped_call_takes_its_form_along() {
    let (log, dropped) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let (asked, seen) = (Arc::new(Notify::new()), dropped.clone());
    let bell = asked.clone();
    let engine = engine(registry([asking()]), &log)
        .policy(AllowAll)
        .approver(FormApprover(
            move |_: &FormQuestion| -> BoxFuture<'static, FormAnswer> {
                let guard = DropCounter(seen.clone());
                bell.notify_one();
                Box::pin(async move {
                    let _guard = guard;
                    std::future::pending().await
                })
            },
        ))
        .build();
    let turn = engine.turn();
    let call = turn.call(forecast()).await;
    asked.notified().await;
    assert_eq!(engine.journal().open_calls()[0].status(), Status::Asking);
    turn.cancel();
    let outcome = call.await;
    let by = Canceller::Person;
    assert_eq!(outcome.ending(), &Ending::Cancelled { by });
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
    let answer = outcome.call.forms()[0].answer.clone().expect("an answer");
    assert_eq!(answer.reply, FormReply::Cancelled);
}

struct DropCounter(Arc<AtomicUsize>);

impl Drop for DropCounter {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server may withdraw its form: its tool drops it and goes on.
#[tokio::test(start_paused = true)]
async fn a_form_that_is_withdrawn_is_answered_so() {
    let log = Log::default();
    let withdrawing = tool("impatient", |_, context: RunContext| async move {
        let _late = tokio::time::timeout(Duration::from_secs(1), context.elicit(form())).await;
        Ok::<_, ToolError>("went on")
    });
    let never =
        |_: &FormQuestion| -> BoxFuture<'static, FormAnswer> { Box::pin(std::future::pending()) };
    let engine = engine(registry([withdrawing]), &log)
        .policy(AllowAll)
        .approver(FormApprover(never))
        .build();
    let outcome = engine.run(ToolRequest::new("impatient", json!({}))).await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    let answer = outcome.call.forms()[0].answer.clone().expect("an answer");
    assert_eq!(answer.reply, FormReply::Cancelled);
}

/// The user takes the time they need; the tool's time limit is paused.
#[tokio::test(start_paused = true)]
async fn a_form_that_waits_costs_the_tool_no_time() {
    let log = Log::default();
    let slow = |_: &FormQuestion| -> BoxFuture<'static, FormAnswer> {
        Box::pin(async {
            tokio::time::sleep(Duration::from_secs(3600)).await;
            filled(json!({"city": "Rome"}))
        })
    };
    let engine = engine(registry([asking()]), &log)
        .policy(AllowAll)
        .limits(Limits {
            run: Duration::from_secs(10),
            ..Limits::default()
        })
        .approver(FormApprover(slow))
        .build();
    let outcome = engine.run(forecast()).await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    assert!(!log.names(&id(1)).contains(&"beat"));
}

#[tokio::test]
async fn a_server_may_send_only_so_many_forms() {
    let log = Log::default();
    let last = Arc::new(Mutex::new(None));
    let seen = last.clone();
    let nagging = tool("nag", move |_, context: RunContext| {
        let seen = seen.clone();
        async move {
            for _ in 0..20 {
                *seen.lock().unwrap() = Some(context.elicit(form()).await);
            }
            Ok::<_, ToolError>("done")
        }
    });
    let engine = engine(registry([nagging]), &log)
        .policy(AllowAll)
        .approver(answers(FormAnswer::declined()))
        .build();
    let outcome = engine.run(ToolRequest::new("nag", json!({}))).await;
    assert_eq!(outcome.call.forms().len(), 16);
    assert_eq!(
        last.lock().unwrap().clone(),
        Some(FormAnswer::declined_because(
            "a call may show at most 16 forms"
        ))
    );
}

/// The context outlives its call.
#[tokio::test]
async fn a_context_asks_nothing_after_its_call() {
    let log = Log::default();
    let kept = Arc::new(Mutex::new(None));
    let keeping = kept.clone();
    let keep = tool("keep", move |_, context: RunContext| {
        *keeping.lock().unwrap() = Some(context);
        async { Ok::<_, ToolError>("kept") }
    });
    let engine = engine(registry([keep]), &log)
        .policy(AllowAll)
        .approver(answers(filled(json!({"city": "Rome"}))))
        .build();
    let outcome = engine.run(ToolRequest::new("keep", json!({}))).await;
    let context = kept.lock().unwrap().take().expect("a context");
    assert_eq!(context.elicit(form()).await, FormAnswer::Cancelled);
    assert_eq!(outcome.call.forms().len(), 0);
}
