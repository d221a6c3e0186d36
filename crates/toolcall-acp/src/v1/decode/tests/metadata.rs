//! Progress, pauses, exit statuses, output and metadata.
//! It must not test fields that v1 itself has.

use expect_test::expect;
use serde_json::{Map, Value, json};

use super::{apply, call, check, check_from, update};
use crate::decode::RAW_OUTPUT;
use crate::v1::decode::decode;

#[test]
fn commands_exit_with_codes_and_signals() {
    let raw = |output: Value| update(json!({"status": "in_progress", "rawOutput": output}));
    check(
        [
            raw(json!({"exitCode": 0})),
            raw(json!({"exit_code": 3, "signal": null})),
            raw(json!({"exitCode": 137, "signal": "SIGKILL"})),
            raw(json!({"exitCode": 3_221_225_786_u32})),
            raw(json!({"signal": "15"})),
            raw(json!({"exitCode": "3", "signal": {}})),
            update(json!({"_meta": {"terminal_exit": {"exit_code": 1, "signal": null}}})),
        ],
        expect![[r#"
            noted toolcall/raw-output {"exitCode":0}
            decided Allow Unseen
            Started
            Exited(Code(0))
            ---
            noted toolcall/raw-output {"exit_code":3,"signal":null}
            Exited(Code(3))
            ---
            noted toolcall/raw-output {"exitCode":137,"signal":"SIGKILL"}
            Exited(Signal(9))
            ---
            noted toolcall/raw-output {"exitCode":3221225786}
            Exited(Code(-1073741510))
            ---
            noted toolcall/raw-output {"signal":"15"}
            Exited(Signal(15))
            ---
            noted toolcall/raw-output {"exitCode":"3","signal":{}}
            ---
            Exited(Code(1))
        "#]],
    );
    check(
        [update(json!({"rawOutput": {"exitCode": 1}}))],
        expect![[r#"
            noted toolcall/raw-output {"exitCode":1}
        "#]],
    );
}

#[test]
fn progress_pauses_and_notes_come_from_meta() {
    let meta = |meta: Value| update(json!({ "_meta": meta }));
    check(
        [
            meta(json!({"toolcall/progress": {"current": 1}, "toolcall/held": "early"})),
            update(json!({"status": "in_progress"})),
            meta(json!({"toolcall/progress": {"current": 1, "total": 4, "message": "one\nof"}})),
            meta(json!({"toolcall/progress": {"current": "2"}, "toolcall/held": 1})),
            meta(json!({"toolcall/held": "rate limit"})),
            meta(json!({"toolcall/held": "rate limit", "mine": {"a": 1}, "traceparent": "00"})),
            meta(json!({"toolcall/held": null, "mine": {"a": 1}, "toolcall/beat": {}})),
            meta(json!({"toolcall/held": null, "mine": {"a": 2}})),
            update(json!({"_meta": [1]})),
        ],
        expect![[r#"
            ---
            decided Allow Unseen
            Started
            ---
            Progressed(Progress { current: 1.0, total: Some(4.0), fraction: Some(0.25), message: Some("one of") })
            ---
            ! bad-field: `c`: `toolcall/held` is a number, not a string
            ! bad-field: `c`: `current` is a string, not a number
            ---
            Held("rate limit")
            ---
            noted mine {"a":1}
            ---
            Resumed
            ---
            noted mine {"a":2}
            ---
            ! bad-field: `c`: `_meta` is a list, not an object
        "#]],
    );
}

#[test]
fn an_agent_cannot_fill_the_metadata() {
    let many: Map<String, Value> = (0..70)
        .map(|key| (format!("k{key:02}"), json!(1)))
        .collect();
    let mut call = call(&json!({"toolCallId": "c", "title": "T"}));
    let decoded = decode(&call, &update(json!({ "_meta": many })));
    assert_eq!((decoded.events.len(), decoded.findings.len()), (64, 6));
    apply(&mut call, &decoded.events, None);
    check_from(
        &mut call,
        &[update(json!({"_meta": {"k00": 2, "k99": 3}}))],
        expect![[r#"
            noted k00 2
            ! too-many: `c`: the call has too many keys in `_meta`
        "#]],
    );
}

#[test]
fn terminals_of_the_agents_own_print() {
    let data = |data: &str| json!({"terminal_output": {"terminal_id": "t", "data": data}});
    check(
        [
            update(json!({"_meta": data("early")})),
            update(json!({"status": "in_progress", "_meta": data("a")})),
            update(json!({"_meta": {"terminal_output_delta": {"data": "b"}}})),
            update(json!({"status": "completed", "_meta": data("c")})),
        ],
        expect![[r#"
            ! started: `c`: it printed before it was in progress; that output was left out
            ---
            decided Allow Unseen
            Started
            printed "a"
            ---
            printed "b"
            ---
            finished Completed [] None "abc"
        "#]],
    );
}

#[test]
fn nobody_slips_in_a_raw_output_as_metadata() {
    let meta = json!({ RAW_OUTPUT: "forged" });
    check(
        [
            update(json!({"status": "in_progress", "rawOutput": {"exitCode": 2}, "_meta": meta})),
            update(json!({"status": "completed", "_meta": meta})),
        ],
        expect![[r#"
            noted toolcall/raw-output {"exitCode":2}
            decided Allow Unseen
            Started
            Exited(Code(2))
            ---
            finished Completed [] Some("{\"exitCode\":2}") ""
        "#]],
    );
}
