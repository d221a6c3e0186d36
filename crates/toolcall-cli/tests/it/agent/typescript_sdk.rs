//! A client that uses the npm package `@agentclientprotocol/sdk` drives `toolcall agent`.
//! `cargo xtask test` installs the package; without it nothing is tested, which is a failure in CI.

use std::path::PathBuf;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::PROGRAM;
use crate::agent::home::AgentHome;

const CLIENT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/it/agent/typescript_sdk/client.mjs"
);

/// A turn each: read, edit, command, failure, refused command, cancel, and a plan with two things at once.
const SCRIPT: &str = "
- - think: I look first.
  - say: I will read it.
  - call: {tool: read_file, input: {path: hello.txt}}
  - say: It says hello.
- - call: {tool: edit_file, input: {path: hello.txt, edits: [{type: replace, oldText: world, newText: moon}]}}
  - say: Changed.
- - call: {tool: run_command, input: {command: 'cat hello.txt && touch b.txt'}}
  - say: Ran.
- - call: {tool: read_file, input: {path: missing.txt}}
  - call: {tool: run_command, input: {command: ls missing.txt}}
  - say: Nothing there.
- - call: {tool: run_command, input: {command: rm -rf hello.txt}}
  - say: Refused.
- - call: {tool: run_command, input: {command: sleep 600}}
  - say: Never said.
- - call: {tool: todo_write, input: {todos: [{content: Look, status: completed}, {content: Rest, status: pending}]}}
  - say: Planned.
";

/// Returns the directory of the package, if it is installed.
fn sdk() -> Option<PathBuf> {
    let directory = std::env::var_os("TOOLCALL_ACP_SDK").map(PathBuf::from);
    let is_ci = std::env::var_os("CI").is_some();
    assert!(
        directory.is_some() || !is_ci,
        "CI runs `cargo xtask test`, which installs the package"
    );
    if directory.is_none() {
        eprintln!("skipped: no ACP SDK of npm; `cargo xtask test` installs it");
    }
    directory
}

/// Checks what a client with these capabilities shows.
fn check(capabilities: &Value, expected: &Expect) {
    let Some(sdk) = sdk() else { return };
    let home = AgentHome::new();
    let script = home.write("script.yaml", SCRIPT);
    let model = format!("script:{}", script.display());
    let (sdk, capabilities) = (sdk.display().to_string(), capabilities.to_string());
    let prompts = prompts().to_string();
    let args = [
        CLIENT,
        &sdk,
        &capabilities,
        &prompts,
        PROGRAM,
        "agent",
        "--model",
        &model,
    ];
    let output = home.command("node", &args).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let shown = String::from_utf8(output.stdout).unwrap();
    expected.assert_eq(&home.steady(&shown));
    home.wait_for_processes(None);
}

/// Returns the prompts, the answers to questions, and when to cancel.
fn prompts() -> Value {
    json!([
        {"text": "read it"},
        {"text": "change it", "answer": "allow_once"},
        {"text": "run it", "answer": "allow_once"},
        {"text": "fail", "answer": "allow_once"},
        {"text": "destroy it", "answer": "reject_once"},
        {"text": "wait", "answer": "allow_once", "cancel": true},
        {"text": "plan it"},
    ])
}

