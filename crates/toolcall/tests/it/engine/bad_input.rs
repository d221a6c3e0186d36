//! Mistakes of models: each gets a clear error, nothing runs, nothing is lost.
//! The same engine goes on afterwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use toolcall::*;

use crate::engine::support::*;

struct BadInputFixture {
    engine: Engine,
    runs: Arc<AtomicUsize>,
}

fn fixture() -> BadInputFixture {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let schema = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "maxLength": 20},
            "line": {"type": "integer", "minimum": 1},
            "edits": {"type": "array", "items": {"type": "object", "required": ["a/b"]}},
            "mode": {"enum": ["fast", "slow"]}
        },
        "required": ["path"],
        "additionalProperties": false
    });
    let definition = ToolDefinition::new("read_lines", "For a test", schema);
    let tool = CustomTool::new(definition, move |_, _| {
        counted.fetch_add(1, Ordering::SeqCst);
        async { Ok("read") }
    });
    let engine = engine(registry([Arc::new(tool)]), &Log::default())
        .policy(AllowAll)
        .build();
    BadInputFixture { engine, runs }
}

/// Makes a call that must fail and compares the reason.
async fn check(request: ToolRequest, reason: Expect) -> Outcome {
    let BadInputFixture { engine, runs } = fixture();
    let outcome = engine.run(request).await;
    let Ending::Failed { reason: why } = outcome.ending() else {
        panic!("{:?}", outcome.ending());
    };
    reason.assert_eq(why);
    assert_eq!(runs.load(Ordering::SeqCst), 0, "nothing ran");
    assert!(outcome.call.input().is_some(), "the input is kept");
    let next = engine
        .run(ToolRequest::new("read_lines", json!({"path": "a"})))
        .await;
    assert_eq!(next.ending(), &Ending::Completed, "the engine goes on");
    outcome
}

fn read(input: Value) -> ToolRequest {
    ToolRequest::new("read_lines", input)
}

#[tokio::test]
async fn every_violation_is_named_with_its_place() {
    check(
        read(json!({"line": "x", "edits": [{}, {"a/b": 1}, 3], "mode": "odd", "ink": 1})),
        expect![[r#"the input does not fit the schema: `/line` must be integer, not string; `/edits/0/a~1b` is missing; `/edits/2` must be object, not number; `/mode`: value is not one of "fast" or "slow"; `/ink` is not known; `/path` is missing"#]],
    )
    .await;
}

#[tokio::test]
async fn an_input_that_is_no_object_is_refused() {
    check(
        read(json!([1, 2])),
        expect!["the input does not fit the schema: the input must be object, not array"],
    )
    .await;
    check(
        read(json!("text")),
        expect!["the input does not fit the schema: the input must be object, not string"],
    )
    .await;
}

#[tokio::test]
async fn no_input_counts_as_an_empty_one() {
    for request in [
        read(Value::Null),
        ToolRequest::from_text("read_lines", ""),
        ToolRequest::from_text("read_lines", " \n"),
    ] {
        let outcome = check(
            request,
            expect!["the input does not fit the schema: `/path` is missing"],
        )
        .await;
        assert_eq!(outcome.call.input(), Some(&Input::from(json!({}))));
    }
}

#[tokio::test]
async fn text_that_is_no_json_is_refused_and_kept() {
    let outcome = check(
        ToolRequest::from_text("read_lines", r#"{"path": "a", }"#),
        expect!["the input is not JSON: trailing comma at line 1 column 15"],
    )
    .await;
    assert_eq!(
        outcome.call.input(),
        Some(&Input::Text(r#"{"path": "a", }"#.into()))
    );
}

#[tokio::test]
async fn a_long_value_is_not_repeated_in_the_message() {
    let long = "x".repeat(1_000_000);
    check(
        read(json!({"path": long})),
        expect!["the input does not fit the schema: `/path`: value is longer than 20 characters"],
    )
    .await;
}

#[tokio::test]
async fn ten_megabytes_are_too_many() {
    let long = "x".repeat(10_000_000);
    let expected = expect!["the input has 10000012 bytes; at most 8388608 are taken"];
    check(read(json!({"path": long})), expected).await;
    let text = format!(r#"{{"path":"{long}"}}"#);
    let expected = expect!["the input has 10000011 bytes; at most 8388608 are taken"];
    check(ToolRequest::from_text("read_lines", text), expected).await;
}

#[tokio::test]
async fn a_thousand_levels_are_too_deep() {
    let deep = (0..1000).fold(json!(1), |inner, _| json!([inner]));
    let text = deep.to_string();
    let outcome = check(
        read(deep),
        expect!["the input is nested more than 128 deep"],
    )
    .await;
    assert_eq!(
        outcome.call.input(),
        Some(&Input::Text(text.clone().into())),
        "kept as text"
    );
    let expected = expect!["the input is not JSON: recursion limit exceeded at line 1 column 128"];
    check(ToolRequest::from_text("read_lines", text), expected).await;
}

#[tokio::test]
async fn an_unknown_tool_is_answered_with_near_names() {
    check(
        ToolRequest::new("raed_file", json!({})),
        expect![
            "there is no tool `raed_file`; did you mean `read_file`, `edit_file`, `read_lines`"
        ],
    )
    .await;
    check(
        ToolRequest::new("zzz", json!({})),
        expect!["there is no tool `zzz`; there are `read_file`, `edit_file`, `read_lines`"],
    )
    .await;
}

#[tokio::test]
async fn a_name_with_hidden_characters_is_shown_with_them() {
    let outcome = check(
        ToolRequest::new("read\u{202e}_file\n\u{1b}[2J", json!({})),
        expect![[r#"there is no tool `read\u{202e}_file \u{1b}[2J`; did you mean `read_file`, `read_lines`"#]],
    )
    .await;
    assert_eq!(&**outcome.call.tool(), r"read\u{202e}_file \u{1b}[2J");
    assert_eq!(outcome.call.title(), r"Calling read\u{202e}_file \u{1b}[2J");
}

#[tokio::test]
async fn a_tool_answers_to_its_alias_and_is_known_by_its_name() {
    let host = MemoryHost::default().with_file("/w/a", "content");
    let log = Log::default();
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .policy(AllowAll)
        .build();
    let outcome = engine
        .run(ToolRequest::new("cat_file", json!({"path": "a"})))
        .await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    assert_eq!(
        (&*outcome.call.announced().tool, &**outcome.call.tool()),
        ("cat_file", "read_file")
    );
}
