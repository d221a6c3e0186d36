//! Scenarios of single calls: every step in order, and every ending.
//! The order between calls is tested elsewhere.

use std::sync::Arc;
use std::time::Duration;

use crate::engine::support::*;
use serde_json::json;
use tokio::sync::Notify;
use toolcall::*;

#[tokio::test]
async fn a_call_goes_through_every_step() {
    let log = Log::default();
    let talkative = tool("talk", |_, context| async move {
        context.print("hello ");
        context.progress(Progress::at(1.0).of(2.0).saying("half"));
        context.print("world");
        Ok("done")
    });
    let engine = engine(registry([talkative]), &log).policy(AllowAll).build();
    let outcome = engine
        .run(ToolRequest::new("talk", json!({})).model_id("call_0"))
        .await;

    assert_eq!(outcome.ending(), &Ending::Completed);
    assert_eq!(
        log.names(&id(1)),
        [
            "announced",
            "prepared",
            "decided",
            "started",
            "printed",
            "progressed",
            "printed",
            "finished"
        ]
    );
    assert_eq!(outcome.call.output().text(), "hello world");
    assert_eq!(
        outcome.call.progress().and_then(Progress::fraction),
        Some(0.5)
    );
    assert_eq!(
        outcome.for_model(),
        ModelResult {
            id: "call_0".into(),
            content: vec![Content::text("hello world"), Content::text("done")],
            is_error: false
        }
    );
    assert_eq!(engine.journal().open_calls(), []);
}

#[tokio::test]
async fn results_go_back_under_the_id_of_the_model_even_if_it_is_not_unique() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(AllowAll).build();
    let request = || ToolRequest::new("no_such_tool", json!({})).model_id("call_0");
    let (first, second) = (engine.run(request()).await, engine.run(request()).await);
    assert_eq!((first.id(), second.id()), (&id(1), &id(2)));
    assert_eq!(
        (&*first.for_model().id, &*second.for_model().id),
        ("call_0", "call_0")
    );
}

#[tokio::test]
async fn a_denied_call_does_not_start() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(DenyAll).build();
    let outcome = engine
        .run(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    assert_eq!(
        outcome.ending(),
        &Ending::denied("this policy denies everything")
    );
    assert_eq!(
        log.names(&id(1)),
        ["announced", "prepared", "decided", "finished"]
    );
}

