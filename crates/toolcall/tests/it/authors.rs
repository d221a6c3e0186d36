//! What tool authors see: the errors and the advice of the registry.
//! It must not reach the network or a file, whatever a schema asks for.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{
    AllowAll, AuthorAdvice, CustomTool, Ending, Engine, Origin, Registry, RegistryError,
    ToolDefinition, ToolError, ToolRequest, around,
};

/// A tool that returns its input.
fn echo(definition: ToolDefinition) -> Arc<CustomTool> {
    let run = |input: Arc<Value>, _| async move { Ok::<_, ToolError>(Value::clone(&input)) };
    Arc::new(CustomTool::new(definition, run))
}

fn named(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "Gives back its input.", json!({"type": "object"}))
}

fn with_aliases(name: &str, aliases: &[&str]) -> ToolDefinition {
    ToolDefinition {
        aliases: aliases.iter().map(|alias| Arc::from(*alias)).collect(),
        ..named(name)
    }
}

fn with_schema(schema: Value) -> ToolDefinition {
    ToolDefinition::new("read_file", "Reads a file.", schema)
}

/// Registers all tools; returns the first error.
fn register(definitions: Vec<ToolDefinition>) -> Result<Registry, RegistryError> {
    let mut registry = Registry::new();
    for definition in definitions {
        registry.add_any(echo(definition))?;
    }
    Ok(registry)
}

fn refusal(definitions: Vec<ToolDefinition>) -> RegistryError {
    match register(definitions) {
        Ok(_) => panic!("nothing was refused"),
        Err(refusal) => refusal,
    }
}

fn names(registry: &Registry) -> Vec<&str> {
    let definitions = registry.definitions();
    definitions.map(|definition| &*definition.name).collect()
}

/// Runs one call of a tool and returns how it ended.
async fn call(registry: Registry, tool: &str, input: Value) -> Ending {
    let engine = Engine::builder(registry).policy(AllowAll).build();
    let outcome = engine.run(ToolRequest::new(tool, input)).await;
    outcome.ending().clone()
}

#[test]
fn a_name_is_taken_once() {
    let duplicate = |name: &str| RegistryError::Duplicate(name.into());
    let clashes = [
        (vec![named("read"), named("read")], "read"),
        (vec![named("read"), with_aliases("cat", &["read"])], "read"),
        (vec![with_aliases("cat", &["read"]), named("read")], "read"),
        (vec![with_aliases("cat", &["cat"])], "cat"),
        (vec![with_aliases("cat", &["show", "show"])], "show"),
    ];
    for (definitions, name) in clashes {
        assert_eq!(refusal(definitions), duplicate(name));
    }
}

#[test]
fn a_refused_tool_leaves_nothing_behind() {
    let mut registry = Registry::new();
    let refused = registry.add_any(echo(with_aliases("cat", &["show", "no name"])));
    assert!(refused.is_err());
    for name in ["cat", "show"] {
        assert!(registry.add_any(echo(named(name))).is_ok());
    }
    assert_eq!(names(&registry), ["cat", "show"]);
}

#[test]
fn names_are_plain_and_of_reasonable_length() {
    let longest = "n".repeat(128);
    for name in ["a", "read_file", "fs/read-file.v2", &longest] {
        assert!(register(vec![named(name)]).is_ok(), "{name}");
    }
    let too_long = "n".repeat(129);
    for name in [
        "",
        " ",
        "read file",
        "read\nfile",
        "re\u{0}ad",
        "lösen",
        "a\u{200b}b",
        &too_long,
    ] {
        let refused = refusal(vec![named(name)]);
        assert!(matches!(refused, RegistryError::BadName(_)), "{name:?}");
        let refused = refusal(vec![with_aliases("read", &[name])]);
        assert!(matches!(refused, RegistryError::BadName(_)), "{name:?}");
    }
}

#[test]
fn a_refused_name_is_shown_without_its_tricks() {
    let said = refusal(vec![named("re\u{1b}[31mad\u{202e}")]).to_string();
    assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
}

