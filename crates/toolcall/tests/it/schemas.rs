//! Hostile schemas that would never end, and real schemas of known servers.
//! A check must be bounded in time and stack, whatever the schema and the input.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcall::{
    AllowAll, CustomTool, Ending, Engine, Registry, RegistryError, ToolDefinition, ToolError,
    ToolRequest,
};

/// Less stack than the threads of a runtime have.
const SMALL_STACK: usize = 2 * 1024 * 1024;

fn register(schema: Value) -> Result<Registry, RegistryError> {
    let run = |_, _| async { Ok::<_, ToolError>("done") };
    let definition = ToolDefinition::new("probe", "Looks at its input.", schema);
    let mut registry = Registry::new();
    registry.add_any(Arc::new(CustomTool::new(definition, run)))?;
    Ok(registry)
}

/// Registers a schema, makes a call with this input and compares what happens.
fn outcome(schema: Value, input: Value) -> String {
    let registry = match register(schema) {
        Ok(registry) => registry,
        Err(refusal) => return format!("refused: {refusal}"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let ending = runtime.block_on(async {
        let engine = Engine::builder(registry).policy(AllowAll).build();
        let outcome = engine.run(ToolRequest::new("probe", input)).await;
        outcome.ending().clone()
    });
    match ending {
        Ending::Completed => "fits".to_owned(),
        other => other.reason().unwrap_or_default(),
    }
}

/// Runs on a small stack, so that a recursion that is too deep aborts the test.
fn check(schema: Value, input: Value, expected: Expect) {
    let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
    let thread = thread.spawn(move || outcome(schema, input));
    let message = thread.expect("a thread").join().expect("no panic");
    expected.assert_eq(&message);
}

/// Schemas `d0`, `d1`, …, each made from a reference to the next; `last` is the last one.
fn row(length: usize, each: impl Fn(Value) -> Value, last: Value) -> Value {
    let mut defs = Map::new();
    for place in 0..length {
        let next = json!({"$ref": format!("#/$defs/d{}", place + 1)});
        defs.insert(format!("d{place}"), each(next));
    }
    defs.insert(format!("d{length}"), last);
    json!({"$defs": defs, "$ref": "#/$defs/d0"})
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!({"c": inner}))
}

#[test]
fn doubling_in_one_place_is_refused() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let twice = |next: Value| json!({keyword: [next.clone(), next]});
        let schema = row(40, twice, json!({"type": "string"}));
        check(
            schema,
            json!({}),
            expect![
                "refused: the input schema of `probe` cannot be used: checking one value against it would take more than 20000 steps"
            ],
        );
    }
}

#[test]
fn doubling_by_what_is_unevaluated_is_refused() {
    let looked_through = |next: Value| json!({"unevaluatedProperties": false, "allOf": [next]});
    let schema = row(40, looked_through, json!({"properties": {"a": true}}));
    check(
        schema,
        json!({"a": 1}),
        expect![
            "refused: the input schema of `probe` cannot be used: checking one value against it would take more than 20000 steps"
        ],
    );
    let inline = (0..40).fold(
        json!({"properties": {"a": true}}),
        |inner, _| json!({"unevaluatedProperties": false, "allOf": [inner]}),
    );
    check(
        inline,
        json!({"a": 1}),
        expect![
            "refused: the input schema of `probe` cannot be used: checking one value against it would take more than 20000 steps"
        ],
    );
}

#[test]
fn a_circle_in_one_place_is_refused() {
    let circles = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"anyOf": [{"$ref": "#"}]}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}}),
    ];
    for schema in circles {
        check(
            schema,
            json!({}),
            expect![
                "refused: the input schema of `probe` cannot be used: it refers to itself without going into the input"
            ],
        );
    }
}

#[test]
fn long_ways_take_no_stack() {
    let onwards = |next: Value| next;
    check(
        row(3_000, onwards, json!({"type": "object"})),
        json!({}),
        expect!["fits"],
    );
    let inwards = |next: Value| json!({"properties": {"c": next}});
    check(
        row(1_900, inwards, json!({})),
        json!({"c": {}}),
        expect!["fits"],
    );
    check(
        row(20_000, onwards, json!({"type": "object"})),
        json!({}),
        expect!["refused: the input schema of `probe` cannot be used: it has more than 4000 parts"],
    );
    // From the end every path is short; from the beginning it is not.
    let names: Vec<String> = (0..3_000).rev().map(|place| format!("d{place}")).collect();
    let mut backwards = row(3_000, onwards, json!({"type": "object"}));
    let ends = names
        .iter()
        .map(|name| (name.clone(), json!({"$ref": format!("#/$defs/{name}")})));
    backwards["properties"] = ends.take(900).collect();
    backwards["$ref"] = json!("#/$defs/d2999");
    check(backwards, json!({}), expect!["fits"]);
}

/// Two paths into every level of the input: the deeper it is, the longer a check would take.
#[test]
fn doubling_with_the_input_is_refused_when_it_comes() {
    let two_ways = || {
        json!({
            "type": "object",
            "properties": {"c": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}},
        })
    };
    check(
        two_ways(),
        nested(3),
        expect![
            "the input does not fit the schema: `/c`: value is not valid under any of the schemas listed in the 'anyOf' keyword"
        ],
    );
    check(
        two_ways(),
        nested(100),
        expect!["it would take too long to check the input; make it smaller"],
    );
    let alike = json!({"type": "object", "properties": {"c": {"$ref": "#"}}});
    check(
        json!({"anyOf": [alike.clone(), alike]}),
        nested(60),
        expect!["it would take too long to check the input; make it smaller"],
    );
}

