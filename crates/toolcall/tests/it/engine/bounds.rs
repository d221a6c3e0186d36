//! Limits: output, results, metadata, running and unreported calls, decisions that are not stored.
//! A limit holds whatever the tool, the reader or the store does.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;
use tokio::sync::{Notify, oneshot};
use toolcall::*;

use crate::engine::support::*;

const SMALL: OutputBudget = OutputBudget { head: 8, tail: 8 };

#[tokio::test]
async fn output_beyond_the_budget_is_cut_and_kept_by_the_host() {
    let host = Arc::new(MemoryHost::default().with_keep_limit(30));
    let chatty = tool("chatty", |_, context| async move {
        for number in 0..10 {
            context.print(format!("line {number}\n"));
        }
        Ok(())
    });
    let log = Log::default();
    let engine = engine(registry([chatty]), &log)
        .host(host.clone())
        .policy(AllowAll)
        .output_budget(SMALL)
        .build();
    let outcome = engine.run(ToolRequest::new("chatty", json!({}))).await;
    let output = outcome.call.output();
    expect!["line 0\nl\n… 54 bytes left out …\n\nline 9\n"].assert_eq(&output.text());
    assert_eq!(
        output.spill(),
        Some(&Spill {
            uri: "memory:c-1".into(),
            bytes: 30,
            completeness: Completeness::Capped
        })
    );
    assert_eq!(
        host.kept(&id(1)).as_deref(),
        Some(&b"line 0\nline 1\nline 2\nline 3\nli"[..])
    );
}

#[tokio::test]
async fn a_result_beyond_the_budget_is_cut_and_kept_by_the_host() {
    let host = Arc::new(MemoryHost::default());
    let long = tool("long", |_, _| async { Ok("0123456789".repeat(10)) });
    let log = Log::default();
    let engine = engine(registry([long]), &log)
        .host(host.clone())
        .policy(AllowAll)
        .output_budget(SMALL)
        .build();
    let outcome = engine.run(ToolRequest::new("long", json!({}))).await;
    expect!["01234567\n… 84 bytes left out …\n23456789\n(100 bytes are kept in memory:c-1)"]
        .assert_eq(&text_of(&outcome.for_model().content));
    assert_eq!(host.kept(&id(1)).map(|kept| kept.len()), Some(100));
}

#[tokio::test]
async fn only_so_many_run_at_once_and_the_rest_follows() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let limits = Limits {
        running: 2,
        ..Limits::default()
    };
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .limits(limits)
        .build();
    let turn = engine.turn();
    let mut calls = Vec::new();
    for _ in 0..5 {
        calls.push(turn.call(ToolRequest::new("wait", json!({}))).await);
    }
    for left in [5, 3, 1] {
        settle().await;
        let running = engine
            .journal()
            .open_calls()
            .iter()
            .filter(|call| call.status() == Status::Running)
            .count();
        assert_eq!(running, left.min(2));
        bell.notify_waiters();
    }
    for call in calls {
        assert_eq!(call.await.ending(), &Ending::Completed);
    }
}

/// A reader that reports nothing: it keeps every ticket.
struct StalledReader(Arc<Mutex<Vec<Ticket>>>);

impl Reader for StalledReader {
    fn read(&mut self, _call: &ToolCall, event: &Event, ticket: &Ticket) {
        if let Event::Finished(_) = event {
            self.0.lock().unwrap().push(ticket.clone());
        }
    }
}

#[tokio::test]
async fn a_client_that_stops_reading_stops_new_calls() {
    let tickets = Arc::new(Mutex::new(Vec::new()));
    let limits = Limits {
        unreported: 3,
        ..Limits::default()
    };
    let engine = engine(registry([]), &Log::default())
        .policy(AllowAll)
        .limits(limits)
        .reader(StalledReader(tickets.clone()))
        .build();
    let turn = engine.turn();
    let request = || ToolRequest::new("nothing", json!({}));
    for _ in 0..3 {
        turn.call(request()).await.await;
    }
    let mut fourth = std::pin::pin!(turn.call(request()));
    tokio::select! {
        biased;
        _ = &mut fourth => panic!("it should wait"),
        () = settle() => {}
    }
    assert_eq!(engine.journal().open_calls(), []);
    tickets.lock().unwrap().pop();
    fourth.await.await;
}

/// A store that confirms a record later, or never.
#[derive(Default)]
struct SlowStore(Mutex<Vec<oneshot::Sender<Result<(), StoreError>>>>);

impl Store for SlowStore {
    fn append(&self, record: Record) -> Receipt {
        if !matches!(record.event, Event::Decided(_)) {
            return Receipt::safe();
        }
        let (sender, receiver) = oneshot::channel();
        self.0.lock().unwrap().push(sender);
        Receipt::later(receiver)
    }

    fn load(&self, _session: &SessionId) -> Result<Vec<Record>, StoreError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn nothing_starts_before_its_decision_is_safe() {
    let (log, store) = (Log::default(), Arc::new(SlowStore::default()));
    let nothing = tool("nothing", |_, _| async { Ok(()) });
    let engine = engine(registry([nothing]), &log)
        .policy(AllowAll)
        .store(store.clone())
        .build();
    let turn = engine.turn();
    let call = turn.call(ToolRequest::new("nothing", json!({}))).await;
    settle().await;
    assert_eq!(
        engine.journal().call(call.id()).unwrap().status(),
        Status::Allowed
    );
    store.0.lock().unwrap().remove(0).send(Ok(())).unwrap();
    assert_eq!(call.await.ending(), &Ending::Completed);

    let call = turn.call(ToolRequest::new("nothing", json!({}))).await;
    settle().await;
    let full = StoreError {
        reason: "the disk is full".into(),
    };
    store.0.lock().unwrap().remove(0).send(Err(full)).unwrap();
    let outcome = call.await;
    assert!(!outcome.call.has_started());
    assert_eq!(
        outcome.ending(),
        &Ending::failed("the history could not be used: the disk is full")
    );

    let call = turn.call(ToolRequest::new("nothing", json!({}))).await;
    settle().await;
    store.0.lock().unwrap().clear();
    assert_eq!(
        call.await.ending(),
        &Ending::failed("the history could not be used: the store went away")
    );
}

#[tokio::test]
async fn metadata_reaches_the_call_and_reserved_keys_are_refused() {
    let notes = tool("notes", |_, context| async move {
        context.note("com.example/cost", json!({"cents": 3}))?;
        let mut refused = Vec::new();
        for key in [
            "toolcall/timing",
            "traceparent",
            "terminal_info",
            "",
            "a b",
            "ä",
        ] {
            refused.push(
                context
                    .note(key, json!(1))
                    .map_err(|error| error.reason().to_owned()),
            );
        }
        assert!(refused.iter().all(Result::is_err), "{refused:?}");
        assert!(context.note("big", json!("x".repeat(20_000))).is_err());
        let many = (0..100).map(|number| context.note(&format!("n{number}"), json!(number)));
        Ok(many.filter(Result::is_ok).count().to_string())
    });
    let engine = engine(registry([notes]), &Log::default())
        .policy(AllowAll)
        .build();
    let outcome = engine.run(ToolRequest::new("notes", json!({}))).await;
    assert_eq!(text_of(&outcome.result().content), "31");
    let metadata = outcome.call.metadata();
    assert_eq!(
        metadata
            .get("com.example/cost")
            .map(|value| (**value).clone()),
        Some(json!({"cents": 3}))
    );
    assert_eq!(metadata.len(), 32);
}
