//! The hostile permission cases that depend on answers: who answers what, when, and for which call.
//! They use real tools, real rules and the v1 wire, and check the messages and the files.

#![cfg(target_os = "linux")]

mod project;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{Answer, Effect, Ending, Question, ToolRequest};
use toolcall_testkit::client::{failure, notification, select};

use crate::wire::SESSION;

use project::PolicyTestProject;

const CASES: &str = include_str!("../../../toolcall-policy/tests/it/hostile/cases.jsonl");

/// Cases that are tested elsewhere, and why.
const ELSEWHERE: [(&str, &[&str]); 4] = [
    ("there are no hooks", &["044", "045"]),
    ("the agent's own tests ask for modes", &["047"]),
    ("the history has its own tests", &["048"]),
    (
        "foreign agents are wrapped elsewhere",
        &["033", "036", "040"],
    ),
];

#[tokio::test]
async fn hostile_permission_cases() {
    let mut passed = Vec::new();
    for (number, case) in cases() {
        if run_case(&number, &case).await {
            passed.push(number);
        }
    }
    println!("hostile permission cases: {} passed", passed.len());
    for (why, numbers) in ELSEWHERE {
        println!("elsewhere ({why}): {}", numbers.join(" "));
    }
    let expected = [
        "007", "021", "022", "025", "026", "028", "030", "039", "042",
    ];
    assert_eq!(passed, expected);
}

#[tokio::test]
async fn rules_about_git_do_not_count_for_a_repository_inside_the_project() {
    let project = PolicyTestProject::with_policy("[[allow]]\nrun = 'git status'\n");
    project.file(".git/config", "[core]\n\tbare = false\n");
    project.file("plain/there.txt", "");
    project.file("vendor/x/.git/config", "[core]\n\tfsmonitor = touch evil\n");
    project.file("vendor/y/.git", "gitdir: ../x/.git\n");
    let engine = project.engine().build();
    let decided = async |command: &str| {
        let request = ToolRequest::new("run_command", json!({"command": command}));
        let outcome = engine.run(request).await;
        outcome.call.decision().map(|decision| decision.effect)
    };
    for command in ["git status", "cd plain && git status"] {
        assert_eq!(decided(command).await, Some(Effect::Allow), "{command}");
    }
    for command in ["cd vendor/x && git status", "cd vendor/y && git status"] {
        assert_eq!(decided(command).await, Some(Effect::Deny), "{command}");
    }
    assert!(!project.has("vendor/x/evil"));
}

fn cases() -> BTreeMap<String, Value> {
    let all = CASES
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let number = |case: &Value| {
        let id = case["id"].as_str()?.strip_prefix("permission-")?;
        Some(id[..3].to_owned())
    };
    all.filter_map(|case| Some((number(&case)?, case)))
        .collect()
}

/// Runs a case. Returns whether it is one of these; panics if it fails.
async fn run_case(number: &str, case: &Value) -> bool {
    let request = request(&case["input"]);
    match number {
        "007" => without_an_approver(request).await,
        "021" => script_is_swapped(request).await,
        "022" => no_yes(request, |asked| vec![select(asked, "yolo")]).await,
        "025" => {
            let both = |asked: &Value| {
                let reject = select(asked, "reject-once");
                vec![reject, select(asked, "allow-once")]
            };
            no_yes(request, both).await;
        }
        "026" => no_yes(request, |asked| vec![failure(asked, -32603, "no")]).await,
        "028" => cancelled_right_after(request).await,
        "030" => never_answered(request).await,
        "039" => every_argument_is_shown(&case["input"]["args"]).await,
        "042" => flags_of_the_model(request).await,
        _ => return false,
    }
    true
}

fn cancel() -> Value {
    notification("session/cancel", json!({"sessionId": SESSION}))
}

fn request(input: &Value) -> ToolRequest {
    let tool = input["tool"].as_str().unwrap_or("send");
    ToolRequest::new(tool, input["args"].clone())
}