#[test]
fn a_tree_is_no_doubling() {
    let tree = json!({
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}},
    });
    let grown = (0..12).fold(json!({}), |inner, _| json!({"left": inner, "right": inner}));
    check(tree, grown, expect!["fits"]);
}

#[test]
fn long_texts_are_not_matched_for_long() {
    let look_ahead = json!({"properties": {"text": {"pattern": "(?=.*a.{500}b)x"}}});
    check(
        look_ahead.clone(),
        json!({"text": "ab".repeat(50_000)}),
        expect!["it would take too long to check the input; make it smaller"],
    );
    check(
        look_ahead,
        json!({"text": "ab".repeat(50)}),
        expect![[
            r#"the input does not fit the schema: `/text`: value does not match "(?=.*a.{500}b)x""#
        ]],
    );
    let plain = json!({"properties": {"text": {"pattern": "^[a-z]+$"}}});
    check(
        plain.clone(),
        json!({"text": "ab".repeat(10_000)}),
        expect!["fits"],
    );
    check(
        plain,
        json!({"text": "ab".repeat(1_000_000)}),
        expect!["it would take too long to check the input; make it smaller"],
    );
    let names = json!({"patternProperties": {"^(a|b)*c$": false}});
    check(
        names,
        json!({"ab".repeat(1_000_000): 1}),
        expect!["it would take too long to check the input; make it smaller"],
    );
}

#[test]
fn many_faults_are_found_and_not_listed() {
    check(
        json!({"properties": {"rows": {"items": {"type": "string"}}}}),
        json!({"rows": vec![1; 200_000]}),
        expect!["the input does not fit the schema, and is too large to say where"],
    );
}

#[test]
fn references_stay_within_the_schema() {
    let anchored =
        json!({"$ref": "#one%2D", "$defs": {"x": {"$anchor": "one-", "type": "object"}}});
    check(
        anchored,
        json!({}),
        expect![
            "refused: the input schema of `probe` cannot be used: it is no valid JSON schema: Anchor 'one%2D' does not exist"
        ],
    );
    let encoded = json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"type": "object"}}});
    check(encoded, json!({}), expect!["fits"]);
    check(
        json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        json!({}),
        expect![
            "refused: the input schema of `probe` cannot be used: `https://json-schema.org/draft/2020-12/schema` leads nowhere within it; write the part into `$defs`"
        ],
    );
    check(
        json!({"properties": {"a": {"$id": "https://example.com/a", "$ref": "#/$defs/b", "$defs": {"b": {}}}}}),
        json!({}),
        expect![
            "refused: the input schema of `probe` cannot be used: a part of it has an `$id`; only the whole may have one"
        ],
    );
}

/// The largest schemas of every recorded server, and those with unusual keywords. The recording
/// left `$defs` out; those that are referred to allow anything.
#[test]
fn every_schema_of_the_field_can_be_used() {
    for line in include_str!("fixtures/tool-schemas.jsonl").lines() {
        let row: Value = serde_json::from_str(line).expect("a row");
        let registered = register(row["schema"].clone());
        assert!(
            registered.is_ok(),
            "{}: {:?}",
            row["tool"],
            registered.err()
        );
    }
}

/// Schemas whose parts refer to each other at random, by every keyword that applies one.
fn tangled() -> impl Strategy<Value = Value> {
    let part = prop::collection::vec((0..KEYWORDS.len(), 0..6usize), 0..4);
    prop::collection::vec(part, 1..6).prop_map(|parts| {
        let defs: Map<String, Value> = parts
            .iter()
            .enumerate()
            .map(|(place, edges)| (format!("d{place}"), tangle(edges, parts.len())))
            .collect();
        json!({"$defs": defs, "$ref": "#/$defs/d0"})
    })
}

const KEYWORDS: [&str; 12] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "properties",
    "additionalProperties",
    "items",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
];

fn tangle(edges: &[(usize, usize)], parts: usize) -> Value {
    let mut part = json!({});
    for (keyword, target) in edges {
        let target = json!({"$ref": format!("#/$defs/d{}", target % parts)});
        let keyword = KEYWORDS[*keyword];
        part[keyword] = match keyword {
            "allOf" | "anyOf" | "oneOf" => json!([target, target]),
            "properties" => json!({"c": target, "d": target}),
            _ => target,
        };
    }
    part
}

/// Inputs that go deep and wide.
fn any_input() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(json!(1)), Just(json!("text")), Just(json!({}))];
    leaf.prop_recursive(12, 200, 3, |inner| {
        let several = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            (inner.clone(), inner).prop_map(|(c, d)| json!({"c": c, "d": d})),
            several.prop_map(Value::from),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// It ends, whatever the result: a check without a limit would hang here.
    #[test]
    fn whatever_is_tangled_comes_to_an_end(schema in tangled(), input in any_input()) {
        let input = json!({"c": input});
        let thread = std::thread::Builder::new().stack_size(SMALL_STACK);
        let thread = thread.spawn(move || outcome(schema, input)).expect("a thread");
        prop_assert!(!thread.join().expect("no panic").is_empty());
    }
}