#[tokio::test]
async fn what_would_be_asked_is_refused_where_nobody_can_be_asked() {
    let log = Log::default();
    let engine = engine(registry([]), &log).build();
    let outcome = engine
        .run(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    let Ending::Denied { reason } = outcome.ending() else {
        panic!("{:?}", outcome.ending());
    };
    assert!(reason.contains(".policy(AllowAll)"), "{reason}");
}

#[tokio::test]
async fn the_user_is_asked_with_the_diff_and_allows() {
    let log = Log::default();
    let host = Arc::new(MemoryHost::default().with_file("/w/a", "one two"));
    let approver = |question: Arc<Question>| async move {
        let shown = &question.subject.intent.preview;
        assert_eq!(
            shown,
            &[Content::Edit(FileEdit::modified(
                "/w/a", "one two", "one 2"
            ))]
        );
        Answer::AllowOnce
    };
    let engine = engine(registry([]), &log)
        .host(host.clone())
        .approver(approver)
        .build();
    let outcome = engine.run(edit("a", "two", "2")).await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    assert_eq!(host.file("/w/a"), Some(FileBody::Text("one 2".into())));
    assert_eq!(
        log.names(&id(1)),
        [
            "announced",
            "prepared",
            "asked",
            "decided",
            "started",
            "finished"
        ]
    );
}

fn edit(path: &str, old: &str, new: &str) -> ToolRequest {
    ToolRequest::new("edit_file", json!({"path": path, "old": old, "new": new}))
}

#[tokio::test]
async fn a_rejection_reaches_the_model_with_its_reason() {
    let log = Log::default();
    let approver = |_| async { Answer::reject_because("use the other file\u{202e}") };
    let engine = engine(registry([]), &log).approver(approver).build();
    let outcome = engine
        .run(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    let result = outcome.for_model();
    assert!(result.is_error);
    assert_eq!(
        text_of(&result.content),
        r"not allowed: the user rejected it and said: use the other file\u{202e}"
    );
}

#[tokio::test]
async fn an_answer_of_cancelled_is_no_answer() {
    let log = Log::default();
    let engine = engine(registry([]), &log)
        .approver(|_| async { Answer::Cancelled })
        .build();
    let outcome = engine
        .run(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    assert_eq!(
        outcome.ending(),
        &Ending::Cancelled {
            by: Canceller::Person
        }
    );
    assert!(!outcome.call.has_started());
}

#[tokio::test]
async fn always_covers_exactly_the_same_and_is_not_asked_again() {
    let log = Log::default();
    let approver =
        |question: Arc<Question>| async move { Answer::AllowAlways(question.offers[0].clone()) };
    let host = MemoryHost::default()
        .with_file("/w/a", "a")
        .with_file("/w/b", "b");
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .approver(approver)
        .build();
    for path in ["a", "a", "b"] {
        let outcome = engine
            .run(ToolRequest::new("read_file", json!({"path": path})))
            .await;
        assert_eq!(outcome.ending(), &Ending::Completed);
    }
    let asked = |number| log.names(&id(number)).contains(&"asked");
    assert_eq!([asked(1), asked(2), asked(3)], [true, false, true]);
}

#[tokio::test]
async fn a_rule_that_was_not_offered_is_refused() {
    let log = Log::default();
    let other = Rule {
        text: "everything".into(),
        lifetime: Lifetime::Everywhere,
    };
    let approver = move |_| {
        let other = other.clone();
        async move { Answer::AllowAlways(other) }
    };
    let engine = engine(registry([]), &log).approver(approver).build();
    let outcome = engine
        .run(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    assert!(
        matches!(outcome.ending(), Ending::Denied { .. }),
        "{:?}",
        outcome.ending()
    );
}

#[tokio::test]
async fn questions_that_wait_are_judged_again_when_a_rule_comes() {
    let log = Log::default();
    let rulebook = Arc::new(SessionRulebook::new(AskAll));
    let never = |_| std::future::pending();
    let host = MemoryHost::default().with_file("/w/a", "a");
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .rulebook(rulebook.clone())
        .approver(never)
        .build();
    let turn = engine.turn();
    let read = || ToolRequest::new("read_file", json!({"path": "a"}));
    let (first, second) = (turn.call(read()).await, turn.call(read()).await);
    settle().await;
    let waiting = engine.journal().call(first.id()).unwrap();
    assert_eq!(waiting.status(), Status::Asking);

    let rule = waiting.questions()[0].question.offers[0].clone();
    let occasion = AnswerContext {
        when: engine.journal().now(),
        session: SessionId::new("elsewhere"),
        call: waiting.id().clone(),
        title: "the same".into(),
    };
    rulebook.remember(&rule, Effect::Allow, &occasion).unwrap();
    let outcome = first.await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    assert_eq!(
        outcome.call.decision().map(|decision| decision.by.clone()),
        Some(Judge::Rule(RuleName::new(rule.text.to_string())))
    );
    assert_eq!(second.await.ending(), &Ending::Completed);
}

#[tokio::test]
async fn a_rule_that_denies_withdraws_the_question() {
    let log = Log::default();
    let rulebook = Arc::new(SessionRulebook::new(AskAll));
    let never = |_| std::future::pending();
    let engine = engine(registry([]), &log)
        .rulebook(rulebook.clone())
        .approver(never)
        .build();
    let turn = engine.turn();
    let call = turn
        .call(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    settle().await;
    rulebook.replace(DenyAll);
    assert_eq!(
        call.await.ending(),
        &Ending::denied("this policy denies everything")
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_takes_too_long_is_timed_out_with_its_output() {
    let log = Log::default();
    let bell = Arc::new(Notify::new());
    let limits = Limits {
        run: Duration::from_secs(3),
        ..Limits::default()
    };
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .limits(limits)
        .build();
    let outcome = engine.run(ToolRequest::new("wait", json!({}))).await;
    assert_eq!(
        outcome.ending(),
        &Ending::TimedOut {
            after: Duration::from_secs(3)
        }
    );
    assert_eq!(
        text_of(&outcome.for_model().content),
        "timed out after 3s\nwaiting"
    );
}

#[tokio::test]
async fn a_panic_is_a_failed_call() {
    let log = Log::default();
    let panics = tool("panics", |_, _| async {
        panic!("the floor is \u{1b}[31mlava") as Result<(), _>
    });
    let engine = engine(registry([panics]), &log).policy(AllowAll).build();
    let outcome = engine.run(ToolRequest::new("panics", json!({}))).await;
    assert_eq!(
        outcome.ending(),
        &Ending::failed(r"the tool panicked: the floor is \u{1b}[31mlava")
    );
}

#[tokio::test]
async fn a_panic_in_prepare_policy_or_approver_is_a_failed_call_that_never_started() {
    let fails = Ending::failed("something panicked while the call was judged or prepared");
    let read = || ToolRequest::new("read_file", json!({"path": "a"}));
    let panics = custom("panics", |_, _| async { Ok(()) }).preparing(|_| panic!("prepare"));

    let log = Log::default();
    let prepare = engine(registry([Arc::new(panics)]), &log)
        .policy(AllowAll)
        .build();
    let outcome = prepare.run(ToolRequest::new("panics", json!({}))).await;
    assert_eq!(
        (outcome.ending(), outcome.call.has_started()),
        (&fails, false)
    );

    let policy = |_: &Intent, _: &SessionContext| -> Verdict { panic!("policy") };
    let policy = engine(registry([]), &log).policy(policy).build();
    let outcome = policy.run(read()).await;
    assert_eq!(
        (outcome.ending(), outcome.call.has_started()),
        (&fails, false)
    );

    let approver = |_| async { panic!("approver") as Answer };
    let approver = engine(registry([]), &log).approver(approver).build();
    let outcome = approver.run(read()).await;
    assert_eq!(
        (outcome.ending(), outcome.call.has_started()),
        (&fails, false)
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_tool_gives_signs_of_life() {
    let log = Log::default();
    let quiet = tool("quiet", |_, context| async move {
        context.print("ab");
        tokio::time::sleep(Duration::from_secs(12)).await;
        Ok(())
    });
    let engine = engine(registry([quiet]), &log).policy(AllowAll).build();
    engine.run(ToolRequest::new("quiet", json!({}))).await;
    let beats: Vec<(u64, u64)> = log
        .all()
        .into_iter()
        .filter_map(|(_, event)| match event {
            Event::Heartbeat(beat) => Some((beat.quiet.as_secs(), beat.bytes)),
            _ => None,
        })
        .collect();
    assert_eq!(beats, [(5, 2), (10, 2)]);
}

#[tokio::test]
async fn the_same_failure_again_and_again_is_reminded_and_then_stopped() {
    let log = Log::default();
    let fails = tool("fails", |_, _| async {
        Err::<(), _>(ToolError::new("no such table"))
    });
    let engine = engine(registry([fails]), &log).policy(AllowAll).build();
    let mut advice = Vec::new();
    for _ in 0..6 {
        let outcome = engine.run(ToolRequest::new("fails", json!({"q": 1}))).await;
        advice.push((
            outcome.call.has_started(),
            std::mem::discriminant(&outcome.advice),
        ));
    }
    let kind = |advice: Advice| std::mem::discriminant(&advice);
    let (none, remind, stop) = (
        kind(Advice::None),
        kind(Advice::Remind("".into())),
        kind(Advice::Stop("".into())),
    );
    assert_eq!(
        advice,
        [
            (true, none),
            (true, none),
            (true, remind),
            (true, remind),
            (true, stop),
            (false, stop)
        ]
    );
    let other = engine.run(ToolRequest::new("fails", json!({"q": 2}))).await;
    assert_eq!(other.advice, Advice::None);
}

#[tokio::test]
async fn a_tool_that_fails_reports_why_and_what_it_has() {
    let log = Log::default();
    let fails = tool("fails", |_, _| async {
        let number: i32 = "x".parse()?;
        Ok(number.to_string())
    });
    let partly = tool("partly", |_, _| async {
        Err::<(), _>(ToolError::new("exit code 3").with("some output"))
    });
    let engine = engine(registry([fails, partly]), &log)
        .policy(AllowAll)
        .build();
    let outcome = engine.run(ToolRequest::new("fails", json!({}))).await;
    assert_eq!(
        outcome.ending(),
        &Ending::failed("invalid digit found in string")
    );
    let outcome = engine.run(ToolRequest::new("partly", json!({}))).await;
    assert_eq!(
        text_of(&outcome.for_model().content),
        "exit code 3\nsome output"
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_state_how_long_it_may_run() {
    let mut definition = definition("hang");
    definition.timeout = Some(Duration::from_secs(1));
    let hangs = CustomTool::new(definition, |_, _| {
        std::future::pending::<Result<(), ToolError>>()
    });
    let engine = engine(registry([Arc::new(hangs)]), &Log::default())
        .policy(AllowAll)
        .build();
    let began = tokio::time::Instant::now();
    let outcome = engine.run(ToolRequest::new("hang", json!({}))).await;
    assert_eq!(
        outcome.ending(),
        &Ending::TimedOut {
            after: Duration::from_secs(1)
        }
    );
    let most = Duration::from_secs(1) + Limits::default().grace + Duration::from_millis(100);
    assert!(began.elapsed() <= most, "{:?}", began.elapsed());
}

#[tokio::test]
async fn every_sort_of_result_reaches_the_model() {
    let everything = tool("everything", |_, _| async {
        let resource = Resource {
            uri: "file:///w/a".into(),
            mime: None,
            body: ResourceBody::Text("a".into()),
        };
        let link = Link {
            uri: "file:///w/b".into(),
            name: "b".into(),
            ..Link::default()
        };
        let result = ToolResult::from("text").with(Content::image("image/png", b"png"));
        let result = result.with(Content::audio("audio/wav", b"wav"));
        let result = result.with(resource).with(link);
        let edit = FileEdit::added("/w/c", "c");
        Ok(result.with(edit).structured(json!({"ok": true})))
    });
    let engine = engine(registry([everything]), &Log::default())
        .policy(AllowAll)
        .build();
    let outcome = engine.run(ToolRequest::new("everything", json!({}))).await;
    let sorts: Vec<&str> = outcome
        .for_model()
        .content
        .iter()
        .map(|content| match content {
            Content::Text(_) => "text",
            Content::Image(_) => "image",
            Content::Audio(_) => "audio",
            Content::Resource(_) => "resource",
            Content::Link(_) => "link",
            Content::Edit(_) => "edit",
            Content::Terminal(_) => "terminal",
        })
        .collect();
    assert_eq!(
        sorts,
        ["text", "image", "audio", "resource", "link", "edit"]
    );
    assert_eq!(
        outcome.result().structured.as_deref(),
        Some(&json!({"ok": true}))
    );
}
