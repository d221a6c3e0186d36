//! Small streams that break one rule each, and some that break none.
//! It must not repeat the decoder's tests of single messages.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn check<const N: usize>(messages: [(Direction, Value); N], expected: Expect) {
    let frames = messages.iter().map(|(direction, message)| Frame {
        direction: *direction,
        message,
    });
    let found = lint(frames).into_iter();
    expected.assert_eq(
        &found
            .map(|finding| format!("{finding}\n"))
            .collect::<String>(),
    );
}

fn agent(message: Value) -> (Direction, Value) {
    (Direction::FromAgent, message)
}

fn client(message: Value) -> (Direction, Value) {
    (Direction::FromClient, message)
}

/// A report of the call `c`.
fn report(name: &str, mut members: Value) -> (Direction, Value) {
    members["sessionUpdate"] = json!(name);
    members["toolCallId"] = json!("c");
    let params = json!({"sessionId": "s", "update": members});
    agent(json!({"method": "session/update", "params": params}))
}

fn announced(members: Value) -> (Direction, Value) {
    let mut members = members;
    members["title"] = json!("T");
    report("tool_call", members)
}

fn update(members: Value) -> (Direction, Value) {
    report("tool_call_update", members)
}

fn runs() -> (Direction, Value) {
    update(json!({"status": "in_progress"}))
}

fn completed() -> (Direction, Value) {
    let text = json!({"type": "content", "content": {"type": "text", "text": "done"}});
    update(json!({"status": "completed", "content": [text]}))
}

fn asks(mut members: Value) -> (Direction, Value) {
    members["toolCallId"] = json!("c");
    let options =
        json!([{"optionId": "y", "kind": "allow_once"}, {"optionId": "n", "kind": "reject_once"}]);
    let params = json!({"sessionId": "s", "toolCall": members, "options": options});
    agent(json!({"id": 9, "method": "session/request_permission", "params": params}))
}

fn answers(option: &str) -> (Direction, Value) {
    let outcome = json!({"outcome": "selected", "optionId": option});
    client(json!({"id": 9, "result": {"outcome": outcome}}))
}

fn prompts() -> (Direction, Value) {
    client(json!({"id": 1, "method": "session/prompt", "params": {"sessionId": "s"}}))
}

fn turn_ends() -> (Direction, Value) {
    agent(json!({"id": 1, "result": {"stopReason": "end_turn"}}))
}

