//! `todo_write`: replaces the plan.
//! It must report every step that it cannot accept.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use toolcall_tools::tools::TodoWrite;

use crate::web::support::{TestEngine, shown};

async fn check(todos: Value, expected: Expect) {
    let outcome = TestEngine::of(TodoWrite)
        .call("todo_write", json!({"todos": todos}))
        .await;
    let plan = outcome.call.plan().map_or("no plan".to_owned(), |plan| {
        let entries = plan.entries.iter();
        let lines = entries
            .map(|entry| format!("{:?} {:?} {}", entry.status, entry.priority, entry.content));
        format!("plan {:?}", lines.collect::<Vec<_>>())
    });
    expected.assert_eq(&format!("{}\n{plan}", shown(&outcome)));
}

#[tokio::test]
async fn a_plan_is_written() {
    let todos = json!([
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "in_progress", "priority": "high"},
        {"content": "rest", "status": "pending", "priority": "low", "activeForm": "resting"},
    ]);
    let story = TestEngine::of(TodoWrite)
        .transcript("todo_write", json!({"todos": todos.clone()}))
        .await;
    expect![[r#"
        announced, prepared, decided, started, planned, finished
        think: Plan: 3 steps
        touches []
        completed
        the plan has 3 steps: 1 completed, 1 in progress, 1 pending
        {"steps":[{"content":"read","status":"completed","priority":"medium"},{"content":"write","status":"in_progress","priority":"high"},{"content":"rest","status":"pending","priority":"low"}],"completed":1,"inProgress":1,"pending":1,"remarks":[]}"#]].assert_eq(&story);
    check(
        todos,
        expect![[r#"
        completed
        the plan has 3 steps: 1 completed, 1 in progress, 1 pending
        plan ["Completed Medium read", "InProgress High write", "Pending Low rest"]"#]],
    )
    .await;
}

#[tokio::test]
async fn an_empty_list_clears_the_plan() {
    let story = TestEngine::of(TodoWrite)
        .transcript("todo_write", json!({"todos": []}))
        .await;
    expect![[r#"
        announced, prepared, decided, started, planned, finished
        think: Clear the plan
        touches []
        completed
        the plan is cleared
        {"steps":[],"completed":0,"inProgress":0,"pending":0,"remarks":[]}"#]]
    .assert_eq(&story);
    check(
        json!([]),
        expect![[r#"
        completed
        the plan is cleared
        plan []"#]],
    )
    .await;
}

#[tokio::test]
async fn what_cannot_be_taken_is_reported() {
    check(
        json!([
            {"content": "a", "status": "done\u{202e}"},
            {"content": "b", "status": "In Progress", "priority": "urgent"},
            {"content": " \n", "status": "pending"},
            {"status": "completed"},
            {"content": null, "status": null},
            {"content": "two\nlines"},
        ]),
        expect![[r#"
            completed
            the plan has 3 steps: 0 completed, 1 in progress, 2 pending
            - step 1 has the unknown status `done\u{202e}` and counts as pending; use pending, in_progress or completed
            - step 2 has the unknown priority `urgent` and counts as medium; use high, medium or low
            - step 3 has no `content` and was left out
            - step 4 has no `content` and was left out
            - step 5 has no `content` and was left out
            plan ["Pending Medium a", "InProgress Medium b", "Pending Medium two lines"]"#]],
    )
    .await;
    check(json!([{"status": "pending"}]), expect![[r#"
        failed: no step could be taken, so the plan stays as it is: step 1 has no `content` and was left out
        no plan"#]]).await;
    check(
        json!("x"),
        expect![[r#"
        failed: the input does not fit the schema: `/todos` must be array, not string
        no plan"#]],
    )
    .await;
}

#[tokio::test]
async fn a_plan_has_an_end() {
    let todos: Vec<Value> = (0..300)
        .map(|n| json!({"content": format!("{n}"), "status": "pending"}))
        .collect();
    let outcome = TestEngine::of(TodoWrite)
        .call("todo_write", json!({"todos": todos}))
        .await;
    assert_eq!(
        outcome.call.plan().map(|plan| plan.entries.len()),
        Some(256)
    );
    expect![[r#"
        completed
        the plan has 256 steps: 0 completed, 0 in progress, 256 pending
        - a plan has at most 256 steps; the last 44 were left out"#]]
    .assert_eq(&shown(&outcome));
}
