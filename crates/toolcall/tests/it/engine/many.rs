//! Ten thousand calls at once.
//! Each is tracked by itself; no lock is held across a tool.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use tokio::sync::Barrier;
use toolcall::*;

use crate::engine::support::*;

const MANY: usize = 10_000;

/// Every tool waits until all ten thousand run, and uses its call meanwhile: with a lock held
/// across a tool they would never all run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_calls_at_once_end_ten_thousand_times() {
    let barrier = Arc::new(Barrier::new(MANY));
    let meeting = tool("meet", move |input, context| {
        let barrier = barrier.clone();
        async move {
            context.print(format!("{}", input["number"]));
            barrier.wait().await;
            context.progress(Progress::at(1.0).of(1.0));
            Ok(input["number"].to_string())
        }
    });
    let finished = Arc::new(AtomicUsize::new(0));
    let counted = finished.clone();
    let limits = Limits {
        running: MANY,
        unreported: MANY,
        ..Limits::default()
    };
    let store = Arc::new(MemoryStore::default());
    let engine = Engine::builder(registry([meeting]))
        .policy(AllowAll)
        .limits(limits)
        .store(store.clone())
        .reader(move |_: &ToolCall, event: &Event| {
            counted.fetch_add(usize::from(event.name() == "finished"), Ordering::SeqCst);
        })
        .build();
    let turn = engine.turn();
    let mut calls = Vec::new();
    for number in 0..MANY {
        let request =
            ToolRequest::new("meet", json!({"number": number})).model_id(format!("m{number}"));
        calls.push(turn.call(request).await);
    }
    let mut ids = HashSet::new();
    for (number, call) in calls.into_iter().enumerate() {
        let outcome = call.await;
        assert_eq!(outcome.ending(), &Ending::Completed);
        assert_eq!(text_of(&outcome.result().content), number.to_string());
        assert_eq!(&*outcome.for_model().id, format!("m{number}"));
        assert_eq!(outcome.call.output().text(), number.to_string());
        assert!(ids.insert(outcome.id().clone()));
    }
    assert_eq!(finished.load(Ordering::SeqCst), MANY);
    assert_eq!(engine.journal().open_calls(), []);
    let replayed = replay(&store.load(engine.journal().session()).unwrap());
    assert_eq!(replayed.len(), MANY);
    assert!(
        replayed
            .iter()
            .all(|call| call.ending() == Some(&Ending::Completed))
    );
}
