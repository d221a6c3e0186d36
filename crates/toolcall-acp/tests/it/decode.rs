//! Properties of the decoder, for any report and any state of the call.
//! It must not favour valid reports: most that it generates are invalid.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use toolcall::{CallId, Event, Output, SessionId, Timestamp, ToolCall};
use toolcall_acp::finding::LintRule;
use toolcall_acp::lint::{Direction, Frame, lint};
use toolcall_acp::v1::decode::{announce, decode, decode_plan};

use toolcall_testkit::events::{any_announced, any_event};

/// A call in any state that events can lead to.
fn any_call() -> impl Strategy<Value = ToolCall> {
    (any_announced(), vec(any_event(), 0..12)).prop_map(|(announced, arrivals)| {
        let (id, session) = (CallId::new("call"), SessionId::new("session"));
        let output = Arc::new(Output::default());
        let mut call = ToolCall::announce(
            id,
            session,
            Arc::new(announced),
            output,
            Timestamp::default(),
        );
        for event in &arrivals {
            let _out_of_place = call.apply(event, Timestamp::default());
        }
        call
    })
}

/// Any JSON of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z/:0-9`\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = select(vec![
            "type", "text", "content", "path", "newText", "how", "line", "x",
        ]);
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key.prop_map(str::to_owned), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// One of several good values, or any JSON.
fn mostly(good: Value) -> BoxedStrategy<Value> {
    let Value::Array(good) = good else {
        panic!("give a list of good values");
    };
    prop_oneof![4 => select(good), 1 => any_json()].boxed()
}

