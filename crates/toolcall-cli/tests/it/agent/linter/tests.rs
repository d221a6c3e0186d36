//! Tests of the linter: a good recording, and every way to break it.
//! No agent is started.

use serde_json::{Value, json};
use toolcall_testkit::client::Side;

use super::lint_recording;
use crate::recorder::RecordedLine;

/// A turn with one edit that asks.
fn good() -> Vec<(Side, Value)> {
    let update = |fields: Value| {
        let mut update = json!({"toolCallId": "c"});
        update
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let params = json!({"sessionId": "s", "update": update});
        (
            Side::Agent,
            json!({"jsonrpc": "2.0", "method": "session/update", "params": params}),
        )
    };
    let diff = json!([{"type": "diff", "path": "/p/a", "oldText": "a", "newText": "b"}]);
    let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"},
                         {"optionId": "n", "name": "No", "kind": "reject_once"}]);
    let asked = json!({"sessionId": "s", "toolCall": {"toolCallId": "c", "content": diff}, "options": options});
    let prompt = json!({"sessionId": "s", "prompt": []});
    vec![
        (
            Side::Client,
            json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": prompt}),
        ),
        update(
            json!({"sessionUpdate": "tool_call", "title": "Edit a", "name": "edit_file", "kind": "edit",
                      "status": "pending", "rawInput": {"path": "a"}, "locations": [{"path": "/p/a", "line": 1}]}),
        ),
        (
            Side::Agent,
            json!({"jsonrpc": "2.0", "id": 7, "method": "session/request_permission", "params": asked}),
        ),
        (
            Side::Client,
            json!({"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "selected", "optionId": "y"}}}),
        ),
        update(json!({"sessionUpdate": "tool_call_update", "status": "in_progress"})),
        update(
            json!({"sessionUpdate": "tool_call_update", "status": "completed", "content": diff}),
        ),
        (
            Side::Agent,
            json!({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}}),
        ),
    ]
}

fn findings_of(lines: Vec<(Side, Value)>) -> Vec<String> {
    let frames = lines.into_iter().map(|(side, line)| RecordedLine {
        side,
        line: line.to_string(),
    });
    lint_recording(&frames.collect::<Vec<_>>())
}

/// Breaks the good recording and checks the finding.
fn check(change: impl FnOnce(&mut Vec<(Side, Value)>), finding: &str) {
    let mut lines = good();
    change(&mut lines);
    let findings = findings_of(lines);
    let is_found = findings.iter().any(|found| found.contains(finding));
    assert!(is_found, "`{finding}` is not in {findings:?}");
}

/// Sets a field of an update.
fn set(line: &mut (Side, Value), key: &str, value: Value) {
    line.1["params"]["update"][key] = value;
}

#[test]
fn nothing_is_wrong_with_a_good_recording() {
    assert_eq!(findings_of(good()), Vec::<String>::new());
}

#[test]
fn every_wrong_order_is_found() {
    check(|lines| drop(lines.remove(1)), "before it is announced");
    check(
        |lines| drop(lines.remove(4)),
        "goes from pending to completed",
    );
    check(
        |lines| drop(lines.remove(5)),
        "has not ended, and the turn has",
    );
    check(|lines| lines.swap(5, 6), "comes when no turn runs");
    check(
        |lines| lines.insert(5, lines[5].clone()),
        "is updated after its end",
    );
    check(
        |lines| lines.insert(1, lines[1].clone()),
        "is announced twice",
    );
    check(
        |lines| lines.swap(3, 4),
        "starts before its question is answered",
    );
    check(|lines| lines.swap(1, 2), "a call that was not announced");
    check(
        |lines| lines.swap(2, 4),
        "asks for permission when it is not pending",
    );
    check(
        |lines| drop(lines.remove(6)),
        "`session/prompt` is never answered",
    );
}

#[test]
fn everything_that_is_missing_is_found() {
    check(
        |lines| set(&mut lines[1], "name", Value::Null),
        "has no name",
    );
    check(
        |lines| set(&mut lines[1], "title", json!("")),
        "announced without a title",
    );
    check(
        |lines| set(&mut lines[1], "kind", json!("write")),
        "has no known kind",
    );
    check(
        |lines| set(&mut lines[1], "rawInput", Value::Null),
        "has no rawInput",
    );
    check(
        |lines| set(&mut lines[1], "locations", json!([])),
        "has no locations",
    );
    check(
        |lines| set(&mut lines[1], "locations", json!([{"path": "a"}])),
        "not absolute",
    );
    check(
        |lines| {
            set(
                &mut lines[1],
                "locations",
                json!([{"path": "/a", "line": 0}]),
            )
        },
        "names line 0",
    );
    check(
        |lines| set(&mut lines[5], "content", json!([])),
        "ends with no content",
    );
    check(
        |lines| lines[2].1["params"]["toolCall"]["content"] = json!([]),
        "asks without its diff",
    );
    check(
        |lines| lines[2].1["params"]["options"] = json!([]),
        "offers no allow_once",
    );
    let terminal = json!([{"type": "terminal", "terminalId": "t"}]);
    check(
        |lines| set(&mut lines[5], "content", terminal),
        "`t` was never created",
    );
}

#[test]
fn a_command_that_is_hidden_is_found() {
    let run = |lines: &mut Vec<(Side, Value)>| {
        set(&mut lines[1], "kind", json!("execute"));
        set(&mut lines[1], "rawInput", json!({"command": "rm -rf x"}));
    };
    check(run, "asks without its command");
    check(run, "hides its command in its title");
}

#[test]
fn what_a_cancelled_turn_must_say_is_known() {
    let cancel =
        json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "s"}});
    check(
        |lines| lines.insert(5, (Side::Client, cancel)),
        "a cancelled turn is answered with",
    );
    check(
        |lines| lines[6].1["result"]["stopReason"] = json!("cancelled"),
        "that was not cancelled",
    );
}

#[test]
fn what_the_client_does_not_offer_is_not_used() {
    let request = |method: &str, params: Value| {
        (
            Side::Agent,
            json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params}),
        )
    };
    let read = request("fs/read_text_file", json!({"path": "a"}));
    check(
        |lines| lines.insert(5, read.clone()),
        "which the client does not offer",
    );
    check(|lines| lines.insert(5, read), "which is not absolute");
    let made = (
        Side::Client,
        json!({"jsonrpc": "2.0", "id": 9, "result": {"terminalId": "t"}}),
    );
    let create = request("terminal/create", json!({}));
    check(
        |lines| drop(lines.splice(5..5, [create, made])),
        "not released when the turn ends",
    );
    check(
        |lines| lines.push((Side::Agent, json!("noise"))),
        "not JSON-RPC",
    );
    check(
        |lines| {
            lines.push((
                Side::Agent,
                json!({"jsonrpc": "2.0", "id": 4, "result": {}}),
            ))
        },
        "an answer to nothing",
    );
}