#[test]
fn a_good_stream_has_no_findings() {
    check(
        [
            prompts(),
            announced(json!({"kind": "execute", "rawInput": {"command": "make"}})),
            asks(json!({"title": "make"})),
            answers("y"),
            runs(),
            completed(),
            turn_ends(),
        ],
        expect![[r#""#]],
    );
}

#[test]
fn the_first_word_on_a_call_announces_it() {
    check(
        [runs(), completed(), announced(json!({}))],
        expect![[r#"
            #0 announced-first: `c`: `tool_call_update` came before any `tool_call`
            #2 late: `c`: a report came after the final status
        "#]],
    );
    check(
        [asks(json!({})), runs(), completed()],
        expect![[r#"
        #0 ask-after-call: `c`: permission was asked before any `tool_call`
        #1 ran-unallowed: `c`: it was in progress before its permission was answered
        #2 ran-unallowed: `c`: it was completed before its permission was answered
    "#]],
    );
    check(
        [
            announced(json!({})),
            announced(json!({})),
            runs(),
            completed(),
        ],
        expect![[r#"
            #1 announced-twice: `c`: `tool_call` came again for the same id
        "#]],
    );
    check(
        [report("tool_call", json!({})), runs(), completed()],
        expect![[r#"
            #0 no-title: `c`: `tool_call` has no title
        "#]],
    );
}

#[test]
fn every_call_ends_once() {
    check(
        [prompts(), announced(json!({})), turn_ends(), turn_ends()],
        expect![[r#"
            #2 one-ending: `c`: the turn ended, and the call has not
        "#]],
    );
    check(
        [announced(json!({})), runs()],
        expect![[r#"
        one-ending: `c`: the recording ends, and the call has not
    "#]],
    );
    check(
        [
            announced(json!({})),
            runs(),
            completed(),
            runs(),
            completed(),
            asks(json!({})),
        ],
        expect![[r#"
            #3 late: `c`: a report came after the final status
            #5 late: `c`: permission was asked after the final status
        "#]],
    );
}

#[test]
fn the_end_of_another_turn_ends_nothing_here() {
    let other = client(json!({"id": 2, "method": "session/prompt", "params": {"sessionId": "t"}}));
    let ends = agent(json!({"id": 2, "result": {}}));
    check(
        [
            prompts(),
            other,
            announced(json!({})),
            ends,
            runs(),
            completed(),
            turn_ends(),
        ],
        expect![[r#""#]],
    );
}

#[test]
fn what_completes_ran_and_shows_something() {
    check(
        [announced(json!({})), update(json!({"status": "completed"}))],
        expect![[r#"
            #1 started: `c`: it completed and was never `in_progress`
            #1 empty-completion: `c`: it completed with nothing in `content`
        "#]],
    );
    let terminal = json!([{"type": "terminal", "terminalId": "t"}]);
    check(
        [
            announced(json!({"status": "in_progress", "content": terminal})),
            update(json!({"status": "completed"})),
        ],
        expect![[r#""#]],
    );
    check(
        [announced(json!({})), update(json!({"status": "failed"}))],
        expect![[r#""#]],
    );
}

#[test]
fn nothing_runs_without_its_yes() {
    check(
        [
            announced(json!({})),
            asks(json!({})),
            runs(),
            answers("y"),
            completed(),
        ],
        expect![[r#"
            #2 ran-unallowed: `c`: it was in progress before its permission was answered
        "#]],
    );
    check(
        [
            announced(json!({})),
            asks(json!({})),
            answers("n"),
            runs(),
            completed(),
        ],
        expect![[r#"
            #3 ran-unallowed: `c`: it was in progress although permission was refused
            #4 ran-unallowed: `c`: it was completed although permission was refused
        "#]],
    );
    check(
        [
            announced(json!({})),
            runs(),
            asks(json!({})),
            answers("y"),
            completed(),
        ],
        expect![[r#""#]],
    );
}

#[test]
fn a_question_that_was_withdrawn_needs_no_answer() {
    let withdraws = json!({"method": "$/cancel_request", "params": {"requestId": 9}});
    check(
        [
            announced(json!({})),
            asks(json!({})),
            agent(withdraws),
            runs(),
            completed(),
        ],
        expect![[r#""#]],
    );
}

#[test]
fn a_permission_shows_the_command() {
    let check = |asked: Value, expected| {
        let input = json!({"command": ["bash", "-c", "make\nall"]});
        let begin = announced(json!({"kind": "execute", "rawInput": input}));
        check(
            [begin, asks(asked), answers("y"), runs(), completed()],
            expected,
        );
    };
    check(
        json!({}),
        expect![[r#"
        #1 permission-hides-command: `c`: the permission request does not show `make all`
    "#]],
    );
    check(
        json!({"title": "Run a command"}),
        expect![[r#"
        #1 permission-hides-command: `c`: the permission request does not show `make all`
    "#]],
    );
    check(json!({"title": "Run: make ⏎ all"}), expect![[r#""#]]);
    check(json!({"rawInput": {"cmd": "make\nall"}}), expect![[r#""#]]);
    let text = json!({"type": "content", "content": {"type": "text", "text": "> make\nall"}});
    check(json!({"content": [text]}), expect![[r#""#]]);
}

#[test]
fn a_permission_shows_the_diff() {
    let diff = |path: &str| json!({"type": "diff", "path": path, "oldText": "a", "newText": "b"});
    let check = |begin: Value, asked: Value, expected| {
        let begin = announced(begin);
        check(
            [begin, asks(asked), answers("y"), runs(), completed()],
            expected,
        );
    };
    let both = json!({"content": [diff("/a"), diff("/b")]});
    check(both.clone(), both.clone(), expect![[r#""#]]);
    check(
        both,
        json!({"content": [diff("/a")]}),
        expect![[r#"
        #1 permission-hides-diff: `c`: the permission request does not show the diff of `/b`
    "#]],
    );
    check(
        json!({"kind": "edit"}),
        json!({"title": "Edit"}),
        expect![[r#"
            #1 permission-hides-diff: `c`: the permission request is about an edit and shows no diff
        "#]],
    );
    check(
        json!({"kind": "edit"}),
        json!({"content": [diff("/a")]}),
        expect![[r#""#]],
    );
}

#[test]
fn faults_of_single_messages_are_told_once() {
    let bad = json!({"kind": "tea", "status": "brewing", "locations": [{"path": "a", "line": 0}],
        "content": [{"type": "text", "text": "t"}]});
    check(
        [
            announced(bad.clone()),
            update(bad),
            update(json!({"status": "failed"})),
        ],
        expect![[r#"
            #0 unknown-kind: `c`: v1 has no kind `tea`; it counts as `other`
            #0 relative-path: `c`: `a` is not an absolute path
            #0 bad-location: `c`: lines count from 1, and this one is 0
            #0 unknown-status: `c`: v1 has no status `brewing`
            #0 content-shape: `c`: content item 0 is a bare `text`; wrap it as `content`
        "#]],
    );
    let plan = json!({"sessionUpdate": "plan", "entries": [{"content": "a", "status": "done", "priority": "low"}]});
    let says = |update: Value| {
        agent(json!({"method": "session/update", "params": {"sessionId": "s", "update": update}}))
    };
    check(
        [
            says(plan),
            says(json!({"sessionUpdate": "tool_calls"})),
            says(json!({"sessionUpdate": "usage_update"})),
            says(json!({"sessionUpdate": "_mine"})),
            says(json!({})),
            says(json!({"sessionUpdate": "tool_call", "title": "T"})),
            asks(json!(null)),
        ],
        expect![[r#"
            #0 bad-plan: a plan has no status `done`
            #1 unknown-update: v1 has no update `tool_calls`
            #4 unknown-update: the update has no `sessionUpdate`
            #5 no-tool-call-id: the report has no `toolCallId`
            #6 ask-after-call: `c`: permission was asked before any `tool_call`
            one-ending: `c`: the recording ends, and the call has not
        "#]],
    );
}

#[test]
fn sessions_are_kept_apart_and_a_replay_is_no_repetition() {
    let of = |session: &str, (direction, mut message): (Direction, Value)| {
        message["params"]["sessionId"] = json!(session);
        (direction, message)
    };
    check(
        [
            of("s", announced(json!({}))),
            of("t", announced(json!({}))),
            of("s", runs()),
            of("s", completed()),
            of("t", runs()),
            of("t", completed()),
            client(json!({"id": 3, "method": "session/load", "params": {"sessionId": "s"}})),
            of("s", announced(json!({}))),
            of("s", runs()),
            of("s", completed()),
        ],
        expect![[r#""#]],
    );
}

#[test]
fn what_is_no_message_is_passed_over() {
    check(
        [
            agent(json!(7)),
            client(json!(null)),
            agent(json!({"method": 3})),
            client(json!({"id": 4})),
        ],
        expect![[r#""#]],
    );
}
