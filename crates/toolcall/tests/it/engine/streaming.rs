//! Inputs that a model writes piece by piece.
//! However they are split, the call that results is the same.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use toolcall::*;

use crate::engine::support::*;

#[tokio::test]
async fn a_title_grows_while_the_model_writes() {
    let log = Log::default();
    let host = MemoryHost::default().with_file("/w/src/main.rs", "fn main() {}");
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let mut stream = turn.open("edit_file").await;
    let now = |stream: &InputStream| engine.journal().call(stream.id()).unwrap();
    assert_eq!(
        (now(&stream).status(), now(&stream).input().cloned()),
        (Status::Streaming, None)
    );
    stream.grow(r#"{"path":"src/main.rs","old":"fn main"#);
    assert_eq!(now(&stream).title(), "Edit src/main.rs");
    stream.grow(r#"","new":"fn start"}"#);
    let outcome = stream.complete().await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    assert_eq!(
        log.names(&id(1)),
        [
            "announced",
            "input grew",
            "input grew",
            "input arrived",
            "prepared",
            "decided",
            "started",
            "finished"
        ]
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_ends_the_call() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(AllowAll).build();
    let turn = engine.turn();
    let mut stream = turn.open("edit_file").await;
    stream.grow(r#"{"path":"#);
    drop(stream);
    settle().await;
    turn.end().await;
    let (_, last) = log.all().pop().unwrap();
    assert!(matches!(last, Event::Finished(finish)
        if finish.ending == Ending::interrupted("the model's input broke off")));
}

#[tokio::test]
async fn a_stream_can_be_cancelled_before_it_is_complete() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(AllowAll).build();
    let turn = engine.turn();
    let mut stream = turn.open("edit_file").await;
    stream.grow(r#"{"path":"#);
    settle().await;
    assert!(engine.cancel(stream.id()));
    settle().await;
    assert_eq!(
        log.names(&id(1)).last(),
        Some(&"finished"),
        "without waiting for the model"
    );
    stream.grow(r#""a"}"#);
    let outcome = stream.complete().await;
    assert_eq!(
        outcome.ending(),
        &Ending::Cancelled {
            by: Canceller::Person
        }
    );
}

#[tokio::test]
async fn a_cancelled_stream_that_completes_all_the_same_holds_up_nobody() {
    let log = Log::default();
    let host = MemoryHost::default().with_file("/w/a", "x");
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let stream = turn.open("edit_file").await;
    engine.cancel(stream.id());
    settle().await;
    stream.complete().await;
    let next = turn
        .call(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    assert_eq!(next.await.ending(), &Ending::Completed);
}

#[tokio::test]
async fn sketches_are_made_when_the_input_doubled() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(AllowAll).build();
    let turn = engine.turn();
    let mut stream = turn.open("edit_file").await;
    stream.grow(r#"{"path":"a","old":"x","new":""#);
    for _ in 0..100_000 {
        stream.grow("x");
    }
    stream.grow(r#""}"#);
    stream.complete().await;
    let grew = log
        .names(&id(1))
        .iter()
        .filter(|name| **name == "input grew")
        .count();
    assert!((10..=14).contains(&grew), "{grew} sketches for 100 kB");
}

/// Runs a call whose input arrives in these pieces.
fn run_streamed(pieces: &[&str]) -> (Ending, Option<Input>, String) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let host = MemoryHost::default().with_file("/w/grün.rs", "a \"b\" 🦀\n");
        let log = Log::default();
        let engine = engine(registry([]), &log)
            .host(Arc::new(host))
            .policy(AllowAll)
            .build();
        let turn = engine.turn();
        let mut stream = turn.open("edit_file").await;
        pieces.iter().for_each(|piece| stream.grow(piece));
        let outcome = stream.complete().await;
        (
            outcome.ending().clone(),
            outcome.call.input().cloned(),
            outcome.call.title().to_owned(),
        )
    })
}

const INPUT: &str = r#"{"path":"gr\u00fcn.rs", "old":"\"b\" 🦀\n","new":"[{\\"}"#;

#[test]
fn every_split_in_two_gives_the_same_call() {
    let whole = run_streamed(&[INPUT]);
    assert_eq!(whole.0, Ending::Completed);
    for cut in (0..=INPUT.len()).filter(|cut| INPUT.is_char_boundary(*cut)) {
        assert_eq!(
            run_streamed(&[&INPUT[..cut], &INPUT[cut..]]),
            whole,
            "cut at {cut}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_split_in_many_gives_the_same_call(cuts in proptest::collection::vec(0..INPUT.len(), 0..12)) {
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| INPUT.is_char_boundary(*cut)).collect();
        cuts.extend([0, INPUT.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &INPUT[pair[0]..pair[1]]).collect();
        prop_assert_eq!(run_streamed(&pieces), run_streamed(&[INPUT]));
    }
}

#[tokio::test]
async fn a_streamed_input_that_is_no_json_is_kept_as_text() {
    let log = Log::default();
    let engine = engine(registry([]), &log).policy(AllowAll).build();
    let turn = engine.turn();
    let mut stream = turn.open("edit_file").await;
    stream.grow(r#"{"path": oops"#);
    let outcome = stream.complete().await;
    assert_eq!(
        outcome.call.input(),
        Some(&Input::Text(r#"{"path": oops"#.into()))
    );
    assert!(matches!(outcome.ending(), Ending::Failed { reason } if reason.contains("not JSON")));
    assert_eq!(
        json!(log.names(&id(1))),
        json!(["announced", "input grew", "input arrived", "finished"])
    );
}
