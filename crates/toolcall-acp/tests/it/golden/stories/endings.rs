//! Golden tests of calls that fail: timeout, panic, unknown tool, invalid input.
//! Each call has one ending with its reason.

use std::time::Duration;

use serde_json::json;
use toolcall::*;

use crate::golden::harness::Story;
use crate::golden::script::silent;
use crate::golden::tools::{call, endless, read, tool, tools};

#[tokio::test(start_paused = true)]
async fn a_call_takes_too_long() {
    let limits = Limits {
        run: Duration::from_secs(3),
        ..Limits::default()
    };
    let story = Story::new(tools([endless("watch")])).engine(move |engine| engine.limits(limits));
    let wire = story.play(silent, |prompt| async move {
        prompt.call(call("watch")).await;
    });
    wire.await.check("timeout");
}

#[tokio::test(start_paused = true)]
async fn a_silent_call_gives_signs_of_life() {
    let limits = Limits {
        run: Duration::from_secs(12),
        ..Limits::default()
    };
    let story = Story::new(tools([endless("watch")])).engine(move |engine| engine.limits(limits));
    let wire = story.play(silent, |prompt| async move {
        prompt.call(call("watch")).await;
    });
    wire.await.check("signs_of_life");
}

#[tokio::test(start_paused = true)]
async fn a_tool_panics() {
    let explode = tool("explode", |_, scope| async move {
        scope.print("so far, so good\n");
        if scope.is_cancelled() {
            return Ok("never");
        }
        panic!("the fuse was short")
    });
    let story = Story::new(tools([explode]));
    let wire = story.play(silent, |prompt| async move {
        prompt.call(call("explode")).await;
    });
    wire.await.check("panic");
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_not_known() {
    let story = Story::new(tools([]));
    let wire = story.play(silent, |prompt| async move {
        prompt
            .call(ToolRequest::new("red_file", json!({"path": "a.rs"})))
            .await;
    });
    wire.await.check("unknown_tool");
}

#[tokio::test(start_paused = true)]
async fn an_input_does_not_fit() {
    let story = Story::new(tools([]));
    let wire = story.play(silent, |prompt| async move {
        prompt
            .call(ToolRequest::new("read_file", json!({"file": 7})))
            .await;
        prompt
            .call(ToolRequest::from_text("read_file", "{\"path\": "))
            .await;
    });
    wire.await.check("bad_input");
}

#[tokio::test(start_paused = true)]
async fn a_tool_fails_and_says_why() {
    let story = Story::new(tools([]));
    let wire = story.play(silent, |prompt| async move {
        prompt.call(read("nowhere.rs")).await;
    });
    wire.await.check("failure");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_leaves_its_call_behind_ends_it() {
    let story = Story::new(tools([endless("watch")]));
    let wire = story.play(silent, |prompt| async move {
        prompt.begin(call("watch")).await;
        tokio::task::yield_now().await;
    });
    wire.await.check("left_behind");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_ends_its_calls() {
    let story = Story::new(tools([endless("watch")]));
    let wire = story.play(silent, |prompt| async move {
        prompt.begin(call("watch")).await;
        panic!("the model is confused");
    });
    wire.await.check("model_panics");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_panics_at_once_is_answered_for() {
    let story = Story::new(tools([]));
    let wire = story.play(silent, |prompt| {
        assert!(prompt.is_cancelled(), "the model is confused");
        async {}
    });
    wire.await.check("model_panics_at_once");
}