#[test]
fn a_client_of_the_typescript_sdk_shows_every_turn() {
    check(
        &json!({}),
        &expect![[r#"
        {"connected":"toolcall","protocolVersion":1}
        {"prompt":"read it"}
        {"title":"read it"}
        {"thought":"I look first."}
        {"said":"I will read it."}
        {"call":{"title":"Read hello.txt","name":"read_file","kind":"read","content":["Hello, world!\n","`hello.txt`: line 1 of 1, 14 bytes in all"],"places":["…/project/hello.txt"],"statuses":["pending","in_progress","completed"]}}
        {"said":"It says hello."}
        {"stopped":"end_turn"}
        {"prompt":"change it"}
        {"asked":"Edit hello.txt","content":[{"diff":"…/project/hello.txt","from":"Hello, world!\n","to":"Hello, moon!\n"}],"options":["allow_once: Allow once","allow_always: Always allow in this session: write = \"./hello.txt\"","allow_always: Always allow in this project: write = \"./hello.txt\"","reject_once: Reject","reject_always: Always reject in this session: write = \"./hello.txt\""],"chosen":"allow_once"}
        {"call":{"title":"Edit hello.txt","name":"edit_file","kind":"edit","content":[{"diff":"…/project/hello.txt","from":"Hello, world!\n","to":"Hello, moon!\n"},"edited `hello.txt`: 1 line added, 1 removed\n--- hello.txt\n+++ hello.txt\n@@ -1 +1 @@\n-Hello, world!\n+Hello, moon!\n"],"places":["…/project/hello.txt:1"],"statuses":["pending","in_progress","completed"]}}
        {"said":"Changed."}
        {"stopped":"end_turn"}
        {"prompt":"run it"}
        {"asked":"cat hello.txt && touch b.txt","content":["```sh\ncat hello.txt && touch b.txt\n```\nin `…/project`"],"options":["allow_once: Allow once","allow_always: Always allow in this session: exactly = \"cat hello.txt && touch b.txt\", in = \"…/project\"","allow_always: Always allow in this project: exactly = \"cat hello.txt && touch b.txt\", in = \"…/project\"","reject_once: Reject","reject_always: Always reject in this session: exactly = \"cat hello.txt && touch b.txt\", in = \"…/project\""],"chosen":"allow_once"}
        {"call":{"title":"cat hello.txt && touch b.txt","name":"run_command","kind":"execute","content":["it ended with exit code 0","```\nHello, moon!\n```"],"places":[],"statuses":["pending","in_progress","completed"]}}
        {"said":"Ran."}
        {"stopped":"end_turn"}
        {"prompt":"fail"}
        {"call":{"title":"Read missing.txt","name":"read_file","kind":"read","content":["`…/project/missing.txt` does not exist"],"places":["…/project/missing.txt"],"statuses":["pending","in_progress","failed"]}}
        {"asked":"ls missing.txt","content":["```sh\nls missing.txt\n```\nin `…/project`"],"options":["allow_once: Allow once","allow_always: Always allow in this session: exactly = \"ls missing.txt\", in = \"…/project\"","allow_always: Always allow in this project: exactly = \"ls missing.txt\", in = \"…/project\"","allow_always: Always allow in this session: run = \"ls\"","allow_always: Always allow in this project: run = \"ls\"","allow_always: Always allow everywhere: run = \"ls\"","reject_once: Reject","reject_always: Always reject in this session: exactly = \"ls missing.txt\", in = \"…/project\""],"chosen":"allow_once"}
        {"call":{"title":"ls missing.txt","name":"run_command","kind":"execute","content":["the command failed with exit code 2","```\nls: cannot access 'missing.txt': No such file or directory\n```"],"places":[],"statuses":["pending","in_progress","failed"]}}
        {"said":"Nothing there."}
        {"stopped":"end_turn"}
        {"prompt":"destroy it"}
        {"asked":"rm -rf hello.txt","content":["```sh\nrm -rf hello.txt\n```\nin `…/project`"],"options":["allow_once: Allow once","reject_once: Reject"],"chosen":"reject_once"}
        {"call":{"title":"rm -rf hello.txt","name":"run_command","kind":"execute","content":["not allowed: the user rejected it"],"places":[],"statuses":["pending","failed"]}}
        {"said":"Refused."}
        {"stopped":"end_turn"}
        {"prompt":"wait"}
        {"asked":"sleep 600","content":["```sh\nsleep 600\n```\nin `…/project`"],"options":["allow_once: Allow once","allow_always: Always allow in this session: exactly = \"sleep 600\", in = \"…/project\"","allow_always: Always allow in this project: exactly = \"sleep 600\", in = \"…/project\"","allow_always: Always allow in this session: run = \"sleep\"","allow_always: Always allow in this project: run = \"sleep\"","allow_always: Always allow everywhere: run = \"sleep\"","reject_once: Reject","reject_always: Always reject in this session: exactly = \"sleep 600\", in = \"…/project\""],"chosen":"allow_once"}
        {"call":{"title":"sleep 600","name":"run_command","kind":"execute","content":["cancelled by the user"],"places":[],"statuses":["pending","in_progress","failed"]}}
        {"stopped":"cancelled"}
        {"prompt":"plan it"}
        {"plan":["completed: Look","pending: Rest"]}
        {"call":{"title":"Plan: 2 steps","name":"todo_write","kind":"think","content":["the plan has 2 steps: 1 completed, 0 in progress, 1 pending"],"places":[],"statuses":["pending","in_progress","completed"]}}
        {"said":"Planned."}
        {"stopped":"end_turn"}
        {"commands":["tools","policy","history","undo","stats","model"],"exited":0}
    "#]],
    );
}

#[test]
fn a_client_of_the_typescript_sdk_serves_the_files() {
    let files = json!({"fs": {"readTextFile": true, "writeTextFile": true}});
    check(
        &files,
        &expect![[r#"
            {"connected":"toolcall","protocolVersion":1}
            {"prompt":"read it"}
            {"title":"read it"}
            {"thought":"I look first."}
            {"said":"I will read it."}
            {"read":"…/project/hello.txt"}
            {"call":{"title":"Read hello.txt","name":"read_file","kind":"read","content":["Hello, world!\n","`hello.txt`: line 1 of 1, 14 bytes in all"],"places":["…/project/hello.txt"],"statuses":["pending","in_progress","completed"]}}
            {"said":"It says hello."}
            {"stopped":"end_turn"}
            {"prompt":"change it"}
            {"read":"…/project/hello.txt"}
            {"asked":"Edit hello.txt","content":[{"diff":"…/project/hello.txt","from":"Hello, world!\n","to":"Hello, moon!\n"}],"options":["allow_once: Allow once","allow_always: Always allow in this session: write = \"./hello.txt\"","allow_always: Always allow in this project: write = \"./hello.txt\"","reject_once: Reject","reject_always: Always reject in this session: write = \"./hello.txt\""],"chosen":"allow_once"}
            {"read":"…/project/hello.txt"}
            {"wrote":"…/project/hello.txt","content":"Hello, moon!\n"}
            {"call":{"title":"Edit hello.txt","name":"edit_file","kind":"edit","content":[{"diff":"…/project/hello.txt","from":"Hello, world!\n","to":"Hello, moon!\n"},"edited `hello.txt`: 1 line added, 1 removed\n--- hello.txt\n+++ hello.txt\n@@ -1 +1 @@\n-Hello, world!\n+Hello, moon!\n"],"places":["…/project/hello.txt:1"],"statuses":["pending","in_progress","completed"]}}
            {"said":"Changed."}
            {"stopped":"end_turn"}
            {"prompt":"run it"}
            {"asked":"cat hello.txt && touch b.txt","content":["```sh\ncat hello.txt && touch b.txt\n```\nin `…/project`"],"options":["allow_once: Allow once","allow_always: Always allow in this session: exactly = \"cat hello.txt && touch b.txt\", in = \"…/project\"","allow_always: Always allow in this project: exactly = \"cat hello.txt && touch b.txt\", in = \"…/project\"","reject_once: Reject","reject_always: Always reject in this session: exactly = \"cat hello.txt && touch b.txt\", in = \"…/project\""],"chosen":"allow_once"}
            {"call":{"title":"cat hello.txt && touch b.txt","name":"run_command","kind":"execute","content":["it ended with exit code 0","```\nHello, moon!\n```"],"places":[],"statuses":["pending","in_progress","completed"]}}
            {"said":"Ran."}
            {"stopped":"end_turn"}
            {"prompt":"fail"}
            {"read":"…/project/missing.txt"}
            {"call":{"title":"Read missing.txt","name":"read_file","kind":"read","content":["`…/project/missing.txt` does not exist"],"places":["…/project/missing.txt"],"statuses":["pending","in_progress","failed"]}}
            {"asked":"ls missing.txt","content":["```sh\nls missing.txt\n```\nin `…/project`"],"options":["allow_once: Allow once","allow_always: Always allow in this session: exactly = \"ls missing.txt\", in = \"…/project\"","allow_always: Always allow in this project: exactly = \"ls missing.txt\", in = \"…/project\"","allow_always: Always allow in this session: run = \"ls\"","allow_always: Always allow in this project: run = \"ls\"","allow_always: Always allow everywhere: run = \"ls\"","reject_once: Reject","reject_always: Always reject in this session: exactly = \"ls missing.txt\", in = \"…/project\""],"chosen":"allow_once"}
            {"call":{"title":"ls missing.txt","name":"run_command","kind":"execute","content":["the command failed with exit code 2","```\nls: cannot access 'missing.txt': No such file or directory\n```"],"places":[],"statuses":["pending","in_progress","failed"]}}
            {"said":"Nothing there."}
            {"stopped":"end_turn"}
            {"prompt":"destroy it"}
            {"asked":"rm -rf hello.txt","content":["```sh\nrm -rf hello.txt\n```\nin `…/project`"],"options":["allow_once: Allow once","reject_once: Reject"],"chosen":"reject_once"}
            {"call":{"title":"rm -rf hello.txt","name":"run_command","kind":"execute","content":["not allowed: the user rejected it"],"places":[],"statuses":["pending","failed"]}}
            {"said":"Refused."}
            {"stopped":"end_turn"}
            {"prompt":"wait"}
            {"asked":"sleep 600","content":["```sh\nsleep 600\n```\nin `…/project`"],"options":["allow_once: Allow once","allow_always: Always allow in this session: exactly = \"sleep 600\", in = \"…/project\"","allow_always: Always allow in this project: exactly = \"sleep 600\", in = \"…/project\"","allow_always: Always allow in this session: run = \"sleep\"","allow_always: Always allow in this project: run = \"sleep\"","allow_always: Always allow everywhere: run = \"sleep\"","reject_once: Reject","reject_always: Always reject in this session: exactly = \"sleep 600\", in = \"…/project\""],"chosen":"allow_once"}
            {"call":{"title":"sleep 600","name":"run_command","kind":"execute","content":["cancelled by the user"],"places":[],"statuses":["pending","in_progress","failed"]}}
            {"stopped":"cancelled"}
            {"prompt":"plan it"}
            {"plan":["completed: Look","pending: Rest"]}
            {"call":{"title":"Plan: 2 steps","name":"todo_write","kind":"think","content":["the plan has 2 steps: 1 completed, 0 in progress, 1 pending"],"places":[],"statuses":["pending","in_progress","completed"]}}
            {"said":"Planned."}
            {"stopped":"end_turn"}
            {"commands":["tools","policy","history","undo","stats","model"],"exited":0}
        "#]],
    );
}
