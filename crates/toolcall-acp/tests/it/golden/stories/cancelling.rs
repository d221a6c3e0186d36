//! Golden tests of cancelling: the turn, one call, a withdrawn prompt, while asking and while running.
//! Every cancelled call is reported before the prompt is answered.

use serde_json::{Value, json};
use toolcall::*;

use crate::golden::harness::{ClientReplies, Story};
use crate::golden::line::PROMPT;
use crate::golden::script::{asks, cancel, reports_status, terminal};
use crate::golden::tools::{call, edit, endless, run, shell, tools};

#[tokio::test(start_paused = true)]
async fn cancelled_while_asking() {
    let host = MemoryHost::default().with_file("/w/a.rs", "old");
    let story = Story::new(tools([])).host(host);
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            cancel(out);
            out.answer(line, json!({"outcome": {"outcome": "cancelled"}}));
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
        prompt.say("never said").await;
    });
    wire.await.check("cancelled_while_asking");
}

/// The answer may arrive before its `session/cancel`.
#[tokio::test(start_paused = true)]
async fn a_question_answered_with_cancelled_cancels_the_turn() {
    let host = MemoryHost::default().with_file("/w/a.rs", "old");
    let story = Story::new(tools([])).host(host);
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            out.answer(line, json!({"outcome": {"outcome": "cancelled"}}));
            cancel(out);
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
        prompt.say("never said").await;
    });
    wire.await.check("cancelled_by_an_answer");
}

#[tokio::test(start_paused = true)]
async fn cancelled_while_running() {
    let story = Story::new(tools([endless("watch")]));
    let client = |line: &Value, out: &mut ClientReplies| {
        if reports_status(line, "call-1", "in_progress") {
            cancel(out);
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(call("watch")).await;
    });
    wire.await.check("cancelled_while_running");
}

#[tokio::test(start_paused = true)]
async fn one_call_is_cancelled_and_the_other_goes_on() {
    let story = Story::new(tools([endless("watch"), endless("guard")]));
    let stop = |out: &mut ClientReplies, call: &str, id: u64| {
        let params = json!({"sessionId": "s1", "toolCallId": call});
        out.send(
            json!({"jsonrpc": "2.0", "id": id, "method": "_toolcall/cancel", "params": params}),
        );
    };
    let client = move |line: &Value, out: &mut ClientReplies| {
        if reports_status(line, "call-2", "in_progress") {
            stop(out, "call-1", 10);
        }
        if reports_status(line, "call-1", "failed") {
            stop(out, "call-1", 11);
            stop(out, "call-2", 12);
        }
    };
    let wire = story.play(client, |prompt| async move {
        let first = prompt.begin(call("watch")).await;
        let second = prompt.begin(call("guard")).await;
        tokio::join!(first, second);
    });
    wire.await.check("one_call_cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_withdrawn() {
    let story = Story::new(tools([endless("watch")]));
    let client = |line: &Value, out: &mut ClientReplies| {
        if reports_status(line, "call-1", "in_progress") {
            out.notify("$/cancel_request", json!({"requestId": PROMPT}));
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(call("watch")).await;
    });
    wire.await.check("prompt_withdrawn");
}

#[tokio::test(start_paused = true)]
async fn a_terminal_is_killed_and_released() {
    let story = Story::new(tools([shell()]))
        .offering(json!({"terminal": true}))
        .engine(|engine| engine.policy(AllowAll));
    let client = |line: &Value, out: &mut ClientReplies| match line["method"].as_str() {
        Some("terminal/wait_for_exit") => cancel(out),
        _ => terminal(
            line,
            out,
            "ser",
            &json!({"exitCode": null, "signal": "SIGTERM"}),
        ),
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(run("serve")).await;
    });
    wire.await.check("terminal_killed");
}

/// The client creates the terminal after it cancelled: it is released before the prompt is answered.
#[tokio::test(start_paused = true)]
async fn a_terminal_that_opens_after_a_cancel_is_released_before_the_answer() {
    let story = Story::new(tools([shell()]))
        .offering(json!({"terminal": true}))
        .engine(|engine| engine.policy(AllowAll));
    let client = |line: &Value, out: &mut ClientReplies| match line["method"].as_str() {
        Some("terminal/create") => {
            cancel(out);
            out.answer(line, json!({"terminalId": "term-1"}));
        }
        Some("terminal/wait_for_exit") => {}
        _ => terminal(
            line,
            out,
            "",
            &json!({"exitCode": null, "signal": "SIGKILL"}),
        ),
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(run("serve")).await;
    });
    wire.await.check("terminal_after_cancel");
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_opens_too_late_is_released() {
    let story = Story::new(tools([shell()]))
        .offering(json!({"terminal": true}))
        .engine(|engine| engine.policy(AllowAll));
    let mut creating: Option<Value> = None;
    let client = move |line: &Value, out: &mut ClientReplies| match line["method"].as_str() {
        Some("terminal/create") => {
            creating = Some(line.clone());
            cancel(out);
        }
        _ if reports_status(line, "call-1", "failed") => {
            let creating = creating.as_ref().expect("a terminal");
            out.answer(creating, json!({"terminalId": "term-1"}));
        }
        _ => terminal(line, out, "", &json!({})),
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(run("serve")).await;
    });
    wire.await.check("terminal_too_late");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_ends_the_calls() {
    let story = Story::new(tools([endless("watch")]));
    let client = |line: &Value, out: &mut ClientReplies| {
        if reports_status(line, "call-1", "in_progress") {
            out.stop_reading();
        }
    };
    let (working, at_work) = tokio::sync::oneshot::channel::<()>();
    let working = std::sync::Mutex::new(Some(working));
    let wire = story.play(client, move |prompt| {
        let working = working.lock().expect("once").take();
        async move {
            let _working = working;
            prompt.call(call("watch")).await;
            std::future::pending::<()>().await;
        }
    });
    let endings: Vec<_> = wire
        .await
        .stored()
        .iter()
        .map(|call| call.ending().map(Ending::name))
        .collect();
    assert_eq!(endings, [Some("cancelled")]);
    at_work.await.expect_err("the prompt is no longer answered");
}