async fn without_an_approver(request: ToolRequest) {
    let project = PolicyTestProject::with_policy("[[ask]]\ntool = 'run_command'\n");
    let outcome = project.engine().build().run(request).await;
    assert!(
        matches!(outcome.ending(), Ending::Denied { .. }),
        "{:?}",
        outcome.ending()
    );
}

async fn script_is_swapped(request: ToolRequest) {
    let project = PolicyTestProject::new();
    let script = project.executable("run.sh", "#!/bin/sh\necho good\n");
    let swapped = script.clone();
    let approver = move |_: Arc<Question>| {
        std::fs::write(&swapped, "#!/bin/sh\ntouch evil\n").unwrap();
        std::future::ready(Answer::AllowOnce)
    };
    let engine = project.engine().approver(approver).build();
    let outcome = engine.run(request.clone()).await;
    let reason = outcome.ending().reason().unwrap_or_default();
    assert!(
        reason.contains("run.sh` changed after the command was approved"),
        "{reason}"
    );
    assert!(!project.has("evil"));
    // An unchanged script runs.
    project.executable("run.sh", "#!/bin/sh\ntouch good\n");
    let approver = |_: Arc<Question>| std::future::ready(Answer::AllowOnce);
    let outcome = project
        .engine()
        .approver(approver)
        .build()
        .run(request)
        .await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    assert!(project.has("good"));
}

async fn no_yes(request: ToolRequest, reply: impl Fn(&Value) -> Vec<Value> + Send + 'static) {
    let project = PolicyTestProject::new();
    let wire = project.play(request, reply).await;
    assert_eq!(wire.statuses().last(), Some(&"failed"));
    assert!(!project.has("a"));
}

async fn cancelled_right_after(request: ToolRequest) {
    let project = PolicyTestProject::new();
    let reply = |asked: &Value| vec![select(asked, "allow-once"), cancel()];
    let wire = project.play(request, reply).await;
    assert_eq!(wire.stop_reason(), "cancelled");
    let statuses = wire.statuses();
    let endings = statuses
        .iter()
        .filter(|status| ["completed", "failed"].contains(status));
    assert_eq!(endings.count(), 1, "{statuses:?}");
    let began = statuses.contains(&"in_progress");
    assert!(
        began || !project.has("M"),
        "it ran and was not reported: {statuses:?}"
    );
}

async fn never_answered(request: ToolRequest) {
    let (silent, busy) = (PolicyTestProject::new(), PolicyTestProject::new());
    let waiting = tokio::spawn(async move {
        let wire = silent.play(request, |_| vec![cancel()]).await;
        (wire, silent)
    });
    let read = ToolRequest::new("read_file", json!({"path": "there.txt"}));
    let wire = busy.play(read, |_| Vec::new()).await;
    assert_eq!(wire.statuses().last(), Some(&"completed"));
    let (wire, silent) = waiting.await.unwrap();
    assert_eq!(wire.stop_reason(), "cancelled");
    assert_eq!(wire.statuses().last(), Some(&"failed"));
    assert!(!silent.has("a"));
}

async fn every_argument_is_shown(args: &Value) {
    let project = PolicyTestProject::new();
    let reply = |asked: &Value| vec![select(asked, "reject-once")];
    let request = ToolRequest::new("send", args.clone());
    let wire = project.play(request, reply).await;
    let asked = wire.question();
    assert_eq!(asked["params"]["toolCall"]["rawInput"], *args);
    let shown = asked["params"]["toolCall"]["content"].to_string();
    for part in ["to", "bcc", "evil", "pad"] {
        assert!(shown.contains(part), "`{part}` is not in {shown}");
    }
}

async fn flags_of_the_model(request: ToolRequest) {
    let project = PolicyTestProject::with_policy("[[allow]]\nrun = 'ls'\n");
    let approver = |_: Arc<Question>| std::future::ready(Answer::AllowOnce);
    let outcome = project
        .engine()
        .approver(approver)
        .build()
        .run(request)
        .await;
    let reason = outcome.ending().reason().unwrap_or_default();
    assert!(reason.contains("dangerouslyDisableSandbox"), "{reason}");
    assert!(outcome.call.decision().is_none());
}
