//! Every way to stop a call: one, a turn, an engine, a runtime.
//! A stopped call ends once, and nothing starts after it was stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use toolcall::*;

use crate::engine::support::*;

fn cancelled(by: Canceller) -> Ending {
    Ending::Cancelled { by }
}

fn wait() -> ToolRequest {
    ToolRequest::new("wait", json!({}))
}

#[tokio::test]
async fn one_call_is_cancelled_and_the_others_go_on() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let (first, second) = (turn.call(wait()).await, turn.call(wait()).await);
    settle().await;
    assert!(engine.cancel(first.id()));
    let outcome = first.await;
    assert_eq!(outcome.ending(), &cancelled(Canceller::Person));
    assert_eq!(outcome.call.output().text(), "waiting");
    assert!(!engine.cancel(outcome.id()), "it has ended");
    bell.notify_waiters();
    assert_eq!(second.await.ending(), &Ending::Completed);
}

#[tokio::test]
async fn a_call_that_waits_for_an_answer_is_cancelled_and_the_question_withdrawn() {
    let log = Log::default();
    let withdrawn = Arc::new(AtomicBool::new(false));
    let flag = withdrawn.clone();
    let approver = move |_| {
        let guard = OnDrop(flag.clone());
        async move {
            let _guard = guard;
            std::future::pending::<Answer>().await
        }
    };
    let engine = engine(registry([]), &log).approver(approver).build();
    let turn = engine.turn();
    let call = turn
        .call(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    settle().await;
    turn.cancel();
    assert_eq!(call.await.ending(), &cancelled(Canceller::Person));
    assert!(withdrawn.load(Ordering::SeqCst));
    assert_eq!(
        log.names(&id(1)),
        ["announced", "prepared", "asked", "finished"]
    );
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn the_end_of_a_turn_ends_its_calls_and_no_other() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .build();
    let (first, second) = (engine.turn(), engine.turn());
    let calls = [first.call(wait()).await, first.call(wait()).await];
    let other = second.call(wait()).await;
    settle().await;
    first.end().await;
    assert_eq!(log.names(&id(1)).last(), Some(&"finished"));
    assert_eq!(log.names(&id(2)).last(), Some(&"finished"));
    for call in calls {
        assert_eq!(call.await.ending(), &cancelled(Canceller::Turn));
    }
    bell.notify_waiters();
    assert_eq!(other.await.ending(), &Ending::Completed);
}

#[tokio::test]
async fn what_comes_after_the_cancel_ends_at_once() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(AllowAll).build();
    let turn = engine.turn();
    turn.cancel();
    let outcome = turn
        .call(ToolRequest::new("read_file", json!({"path": "a"})))
        .await
        .await;
    assert_eq!(outcome.ending(), &cancelled(Canceller::Person));
    assert_eq!(log.names(&id(1)), ["announced", "finished"]);
    let mut stream = turn.open("read_file").await;
    stream.grow("{");
    assert_eq!(
        stream.complete().await.ending(),
        &cancelled(Canceller::Person)
    );
}

#[tokio::test]
async fn a_dropped_turn_and_a_dropped_engine_end_their_calls() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let call = turn.call(wait()).await;
    settle().await;
    drop(turn);
    assert_eq!(call.await.ending(), &cancelled(Canceller::Turn));

    let turn = engine.turn();
    let call = turn.call(wait()).await;
    settle().await;
    drop(engine);
    assert_eq!(call.await.ending(), &cancelled(Canceller::Engine));
}

#[test]
fn a_runtime_that_is_shut_down_leaves_no_call_open() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let engine = engine(registry([waiting("wait", &bell)]), &log)
        .policy(AllowAll)
        .build();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let turn = engine.turn();
        let call = turn.call(wait()).await;
        settle().await;
        std::mem::forget(turn);
        drop(call);
    });
    drop(runtime);
    assert_eq!(engine.journal().open_calls(), []);
    assert_eq!(log.names(&id(1)).last(), Some(&"finished"));
    assert!(
        matches!(&log.all().last().unwrap().1, Event::Finished(finish)
        if matches!(finish.ending, Ending::Interrupted { .. }))
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ignores_its_stop_is_dropped_after_its_grace() {
    let log = Log::default();
    let dropped = Arc::new(AtomicBool::new(false));
    let flag = dropped.clone();
    let stubborn = tool("stubborn", move |_, _| {
        let guard = OnDrop(flag.clone());
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
            Ok(())
        }
    });
    let engine = engine(registry([stubborn]), &log).policy(AllowAll).build();
    let turn = engine.turn();
    let call = turn.call(ToolRequest::new("stubborn", json!({}))).await;
    settle().await;
    let before = tokio::time::Instant::now();
    turn.cancel();
    assert_eq!(call.await.ending(), &cancelled(Canceller::Person));
    assert_eq!(before.elapsed(), Limits::default().grace);
    assert!(dropped.load(Ordering::SeqCst));
}

/// In real time: a blocked thread cannot be simulated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_blocks_its_thread_cannot_hold_its_call() {
    let log = Log::default();
    let (release, held) = std::sync::mpsc::sync_channel::<()>(0);
    let held = Arc::new(std::sync::Mutex::new(held));
    let blocks = tool("blocks", move |_, _| {
        let held = held.clone();
        async move {
            let _released = held.lock().unwrap().recv();
            Ok("too late")
        }
    });
    let limits = Limits {
        grace: Duration::from_millis(10),
        run: Duration::from_millis(10),
        ..Limits::default()
    };
    let engine = engine(registry([blocks]), &log)
        .policy(AllowAll)
        .limits(limits)
        .build();
    let outcome = engine.run(ToolRequest::new("blocks", json!({}))).await;
    assert_eq!(
        outcome.ending(),
        &Ending::TimedOut {
            after: Duration::from_millis(10)
        }
    );
    drop(release);
    assert_eq!(
        log.names(&id(1))
            .iter()
            .filter(|name| **name == "finished")
            .count(),
        1
    );
}