#[test]
fn definitions_stay_in_the_order_they_came() {
    let order = ["zebra", "apple", "mango", "banana", "cherry", "apricot"];
    let registry = register(order.map(named).to_vec()).expect("good tools");
    assert_eq!(names(&registry), order);
}

#[tokio::test]
async fn a_tool_answers_to_its_aliases_under_its_own_name() {
    let registry = register(vec![with_aliases("read", &["cat", "show"])]).expect("a good tool");
    let engine = Engine::builder(registry).policy(AllowAll).build();
    for name in ["read", "cat", "show"] {
        let outcome = engine.run(ToolRequest::new(name, json!({}))).await;
        assert_eq!(outcome.ending(), &Ending::Completed);
        assert_eq!(&**outcome.call.tool(), "read");
    }
}

#[tokio::test]
async fn an_agents_own_tools_are_judged_as_its_own() {
    let run =
        |name: Arc<str>, _input: Value| async move { Ok::<_, ToolError>(format!("ran {name}")) };
    let registry = around([named("one"), named("two")], run).expect("good tools");
    let origins: Vec<Origin> = registry.definitions().map(|d| d.origin.clone()).collect();
    assert_eq!(origins, [Origin::Agent, Origin::Agent]);
    assert_eq!(call(registry, "two", json!({})).await, Ending::Completed);
}

fn is_bad_schema(schema: Value) -> bool {
    let refused = register(vec![with_schema(schema)]).err();
    matches!(refused, Some(RegistryError::BadSchema { tool, .. }) if &*tool == "read_file")
}

#[test]
fn a_schema_that_is_none_is_refused() {
    let bad = [
        json!("object"),
        json!({"type": "objekt"}),
        json!({"properties": []}),
        json!({"required": "path"}),
        json!({"properties": {"path": {"pattern": "("}}}),
        json!({"$schema": "https://example.com/unheard-of"}),
    ];
    for schema in bad {
        assert!(is_bad_schema(schema.clone()), "{schema}");
    }
}

#[test]
fn a_schema_never_makes_anybody_fetch_something() {
    let elsewhere = [
        "http://example.com/schema.json",
        "https://example.com/schema.json",
        "file:///etc/passwd",
        "other.json",
    ];
    for target in elsewhere {
        assert!(is_bad_schema(json!({"$ref": target})), "{target}");
        assert!(is_bad_schema(json!({"$dynamicRef": target})), "{target}");
        let nested = json!({"properties": {"path": {"items": {"$ref": target}}}});
        assert!(is_bad_schema(nested), "{target}");
        let based = json!({"$id": "https://example.com/", "$ref": "schema.json"});
        assert!(is_bad_schema(based));
    }
}

#[test]
fn a_pattern_too_large_to_compile_is_refused() {
    let pattern = "((a{1000}){1000}){1000}";
    assert!(is_bad_schema(
        json!({"properties": {"path": {"pattern": pattern}}})
    ));
}

/// Built without `json!`, which would itself recurse as deep.
fn nest(times: usize) -> Value {
    let wrap = |inner| Value::from_iter([("not", inner)]);
    (0..times).fold(json!({}), |inner, _| wrap(inner))
}

#[test]
fn a_schema_too_deep_to_read_is_refused() {
    assert!(register(vec![with_schema(nest(127))]).is_ok());
    assert!(is_bad_schema(nest(128)));
    assert!(is_bad_schema(nest(1000)));
}

