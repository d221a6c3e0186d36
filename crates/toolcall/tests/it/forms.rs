//! Forms as servers send them: parsed, limited, checked, encoded again.
//! A form must not be able to hide something, to flood the user or to accept a value it did not ask
//! for.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcall::{
    Choice, Field, FieldRequirement, FieldType, Form, FormValues, TextConstraints, TextFormat,
};

fn read(properties: Value) -> Result<Form, String> {
    let schema = json!({"type": "object", "properties": properties});
    Form::read("server", "Please", &schema).map_err(|error| error.to_string())
}

fn field(schema: Value) -> Field {
    read(json!({ "x": schema })).expect("a form").fields()[0].clone()
}

/// Checks each value and compares the results.
fn check(schema: Value, values: &[Value], expected: Expect) {
    let field = field(schema);
    let lines: Vec<String> = values
        .iter()
        .map(|value| match field.check(value) {
            Ok(()) => format!("{value}: fits"),
            Err(problem) => format!("{value}: {problem}"),
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn no_secret_is_asked_for() {
    let text = json!({"type": "string"});
    for (name, schema) in [
        ("password", text.clone()),
        ("x", json!({"type": "string", "title": "API key"})),
        ("y", json!({"type": "string", "format": "password"})),
    ] {
        let refused = read(json!({ name: schema })).unwrap_err();
        assert!(refused.contains("asks for a secret"), "{refused}");
    }
    assert!(read(json!({"use_password": {"type": "boolean"}, "name": text})).is_ok());
}

#[test]
fn every_sort_of_field_is_read() {
    let properties = json!({
        "name": {"type": "string", "title": "Name", "description": "Yours", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$", "default": "ann"},
        "mail": {"type": "string", "format": "email"},
        "odd": {"type": "string", "format": "postcode"},
        "size": {"type": "number", "minimum": 0.5, "maximum": 2},
        "days": {"type": "integer", "minimum": 1.0},
        "sure": {"type": "boolean", "default": true},
        "one": {"type": "string", "enum": ["a", "b"]},
        "old": {"type": "string", "enum": ["a", "b"], "enumNames": ["Ah", "Be"]},
        "titled": {"type": "string", "oneOf": [{"const": "a", "title": "Ah"}]},
        "some": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1, "default": ["b"]},
        "named": {"type": "array", "items": {"anyOf": [{"const": "a", "title": "Ah"}]}, "maxItems": 1},
    });
    let form = read(properties).expect("a form");
    let lines: Vec<String> = form
        .fields()
        .iter()
        .map(|field| format!("{}: {:?}, {:?}", field.name, field.takes, field.default))
        .collect();
    expect![[r#"
        name: Text(TextConstraints { shortest: Some(1), longest: Some(9), pattern: Some("^[a-z]+$"), format: None }), Some(String("ann"))
        mail: Text(TextConstraints { shortest: None, longest: None, pattern: None, format: Some(Email) }), None
        odd: Text(TextConstraints { shortest: None, longest: None, pattern: None, format: Some(Unknown("postcode")) }), None
        size: Number { least: Some(0.5), most: Some(2.0) }, None
        days: Integer { least: Some(1), most: None }, None
        sure: Flag, Some(Bool(true))
        one: OneOf([Choice { value: "a", title: None }, Choice { value: "b", title: None }]), None
        old: OneOf([Choice { value: "a", title: Some("Ah") }, Choice { value: "b", title: Some("Be") }]), None
        titled: OneOf([Choice { value: "a", title: Some("Ah") }]), None
        some: SomeOf { choices: [Choice { value: "a", title: None }, Choice { value: "b", title: None }], least: Some(1), most: None }, Some(Array [String("b")])
        named: SomeOf { choices: [Choice { value: "a", title: Some("Ah") }], least: None, most: Some(1) }, None"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn values_are_checked_as_they_were_asked_for() {
    check(
        json!({"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[a-z]+$"}),
        &[
            json!("ab"),
            json!("a"),
            json!("abcd"),
            json!("AB"),
            json!(1),
        ],
        expect![[r#"
            "ab": fits
            "a": it is shorter than 2 characters
            "abcd": it is longer than 3 characters
            "AB": it does not match "^[a-z]+$"
            1: it must be string, not number"#]],
    );
    check(
        json!({"type": "string", "format": "email"}),
        &[json!("a@b.c"), json!("a")],
        expect![[r#"
            "a@b.c": fits
            "a": it is not a "email""#]],
    );
    check(
        json!({"type": "string", "format": "date"}),
        &[json!("2026-02-28"), json!("2026-02-30")],
        expect![[r#"
            "2026-02-28": fits
            "2026-02-30": it is not a "date""#]],
    );
    check(
        json!({"type": "string", "format": "postcode"}),
        &[json!("anything")],
        expect![[r#""anything": fits"#]],
    );
    check(
        json!({"type": "integer", "minimum": 1, "maximum": 3}),
        &[json!(1), json!(3), json!(4), json!(1.5), json!("1")],
        expect![[r#"
            1: fits
            3: fits
            4: it is greater than the maximum of 3
            1.5: it must be integer, not number
            "1": it must be integer, not string"#]],
    );
    check(
        json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "minItems": 1}),
        &[
            json!(["a", "b"]),
            json!([]),
            json!(["c"]),
            json!(["a", "a"]),
            json!("a"),
        ],
        expect![[r#"
            ["a","b"]: fits
            []: it has less than 1 item
            ["c"]: `/0`: value is not one of "a" or "b"
            ["a","a"]: something is chosen twice
            "a": it must be array, not string"#]],
    );
}

#[test]
fn what_is_no_plain_form_is_refused() {
    let odd = [
        json!({"x": {"type": "object", "properties": {}}}),
        json!({"x": {"type": "array", "items": {"type": "object"}}}),
        json!({"x": {"type": "string", "enum": [1]}}),
        json!({"x": {"enum": ["a"]}}),
        json!({"x": true}),
        json!({"x": {"type": "string", "pattern": "("}}),
        json!({"x": {"type": "string", "enum": ["a", "a"]}}),
        json!({"": {"type": "string"}}),
    ];
    let lines: Vec<String> = odd
        .into_iter()
        .map(|properties| read(properties).expect_err("no form"))
        .collect();
    expect![[r#"
        the form is no object of plain fields: `x` is no text, number, flag or choice
        the form is no object of plain fields: `x` is no text, number, flag or choice
        the form is no object of plain fields: `x` is no text, number, flag or choice
        the form is no object of plain fields: `x` is no text, number, flag or choice
        the form is no object of plain fields: `x` is not described
        the field `x` cannot be checked: it is no valid JSON schema: "(" is not a "regex"
        the form names `a` twice
        the form has too much: a name of 0 bytes"#]]
    .assert_eq(&lines.join("\n"));
    let undescribed = json!({"properties": {}, "required": ["x"]});
    assert!(Form::read("server", "Please", &undescribed).is_err());
    assert!(Form::read("server", "Please", &json!({"type": "object"})).is_err());
}

#[test]
fn too_much_is_refused_and_what_people_read_is_cut() {
    let fields: Map<String, Value> = (0..33)
        .map(|place| (format!("f{place}"), json!({"type": "boolean"})))
        .collect();
    assert!(read(fields.into()).is_err());
    let choices: Vec<String> = (0..129).map(|place| place.to_string()).collect();
    assert!(read(json!({"x": {"type": "string", "enum": choices}})).is_err());
    assert!(read(json!({"x": {"type": "string", "enum": ["a".repeat(501)]}})).is_err());
    assert!(read(json!({"x": {"type": "string", "pattern": "a".repeat(1001)}})).is_err());
    assert!(read(json!({"x".repeat(129): {"type": "string"}})).is_err());
    let title = field(json!({"type": "string", "title": "t".repeat(5000)}))
        .title
        .expect("a title");
    assert_eq!(title.chars().count(), 200);
    let message = "m".repeat(100_000);
    let form = Form::read("s\u{202e}erver", &message, &json!({"properties": {}})).expect("a form");
    assert_eq!(form.message().len(), 4000);
    assert_eq!(&**form.by(), "s\\u{202e}erver");
    let long = json!("a".repeat(17 * 1024));
    assert!(field(json!({"type": "string"})).check(&long).is_err());
}

#[test]
fn a_proposal_that_does_not_fit_is_none() {
    assert_eq!(
        field(json!({"type": "integer", "default": "one"})).default,
        None
    );
    assert_eq!(
        field(json!({"type": "integer", "default": 1})).default,
        Some(json!(1))
    );
}

#[test]
fn values_are_seen_in_no_log() {
    let values = json!({"pin": "1234"});
    let Value::Object(values) = values else {
        unreachable!("an object")
    };
    assert_eq!(format!("{:?}", FormValues::new(values)), r#"{"pin"}"#);
}

fn any_takes() -> impl Strategy<Value = FieldType> {
    let bound = || prop::option::of(0..9_u64);
    let format = prop::sample::select(vec![
        None,
        Some(TextFormat::Email),
        Some(TextFormat::Uri),
        Some(TextFormat::Date),
        Some(TextFormat::DateTime),
        Some(TextFormat::Unknown("postcode".into())),
    ]);
    let text = (bound(), bound(), format).prop_map(|(shortest, longest, format)| TextConstraints {
        shortest,
        longest,
        pattern: Some("^a*$".into()),
        format,
    });
    let number = prop::option::of(-9.0..9.0);
    let whole = || prop::option::of(any::<i64>());
    prop_oneof![
        text.prop_map(FieldType::Text),
        (number.clone(), number).prop_map(|(least, most)| FieldType::Number { least, most }),
        (whole(), whole()).prop_map(|(least, most)| FieldType::Integer { least, most }),
        Just(FieldType::Flag),
        any_choices().prop_map(FieldType::OneOf),
        (any_choices(), bound(), bound()).prop_map(|(choices, least, most)| FieldType::SomeOf {
            choices,
            least,
            most
        }),
    ]
}

/// All with a title, or none.
fn any_choices() -> impl Strategy<Value = Vec<Choice>> {
    (1..6_u8, any::<bool>()).prop_map(|(many, titled)| {
        let choice = |place: u8| Choice {
            value: format!("v{place}").into(),
            title: titled.then(|| format!("T {place}").into()),
        };
        (0..many).map(choice).collect()
    })
}

fn any_field(place: usize) -> impl Strategy<Value = Field> {
    let need = prop::sample::select(vec![FieldRequirement::Required, FieldRequirement::Optional]);
    (any_takes(), need).prop_map(move |(takes, need)| Field::new(format!("f{place}"), takes, need))
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(fields in (any_field(0), any_field(1), any_field(2))) {
        let form = Form::new("server", "Please", vec![fields.0, fields.1, fields.2]).expect("a form");
        let again = Form::read("server", "Please", &form.schema()).expect("a form");
        prop_assert_eq!(form, again);
    }

    #[test]
    fn no_schema_is_too_odd_to_read(schema in any_json()) {
        let form = Form::read("server", "Please", &json!({"properties": {"x": schema}}));
        if let Ok(form) = form {
            prop_assert_eq!(form.fields().len(), 1);
        }
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "type", "string", "enum", "array", "items", "integer", "minimum", "oneOf", "const",
    ]);
    let leaf = prop_oneof![
        words.clone().prop_map(Value::from),
        any::<i8>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..4).prop_map(|pairs| pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}
