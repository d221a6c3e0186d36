//! Endings, their reasons and their results.
//! It must not test earlier reports.

use expect_test::expect;
use serde_json::{Value, json};

use super::{apply, call, check, part, text, update};
use crate::v1::decode::decode;

#[test]
fn an_ending_without_content_keeps_what_was_shown() {
    check(
        [
            update(json!({"status": "in_progress", "content": [text("shown")], "rawOutput": [1]})),
            update(json!({"status": "completed"})),
        ],
        expect![[r#"
            noted toolcall/raw-output [1]
            decided Allow Unseen
            Started
            Showed([Text("shown")])
            ---
            finished Completed [Text("shown")] Some("[1]") ""
        "#]],
    );
    check(
        [
            update(json!({"content": [{"type": "diff", "path": "/a", "newText": "x"}]})),
            update(json!({"status": "completed", "rawOutput": "done"})),
        ],
        expect![[r#"
            restated None Sketch { title: "T", kind: Other, locations: [] } None [Edit(FileEdit { path: "/a", change: Added { after: Text("x") } })]
            ---
            decided Allow Unseen
            Started
            finished Completed [] Some("\"done\"") ""
        "#]],
    );
}

#[test]
fn an_ended_call_is_left_alone() {
    check(
        [
            update(json!({"status": "failed"})),
            update(json!({"status": "completed", "content": [7], "title": 5})),
            json!("anything"),
        ],
        expect![[r#"
            finished Failed { reason: "failed" } [] None ""
            ---
            ! late: `c`: a report came after the call had ended (failed); it changed nothing
            ---
            ! late: `c`: a report came after the call had ended (failed); it changed nothing
        "#]],
    );
}

#[test]
fn a_failure_has_the_best_reason_there_is() {
    let fails = |members: Value, expected| {
        let mut members = members;
        members["status"] = json!("failed");
        check([update(members)], expected);
    };
    fails(
        json!({"content": [text("```\nno such file\n```"), text("more")]}),
        expect![[r#"
            finished Failed { reason: "no such file" } [Text("more")] None ""
        "#]],
    );
    fails(
        json!({"content": [text(" \n")], "rawOutput": {"error": "no"}}),
        expect![[r#"
            finished Failed { reason: "no" } [Text(" \n")] Some("{\"error\":\"no\"}") ""
        "#]],
    );
    fails(
        json!({"rawOutput": "exit code 3"}),
        expect![[r#"
        finished Failed { reason: "exit code 3" } [] Some("\"exit code 3\"") ""
    "#]],
    );
    fails(
        json!({"rawOutput": {"exit_code": 3}}),
        expect![[r#"
            finished Failed { reason: "exit code 3" } [] Some("{\"exit_code\":3}") ""
        "#]],
    );
    fails(
        json!({"content": [text("a\u{202e}b")]}),
        expect![[r#"
        finished Failed { reason: "a\\u{202e}b" } [Text("a\u{202e}b")] None ""
    "#]],
    );
}

#[test]
fn a_long_text_gives_a_reason_and_stays() {
    let long = "ä".repeat(3000);
    let mut call = call(&json!({"toolCallId": "c", "title": "T"}));
    let decoded = decode(
        &call,
        &update(json!({"status": "failed", "content": [text(&long)]})),
    );
    apply(&mut call, &decoded.events, None);
    let finish = call.finish().unwrap();
    assert_eq!(finish.result.content, [long.as_str().into()]);
    assert_eq!(finish.ending.reason().unwrap().chars().count(), 2048);
}

#[test]
fn our_own_endings_are_exact() {
    let ends = |ending: Value, expected| {
        let content = json!([part("reason", "a sentence"), text("result")]);
        let meta = json!({"toolcall/ending": ending, "toolcall/timing": {"total_ms": 1}});
        check(
            [update(
                json!({"status": "failed", "content": content, "_meta": meta}),
            )],
            expected,
        );
    };
    ends(
        json!({"how": "failed", "reason": "r"}),
        expect![[r#"
        finished Failed { reason: "r" } [Text("result")] None ""
    "#]],
    );
    ends(
        json!({"how": "denied", "reason": "r"}),
        expect![[r#"
        finished Denied { reason: "r" } [Text("result")] None ""
    "#]],
    );
    ends(
        json!({"how": "interrupted", "reason": "r"}),
        expect![[r#"
            finished Interrupted { reason: "r" } [Text("result")] None ""
        "#]],
    );
    ends(
        json!({"how": "cancelled", "by": "parent"}),
        expect![[r#"
            finished Cancelled { by: Parent } [Text("result")] None ""
        "#]],
    );
    ends(
        json!({"how": "timed_out", "after_ms": 1500}),
        expect![[r#"
            finished TimedOut { after: 1.5s } [Text("result")] None ""
        "#]],
    );
    ends(
        json!({"how": "exploded", "reason": 1}),
        expect![[r#"
        finished Failed { reason: "result" } [] None ""
        ! bad-field: `c`: `reason` is a number, not a string
        ! bad-field: `c`: no call ends `exploded`
    "#]],
    );
}