fn any_item() -> BoxedStrategy<Value> {
    mostly(json!([
        {"type": "content", "content": {"type": "text", "text": "a"}},
        {"type": "content", "content": {"type": "text", "text": "```\nb\n```"},
            "_meta": {"toolcall/part": "output"}},
        {"type": "content", "content": {"type": "text", "text": "moved"},
            "_meta": {"toolcall/change": {"how": "moved", "path": "/a", "to": "/b"}}},
        {"type": "content", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
        {"type": "text", "text": "bare"},
        {"type": "diff", "path": "/a", "oldText": "a", "newText": "b"},
        {"type": "terminal", "terminalId": "t"}
    ]))
}

fn any_meta() -> impl Strategy<Value = Value> {
    let keyed = |key: &'static str, good| (Just(key), mostly(good)).boxed();
    let member = prop_oneof![
        keyed(
            "toolcall/progress",
            json!([{"current": 1, "total": 4, "message": "m"}, {"current": 9}])
        ),
        keyed("toolcall/held", json!(["paused", null])),
        keyed(
            "toolcall/ending",
            json!([{"how": "denied", "reason": "r"}, {"how": "timed_out"}])
        ),
        keyed("terminal_output", json!([{"data": "printed"}])),
        keyed(
            "terminal_exit",
            json!([{"exit_code": 1}, {"signal": "SIGTERM"}])
        ),
        keyed("toolcall/raw-output", json!([1])),
        keyed("mine", json!([1, 2])),
    ];
    vec(member, 0..4).prop_map(|members| {
        let members = members.into_iter();
        Value::Object(
            members
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    })
}

/// A report of a call, with any of its members missing or wrong.
fn any_report() -> impl Strategy<Value = Value> {
    let some = |good| option::weighted(0.3, mostly(good));
    let places = json!([[], [{"path": "/a", "line": 2}], [{"path": "b:3", "line": 0}]]);
    let list = vec(any_item(), 0..4).prop_map(Value::from);
    let content = option::weighted(0.5, prop_oneof![6 => list, 1 => any_json()]);
    let statuses = json!(["pending", "in_progress", "completed", "failed", "paused"]);
    let described = (
        some(json!(["T", "a", "", "b\nc"])),
        some(json!(["read", "edit", "odd"])),
    );
    let handed = (
        some(json!([{"command": "ls"}, {}, "text"])),
        some(json!([{"exitCode": 2}, "raw"])),
    );
    let status = option::weighted(0.7, mostly(statuses));
    let meta = option::weighted(0.4, prop_oneof![6 => any_meta(), 1 => any_json()]);
    let named = mostly(json!(["tool_call_update", "tool_call_update", "tool_call"]));
    let rest = (some(places), some(json!(["bash", ""])), content, meta);
    (named, described, handed, status, rest).prop_map(
        |(named, (title, kind), (input, output), status, (places, name, content, meta))| {
            let members = [
                ("sessionUpdate", Some(named)),
                ("toolCallId", Some(json!("call"))),
                ("title", title),
                ("kind", kind),
                ("rawInput", input),
                ("rawOutput", output),
                ("status", status),
                ("locations", places),
                ("name", name),
                ("content", content),
                ("_meta", meta),
            ];
            let there = members.into_iter();
            let there = there.filter_map(|(key, value)| Some((key.to_owned(), value?)));
            Value::Object(there.collect::<Map<_, _>>())
        },
    )
}

/// Applies everything, or returns what the call refused.
fn apply(call: &mut ToolCall, events: &[Event], printed: Option<&str>) -> Result<(), String> {
    for event in events {
        let placed = call.apply(event, Timestamp::default());
        placed.map_err(|irregularity| format!("{irregularity}: {event:?}"))?;
    }
    match printed {
        Some(text) => call
            .print(text.as_bytes())
            .map(drop)
            .map_err(|why| why.to_string()),
        None => Ok(()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_event_has_its_place(call in any_call(), report in any_report()) {
        let decoded = decode(&call, &report);
        let mut after = call.clone();
        prop_assert_eq!(apply(&mut after, &decoded.events, decoded.printed.as_deref()), Ok(()));
        if call.ending().is_some() {
            let rules: Vec<LintRule> = decoded.findings.iter().map(|finding| finding.rule).collect();
            prop_assert_eq!(rules, [LintRule::Late]);
            prop_assert_eq!(&after, &call);
        }
    }

    #[test]
    fn a_first_report_is_a_call_that_holds(report in any_report()) {
        let Ok(first) = announce(&report) else { return Ok(()) };
        let (session, output) = (SessionId::new("s"), Arc::new(Output::default()));
        let announced = Arc::new(first.announced);
        let mut call = ToolCall::announce(first.id, session, announced, output, Timestamp::default());
        prop_assert_eq!(apply(&mut call, &first.then, first.printed.as_deref()), Ok(()));
        prop_assert!(!call.title().trim().is_empty());
    }

    #[test]
    fn a_report_that_is_sent_again_changes_nothing(call in any_call(), report in any_report()) {
        let mut call = call;
        let first = decode(&call, &report);
        prop_assert_eq!(apply(&mut call, &first.events, first.printed.as_deref()), Ok(()));
        let again = decode(&call, &report);
        // A fraction never decreases and a pause hides an unknown status, so both are decoded again.
        let may_repeat =
            |event: &Event| matches!(event, Event::Progressed(_) | Event::StatusUnknown(_));
        prop_assert!(again.events.iter().all(may_repeat), "{:?}", again.events);
    }

    #[test]
    fn a_final_status_ends_the_call(call in any_call(), report in any_report()) {
        let mut call = call;
        let decoded = decode(&call, &report);
        let was_open = call.ending().is_none();
        prop_assert_eq!(apply(&mut call, &decoded.events, None), Ok(()));
        let is_report = matches!(
            report["sessionUpdate"].as_str(),
            Some("tool_call" | "tool_call_update")
        );
        let is_final = matches!(report["status"].as_str(), Some("completed" | "failed"));
        if was_open && is_report {
            prop_assert_eq!(call.ending().is_some(), is_final);
        }
    }

    #[test]
    fn no_json_is_too_odd(json in any_json(), call in any_call()) {
        let _ = (announce(&json), decode(&call, &json), decode_plan(&json));
        let update = json!({"sessionUpdate": "plan", "entries": json});
        let _ = decode_plan(&update);
    }

    #[test]
    fn every_stream_can_be_checked(reports in vec((any_report(), any::<bool>()), 0..8)) {
        let message = |(report, asks): &(Value, bool)| {
            if !asks {
                return json!({"method": "session/update", "params": {"sessionId": "s", "update": report}});
            }
            json!({"id": 1, "method": "session/request_permission",
                "params": {"sessionId": "s", "toolCall": report, "options": report}})
        };
        let messages: Vec<Value> = reports.iter().map(message).collect();
        let frame = |message| Frame { direction: Direction::FromAgent, message };
        let findings = lint(messages.iter().map(frame));
        let open = findings.iter().filter(|finding| finding.rule == LintRule::OneEnding).count();
        prop_assert!(open <= 1, "there is one call: {findings:?}");
        let lines = findings.iter().map(ToString::to_string);
        prop_assert!(lines.into_iter().all(|line| !line.contains('\n')));
    }
}
