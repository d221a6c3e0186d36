//! Golden tests of commands and their output, in each of the three ways a client may show it.
//! The budget for output is small, so that the golden files are.

use serde_json::{Value, json};
use toolcall::*;
use toolcall_acp::service::CommandPlacement;

use crate::golden::harness::{ClientReplies, Story};
use crate::golden::script::{allows, silent, terminal};
use crate::golden::tools::{run, shell, tools};

const COUNT: &str = "seq 40";

fn machine() -> MemoryHost {
    let numbers: String = (1..=40).map(|number| format!("{number}\n")).collect();
    MemoryHost::default()
        .with_command(COUNT, &numbers, Exit::Code(0))
        .with_command("true", "", Exit::Code(0))
        .with_command("make", "\u{1b}[31merror\u{1b}[0m: no rule\n", Exit::Code(3))
        .with_command("crash", "", Exit::Signal(11))
}

fn story(offers: Value) -> Story {
    let small = OutputBudget { head: 16, tail: 24 };
    Story::new(tools([shell()]))
        .host(machine())
        .offering(offers)
        .engine(move |engine| engine.policy(AllowAll).output_budget(small))
}

fn extension() -> Value {
    json!({"_meta": {"terminal_output": true}})
}

#[tokio::test(start_paused = true)]
async fn long_output_as_text_is_head_and_tail_and_a_link() {
    let wire = story(json!({})).play(silent, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    wire.await.check("output_as_text");
}

#[tokio::test(start_paused = true)]
async fn long_output_goes_into_a_terminal_of_ours() {
    let wire = story(extension()).play(silent, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    wire.await.check("output_in_our_terminal");
}

#[tokio::test(start_paused = true)]
async fn long_output_stays_in_the_clients_terminal() {
    let client = |line: &Value, out: &mut ClientReplies| {
        terminal(
            line,
            out,
            "1\n2\n3\n",
            &json!({"exitCode": 0, "signal": null}),
        );
    };
    let wire = story(json!({"terminal": true})).play(client, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    wire.await.check("output_in_the_clients_terminal");
}

#[tokio::test(start_paused = true)]
async fn a_client_with_both_terminals_shows_its_own() {
    let client = |line: &Value, out: &mut ClientReplies| {
        terminal(
            line,
            out,
            "1\n2\n3\n",
            &json!({"exitCode": 0, "signal": null}),
        );
    };
    let both = json!({"terminal": true, "_meta": {"terminal_output": true}});
    let wire = story(both).play(client, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    wire.await.check("output_with_both_terminals");
}

#[tokio::test(start_paused = true)]
async fn a_text_that_the_user_approved_runs_in_the_clients_shell() {
    let client = |line: &Value, out: &mut ClientReplies| {
        allows(line, out);
        terminal(line, out, "1\n2\n", &json!({"exitCode": 0, "signal": null}));
    };
    let story = Story::new(tools([shell()])).offering(json!({"terminal": true}));
    let wire = story.play(client, |prompt| async move {
        prompt.call(run("echo 1; echo 2")).await;
    });
    wire.await.check("approved_text_in_the_clients_shell");
}

#[tokio::test(start_paused = true)]
async fn with_a_sandbox_on_commands_run_here() {
    let story = story(json!({"terminal": true})).commands(CommandPlacement::InAgent);
    let wire = story.play(silent, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    wire.await.check("commands_here");
}

async fn check_all_ends(offers: Value, name: &str) {
    let wire = story(offers).play(silent, |prompt| async move {
        for command in ["true", "make", "crash", "nonsense"] {
            prompt.call(run(command)).await;
        }
    });
    wire.await.check(name);
}

#[tokio::test(start_paused = true)]
async fn commands_end_with_a_code_or_a_signal() {
    check_all_ends(json!({}), "exits_as_text").await;
}

#[tokio::test(start_paused = true)]
async fn commands_end_in_a_terminal_of_ours() {
    check_all_ends(extension(), "exits_in_our_terminal").await;
}

async fn check_client_exit(exit: Value, name: &str) {
    let client =
        move |line: &Value, out: &mut ClientReplies| terminal(line, out, "no rule\n", &exit);
    let wire = story(json!({"terminal": true})).play(client, |prompt| async move {
        prompt.call(run("make")).await;
    });
    wire.await.check(name);
}

#[tokio::test(start_paused = true)]
async fn a_command_in_the_clients_terminal_fails() {
    check_client_exit(json!({"exitCode": 3, "signal": null}), "client_exit_code").await;
}

#[tokio::test(start_paused = true)]
async fn a_command_in_the_clients_terminal_is_killed_by_a_signal() {
    check_client_exit(
        json!({"exitCode": null, "signal": "SIGKILL"}),
        "client_signal",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_cannot_be_made_fails_the_call() {
    let client = |line: &Value, out: &mut ClientReplies| {
        if line["method"] == "terminal/create" {
            let error = json!({"code": -32603, "message": "no more terminals"});
            out.send(json!({"jsonrpc": "2.0", "id": line["id"], "error": error}));
        }
    };
    let wire = story(json!({"terminal": true})).play(client, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    wire.await.check("no_terminal");
}

#[tokio::test(start_paused = true)]
async fn output_that_the_client_truncated_is_marked() {
    let client = |line: &Value, out: &mut ClientReplies| {
        let exit = json!({"exitCode": 0, "signal": null});
        if line["method"] == "terminal/output" {
            out.answer(
                line,
                json!({"output": "39\n40\n", "truncated": true, "exitStatus": exit}),
            );
        } else {
            terminal(line, out, "", &exit);
        }
    };
    let wire = Story::new(tools([shell()]))
        .offering(json!({"terminal": true}))
        .engine(|engine| engine.policy(AllowAll));
    let wire = wire.play(client, |prompt| async move {
        prompt.call(run(COUNT)).await;
    });
    let printed: Vec<_> = wire
        .await
        .stored()
        .iter()
        .map(|call| call.output().text())
        .collect();
    assert_eq!(
        printed,
        ["… the beginning was left out by the client …\n39\n40\n"]
    );
}