/// Patterns that would backtrack nearly forever.
#[tokio::test]
async fn a_pattern_without_end_gives_up() {
    let path = format!("{}!", "a".repeat(5000));
    for pattern in ["^(a+)+$", "^(a|aa)+\\1$(?!b)", "^(?=(a+)+$)(a|aa)+\\1$"] {
        let schema = json!({"properties": {"path": {"type": "string", "pattern": pattern}}});
        let registry = register(vec![with_schema(schema)]).expect("a schema");
        let ending = call(registry, "read_file", json!({"path": path})).await;
        assert!(
            matches!(ending, Ending::Failed { .. }),
            "{pattern}: {ending:?}"
        );
    }
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn a_bad_input_gets_an_error_with_the_place() {
    let told = [
        (json!({}), "`/path` is missing"),
        (json!({"path": 1}), "`/path` must be string, not number"),
        (
            json!({"path": "a", "lines": [1, "x"]}),
            "`/lines/1` must be integer, not string",
        ),
        (json!({"path": "a", "a/b": 1}), "`/a~1b` is not known"),
        (json!([]), "the input must be object, not array"),
    ];
    for (input, what) in told {
        let registry = register(vec![with_schema(schema())]).expect("a schema");
        let reason = format!("the input does not fit the schema: {what}");
        assert_eq!(
            call(registry, "read_file", input).await,
            Ending::failed(reason)
        );
    }
}

#[tokio::test]
async fn many_violations_are_counted_not_listed() {
    let registry = register(vec![with_schema(schema())]).expect("a schema");
    let input = json!({"path": "a", "lines": vec!["x"; 25]});
    let Ending::Failed { reason } = call(registry, "read_file", input).await else {
        panic!("the input does not fit");
    };
    assert_eq!(reason.matches("must be integer").count(), 20);
    assert!(reason.ends_with("; and 5 more"), "{reason}");
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_similar_ones() {
    let registry =
        || register(["read_file", "write_file", "run"].map(named).to_vec()).expect("tools");
    let near = "there is no tool `reed_file`; did you mean `read_file`";
    let Ending::Failed { reason } = call(registry(), "reed_file", json!({})).await else {
        panic!("there is no such tool");
    };
    assert!(reason.starts_with(near), "{reason}");
    let far = "there is no tool `zzz`; there are `read_file`, `write_file`, `run`";
    assert_eq!(
        call(registry(), "zzz", json!({})).await,
        Ending::failed(far)
    );
    let none = "there is no tool `zzz`: no tools are registered";
    assert_eq!(
        call(Registry::new(), "zzz", json!({})).await,
        Ending::failed(none)
    );
}

#[test]
fn a_long_list_of_tools_says_how_many_it_leaves_out() {
    let names: Vec<String> = (0..12).map(|number| format!("tool_{number}")).collect();
    let tools = names.iter().map(|name| named(name)).collect();
    let message = register(tools).expect("tools").explain_unknown("zzz");
    assert!(message.ends_with("`tool_9`, and 2 more"), "{message}");
}

fn advice(definition: ToolDefinition) -> Vec<String> {
    let name = definition.name.to_string();
    let registry = register(vec![definition]).expect("a tool");
    let whats = |advised: AuthorAdvice| {
        assert_eq!(advised.tool, name);
        advised.what
    };
    registry.lint().into_iter().map(whats).collect()
}

#[test]
fn names_that_explain_nothing_are_advised_against() {
    let what = "its name explains nothing; say what it does to what, like `read_file`";
    for name in ["rf", "x", "TOOL", "do", "xzz", "grpqwrst", "Process"] {
        assert_eq!(advice(named(name)), [what], "{name}");
    }
}

#[test]
fn missing_descriptions_are_advised_against() {
    let what = "it has no description; say what it does and when to use it";
    for description in ["", " \n"] {
        let definition = ToolDefinition::new("read_file", description, json!({}));
        assert_eq!(advice(definition), [what]);
    }
}

#[test]
fn properties_are_advised_about_wherever_they_are() {
    let schema = json!({"properties": {
        "p": {"description": "Where."},
        "range": {"description": "Which.", "properties": {"first": {"type": "integer"}}},
        "edits": {"description": "What.", "items": {"properties": {"text": {"description": " "}}}},
    }});
    let mut said = advice(with_schema(schema));
    said.sort_unstable();
    let expected = [
        "property `/edits/text` has no description",
        "property `/range/first` has no description",
        "the name of property `/p` explains nothing",
    ];
    assert_eq!(said, expected);
}

#[test]
fn a_good_tool_needs_no_advice() {
    let path = json!({"type": "string", "description": "The file to read."});
    let good = with_schema(json!({"type": "object", "properties": {"path": path}}));
    assert_eq!(advice(good), Vec::<String>::new());
    assert_eq!(Registry::new().lint(), []);
}
