//! Golden tests of permission: always, evaluated again, never answered, answered with an invalid answer.
//! Only a chosen option that was offered is a yes.

use serde_json::{Value, json};
use toolcall::*;

use crate::golden::harness::{ClientReplies, Story};
use crate::golden::script::{allows, asks, asks_about, chosen, reports_status};
use crate::golden::tools::{call, changing, edit, run, shell, tools};

fn project() -> MemoryHost {
    MemoryHost::default()
        .with_file("/w/a.rs", "old")
        .with_file("/w/b.rs", "old")
        .with_command("make", "made\n", Exit::Code(0))
}

#[tokio::test(start_paused = true)]
async fn always_is_asked_once() {
    let story = Story::new(tools([shell()])).host(project());
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            out.answer(line, chosen("allow-always-1"));
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(run("make")).await;
        prompt.call(run("make")).await;
    });
    wire.await.check("always");
}

#[tokio::test(start_paused = true)]
async fn always_settles_a_question_that_waits() {
    let story = Story::new(tools([shell()])).host(project());
    let mut first: Option<Value> = None;
    let client = move |line: &Value, out: &mut ClientReplies| {
        if asks_about(line, "call-1") {
            first = Some(line.clone());
        }
        if asks_about(line, "call-2") {
            let first = first.take().expect("the first question");
            out.answer(&first, chosen("allow-always-1"));
        }
    };
    let wire = story.play(client, |prompt| async move {
        let first = prompt.begin(run("make")).await;
        let second = prompt.begin(run("make")).await;
        tokio::join!(first, second);
    });
    wire.await.check("always_settles_what_waits");
}

#[tokio::test(start_paused = true)]
async fn never_is_remembered_too() {
    let story = Story::new(tools([shell()])).host(project());
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            out.answer(line, chosen("reject-always"));
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(run("make")).await;
        prompt.call(run("make")).await;
    });
    wire.await.check("never");
}

#[tokio::test(start_paused = true)]
async fn a_question_without_an_answer_holds_up_nobody() {
    let story = Story::new(tools([])).host(project());
    let mut unanswered: Option<Value> = None;
    let client = move |line: &Value, out: &mut ClientReplies| {
        if asks_about(line, "call-1") {
            unanswered = Some(line.clone());
            return;
        }
        allows(line, out);
        if reports_status(line, "call-2", "completed") {
            out.answer(
                unanswered.as_ref().expect("a question"),
                chosen("reject-once"),
            );
        }
    };
    let wire = story.play(client, |prompt| async move {
        let first = prompt.begin(edit("a.rs", "old", "new")).await;
        let second = prompt.begin(edit("b.rs", "old", "new")).await;
        tokio::join!(first, second);
    });
    wire.await.check("unanswered");
}

async fn check_no_yes(answer: Value, name: &str) {
    let story = Story::new(tools([])).host(project());
    let client = move |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            out.answer(line, answer.clone());
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
    });
    wire.await.check(name);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_is_no_yes() {
    let answer = json!({"outcome": {"outcome": "granted", "optionId": "allow-once"}});
    check_no_yes(answer, "unknown_outcome").await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_option_is_no_yes() {
    check_no_yes(chosen("yes"), "unknown_option").await;
}

#[tokio::test(start_paused = true)]
async fn an_error_is_no_yes() {
    let story = Story::new(tools([])).host(project());
    let client = |line: &Value, out: &mut ClientReplies| {
        if asks(line) {
            let error = json!({"code": -32603, "message": "the window is closed"});
            out.send(json!({"jsonrpc": "2.0", "id": line["id"], "error": error}));
        }
    };
    let wire = story.play(client, |prompt| async move {
        prompt.call(edit("a.rs", "old", "new")).await;
    });
    wire.await.check("permission_fails");
}

#[tokio::test(start_paused = true)]
async fn hidden_characters_in_a_command_are_shown() {
    let story = Story::new(tools([shell()])).host(project());
    let wire = story.play(crate::golden::script::refuses, |prompt| async move {
        prompt.call(run("echo hi;\u{202e}rm -rf /\u{200b}")).await;
    });
    wire.await.check("hidden_in_a_command");
}

#[tokio::test(start_paused = true)]
async fn every_diff_of_a_call_is_asked_about() {
    let edits = vec![
        FileEdit::modified("/w/a.rs", "old", "new"),
        FileEdit::modified("/w/b.rs", "old", "new"),
        FileEdit::added("/w/c.rs", "new"),
    ];
    let story = Story::new(tools([changing("refactor", Kind::Edit, edits)])).host(project());
    let wire = story.play(allows, |prompt| async move {
        prompt.call(call("refactor")).await;
    });
    wire.await.check("many_diffs");
}
