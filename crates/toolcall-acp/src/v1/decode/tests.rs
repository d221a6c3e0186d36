//! Reports and the events that they are decoded to.
//! It must not test how a call applies events, only that it accepts them.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use toolcall::{
    Decision, Effect, Event, Finish, Judge, Question, QuestionId, Remembered, RuleName, SessionId,
    Timestamp, ToolCall,
};

use super::*;

mod content;
mod ending;
mod metadata;
mod plan;

/// Applies reports of the call `c` after a plain announcement, and shows the events of each.
fn check<const N: usize>(reports: [Value; N], expected: Expect) {
    let begin = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "T"});
    check_from(&mut call(&begin), &reports, expected);
}

fn check_from(call: &mut ToolCall, reports: &[Value], expected: Expect) {
    let mut lines = Vec::new();
    for report in reports {
        let decoded = decode(call, report);
        let printed = decoded.printed.as_deref();
        lines.push(shown(&decoded.events, printed, &decoded.findings));
        apply(call, &decoded.events, printed);
    }
    expected.assert_eq(&lines.join("---\n"));
}

fn check_first(report: Value, expected: Expect) {
    let text = match announce(&report) {
        Ok(first) => format!(
            "{} {:?} parent={:?} input={:?} {:?}\n{}",
            first.id,
            first.announced.tool,
            first.announced.parent,
            first.announced.input,
            first.announced.sketch(),
            shown(&first.then, first.printed.as_deref(), &first.findings)
        ),
        Err(finding) => format!("refused: {finding}\n"),
    };
    expected.assert_eq(&text);
}

fn call(report: &Value) -> ToolCall {
    let first = announce(report).unwrap();
    let mut call = just_announced(&first.id, &Arc::new(first.announced));
    apply(&mut call, &first.then, first.printed.as_deref());
    call
}

fn apply(call: &mut ToolCall, events: &[Event], printed: Option<&str>) {
    for event in events {
        assert_eq!(call.apply(event, Timestamp::default()), Ok(()), "{event:?}");
    }
    if let Some(text) = printed {
        call.print(text.as_bytes()).unwrap();
    }
}

fn shown(events: &[Event], printed: Option<&str>, findings: &[Finding]) -> String {
    let mut text: String = events.iter().map(|event| line(event) + "\n").collect();
    if let Some(printed) = printed {
        text.push_str(&format!("printed {printed:?}\n"));
    }
    text.extend(findings.iter().map(|finding| format!("! {finding}\n")));
    text
}

fn line(event: &Event) -> String {
    match event {
        Event::Decided(decision) => format!("decided {:?} {:?}", decision.effect, decision.by),
        Event::Finished(finish) => finish_line(finish),
        Event::Noted { key, value } => format!("noted {key} {value}"),
        Event::Restated(said) => {
            let (tool, sketch, input) = (&said.tool, &said.sketch, &said.input);
            format!("restated {tool:?} {sketch:?} {input:?} {:?}", said.preview)
        }
        other => format!("{other:?}"),
    }
}

fn finish_line(finish: &Finish) -> String {
    let (ending, content) = (&finish.ending, &finish.result.content);
    let structured = finish.result.structured.as_ref().map(ToString::to_string);
    let printed = finish.output.text();
    format!("finished {ending:?} {content:?} {structured:?} {printed:?}")
}

fn update(mut members: Value) -> Value {
    members["sessionUpdate"] = json!("tool_call_update");
    members["toolCallId"] = json!("c");
    members
}

fn text(text: &str) -> Value {
    json!({"type": "content", "content": {"type": "text", "text": text}})
}

fn part(part: &str, inner: &str) -> Value {
    let mut item = text(inner);
    item["_meta"] = json!({ meta::PART: part });
    item
}

#[test]
fn a_call_is_announced_with_all_that_its_first_report_says() {
    check_first(
        json!({
            "sessionUpdate": "tool_call", "toolCallId": "c1", "title": "Read a.rs", "name": "read",
            "kind": "read", "status": "pending", "rawInput": {"path": "/a.rs"}, "content": [],
            "locations": [{"path": "/a.rs", "line": 3}], "_meta": {"toolcall/parent": "c0"}
        }),
        expect![[r#"
            c1 "read" parent=Some(CallId(c0)) input=Some(Json(Object {"path": String("/a.rs")})) Sketch { title: "Read a.rs", kind: Read, locations: [Location { path: "/a.rs", line: Some(3) }] }
        "#]],
    );
}

#[test]
fn a_first_report_may_start_show_or_end_the_call() {
    check_first(
        json!({
            "sessionUpdate": "tool_call", "toolCallId": "c", "title": "make", "kind": "execute",
            "status": "in_progress", "content": [{"type": "terminal", "terminalId": "t"}],
            "_meta": {"terminal_info": {"terminal_id": "t"}, "claudeCode": {"toolName": "Bash"}}
        }),
        expect![[r#"
            c "" parent=None input=None Sketch { title: "make", kind: Execute, locations: [] }
            noted claudeCode {"toolName":"Bash"}
            decided Allow Unseen
            Started
            Showed([Terminal("t")])
        "#]],
    );
    check_first(
        json!({"toolCallId": "c", "title": "make", "content": [text("why")]}),
        expect![[r#"
            c "" parent=None input=None Sketch { title: "make", kind: Other, locations: [] }
            restated None Sketch { title: "make", kind: Other, locations: [] } None [Text("why")]
        "#]],
    );
    check_first(
        update(json!({"status": "completed", "rawInput": {"command": "ls"}, "kind": "execute"})),
        expect![[r#"
            c "" parent=None input=Some(Json(Object {"command": String("ls")})) Sketch { title: "ls", kind: Execute, locations: [] }
            decided Allow Unseen
            Started
            finished Completed [] None ""
            ! no-title: `c`: the first report of the call has no title
        "#]],
    );
}

#[test]
fn what_is_no_report_of_a_call_is_refused() {
    check_first(
        json!([]),
        expect![[r#"
        refused: bad-field: the update is a list, not an object
    "#]],
    );
    check_first(
        json!({"sessionUpdate": "tool_call"}),
        expect![[r#"
        refused: no-tool-call-id: the report has no `toolCallId`
    "#]],
    );
    check_first(
        json!({"sessionUpdate": "tool_call", "toolCallId": 7}),
        expect![[r#"
            refused: no-tool-call-id: `toolCallId` is a number, not a string
        "#]],
    );
    check_first(
        json!({"sessionUpdate": "tool_calls", "toolCallId": "c"}),
        expect![[r#"
            refused: unknown-update: `tool_calls` is no update of a tool call
        "#]],
    );
    check_first(
        json!({"sessionUpdate": 1, "toolCallId": "c"}),
        expect![[r#"
            refused: unknown-update: `sessionUpdate` is a number, not a string
        "#]],
    );
}

#[test]
fn members_in_the_wrong_place_are_found() {
    check(
        [json!({"sessionUpdate": "tool_call_update", "toolCall": {
            "toolCallId": "c", "title": "Tool", "status": "in_progress",
            "progress": {"current": 1, "total": 4}
        }})],
        expect![[r#"
            restated None Sketch { title: "Tool", kind: Other, locations: [] } None []
            decided Allow Unseen
            Started
            Progressed(Progress { current: 1.0, total: Some(4.0), fraction: Some(0.25), message: None })
            ! nested-tool-call: `c`: the call stands in `update.toolCall`; its members belong into `update`
        "#]],
    );
}

#[test]
fn only_what_changed_is_restated() {
    check(
        [
            update(json!({"title": "T", "kind": "other", "locations": [], "content": []})),
            update(json!({"name": "bash", "rawInput": {"command": "ls"}})),
            update(json!({"title": "ls\n-l", "kind": "execute", "rawInput": {"command": "ls"}})),
            update(json!({"title": null, "kind": null, "rawInput": "not json"})),
            update(json!({"rawInput": "not json"})),
        ],
        expect![[r#"
            ---
            restated Some("bash") Sketch { title: "T", kind: Other, locations: [] } Some(Json(Object {"command": String("ls")})) []
            ---
            restated Some("bash") Sketch { title: "ls ⏎ -l", kind: Execute, locations: [] } Some(Json(Object {"command": String("ls")})) []
            ---
            restated Some("bash") Sketch { title: "ls ⏎ -l", kind: Execute, locations: [] } Some(Text("not json")) []
            ---
        "#]],
    );
}

#[test]
fn nothing_hidden_reaches_a_name_a_title_or_a_status() {
    let hidden = "a\u{202e}b";
    check(
        [update(
            json!({"name": hidden, "title": hidden, "status": hidden}),
        )],
        expect![[r#"
            restated Some("a\\u{202e}b") Sketch { title: "a\\u{202e}b", kind: Other, locations: [] } None []
            StatusUnknown("a\\u{202e}b")
            ! unknown-status: `c`: v1 has no status `a\u{202e}b`
        "#]],
    );
}

#[test]
fn content_goes_where_the_call_stands() {
    check(
        [
            update(json!({"content": [text("would do")]})),
            update(json!({"status": "in_progress"})),
            update(json!({"status": "in_progress", "content": [text("does")]})),
            update(json!({"status": "in_progress", "content": [text("does")]})),
            update(json!({"status": "completed", "content": [text("did")]})),
        ],
        expect![[r#"
            restated None Sketch { title: "T", kind: Other, locations: [] } None [Text("would do")]
            ---
            decided Allow Unseen
            Started
            ---
            Showed([Text("does")])
            ---
            ---
            finished Completed [Text("did")] None ""
        "#]],
    );
}

#[test]
fn an_unknown_status_counts_as_acting() {
    check(
        [
            update(json!({"status": "paused", "content": [text("so far")]})),
            update(json!({"status": "paused"})),
            update(json!({"status": 3})),
            update(json!({"status": "completed"})),
        ],
        expect![[r#"
            StatusUnknown("paused")
            Showed([Text("so far")])
            ! unknown-status: `c`: v1 has no status `paused`
            ---
            ! unknown-status: `c`: v1 has no status `paused`
            ---
            ! bad-field: `c`: `status` is a number, not a string
            ---
            decided Allow Unseen
            Started
            finished Completed [Text("so far")] None ""
        "#]],
    );
}

#[test]
fn what_may_not_run_does_not_start() {
    let begin = json!({"toolCallId": "c", "title": "T", "rawInput": {}});
    let runs = [
        update(json!({"status": "in_progress", "content": [text("would")]})),
        update(json!({"status": "completed", "content": [text("did")]})),
    ];
    let mut open = call(&begin);
    apply(&mut open, &[asked()], None);
    check_from(
        &mut open,
        &runs,
        expect![[r#"
        restated None Sketch { title: "T", kind: Other, locations: [] } Some(Json(Object {})) [Text("would")]
        ! ran-unallowed: `c`: it is said to be in progress, but nobody has answered whether it may run
        ---
        finished Failed { reason: "said to be completed, but not allowed to run" } [Text("did")] None ""
        ! ran-unallowed: `c`: it is said to be completed, but nobody has answered whether it may run
    "#]],
    );
    let mut refused = call(&begin);
    apply(&mut refused, &[asked(), answered(Effect::Deny)], None);
    check_from(
        &mut refused,
        &runs,
        expect![[r#"
        restated None Sketch { title: "T", kind: Other, locations: [] } Some(Json(Object {})) [Text("would")]
        ! ran-unallowed: `c`: it is said to be in progress, but it was refused
        ---
        finished Failed { reason: "said to be completed, but not allowed to run" } [Text("did")] None ""
        ! ran-unallowed: `c`: it is said to be completed, but it was refused
    "#]],
    );
    let mut allowed = call(&begin);
    apply(&mut allowed, &[asked(), answered(Effect::Allow)], None);
    check_from(
        &mut allowed,
        &runs,
        expect![[r#"
        Started
        Showed([Text("would")])
        ---
        finished Completed [Text("did")] None ""
    "#]],
    );
}

fn asked() -> Event {
    let intent = toolcall::Intent::new(Kind::Other, "T");
    let input = Arc::new(json!({}));
    Event::Asked(Arc::new(Question {
        id: QuestionId::new("q"),
        session: SessionId::new(""),
        call: CallId::new("c"),
        subject: Arc::new(toolcall::Prepared { input, intent }),
        offers: Vec::new(),
        because: RuleName::new("rule"),
    }))
}

fn answered(effect: Effect) -> Event {
    Event::Decided(Arc::new(Decision {
        question: Some(QuestionId::new("q")),
        effect,
        by: Judge::Person(Remembered::Once),
    }))
}
