//! Encodes the fields of a form as a JSON schema for MCP and ACP.
//! Parsing the result yields the same fields.

use serde_json::{Map, Value, json};

use super::{Choice, Field, FieldRequirement, FieldType, TextConstraints, TextFormat};

pub(super) fn schema(fields: &[Field]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|described| (described.name.to_string(), field(described)))
        .collect();
    let required: Vec<&str> = fields
        .iter()
        .filter(|field| field.need == FieldRequirement::Required)
        .map(|field| &*field.name)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

pub(super) fn field(field: &Field) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            map.insert(key.to_owned(), value);
        }
    };
    put("type", Some(type_of(&field.takes).into()));
    put("title", field.title.as_deref().map(Value::from));
    put("description", field.description.as_deref().map(Value::from));
    match &field.takes {
        FieldType::Text(rules) => put_text(rules, &mut put),
        FieldType::Number { least, most } => {
            put("minimum", least.map(Value::from));
            put("maximum", most.map(Value::from));
        }
        FieldType::Integer { least, most } => {
            put("minimum", least.map(Value::from));
            put("maximum", most.map(Value::from));
        }
        FieldType::Flag => {}
        FieldType::OneOf(choices) => {
            let (key, options) = options("oneOf", choices);
            put(key, Some(options));
        }
        FieldType::SomeOf {
            choices,
            least,
            most,
        } => {
            let (key, options) = options("anyOf", choices);
            let items = match key {
                "enum" => json!({"type": "string", "enum": options}),
                _ => json!({key: options}),
            };
            put("items", Some(items));
            put("minItems", least.map(Value::from));
            put("maxItems", most.map(Value::from));
        }
    }
    put("default", field.default.clone());
    Value::Object(map)
}

fn put_text(rules: &TextConstraints, put: &mut impl FnMut(&str, Option<Value>)) {
    put("minLength", rules.shortest.map(Value::from));
    put("maxLength", rules.longest.map(Value::from));
    put("pattern", rules.pattern.as_deref().map(Value::from));
    let format = rules.format.as_ref().map(|format| match format {
        TextFormat::Email => "email",
        TextFormat::Uri => "uri",
        TextFormat::Date => "date",
        TextFormat::DateTime => "date-time",
        TextFormat::Unknown(name) => name,
    });
    put("format", format.map(Value::from));
}

fn type_of(takes: &FieldType) -> &'static str {
    match takes {
        FieldType::Text(_) | FieldType::OneOf(_) => "string",
        FieldType::Number { .. } => "number",
        FieldType::Integer { .. } => "integer",
        FieldType::Flag => "boolean",
        FieldType::SomeOf { .. } => "array",
    }
}

/// Encodes choices: as a plain list, or all with titles if one has a title.
fn options(titled: &'static str, choices: &[Choice]) -> (&'static str, Value) {
    if choices.iter().all(|choice| choice.title.is_none()) {
        let values: Vec<&str> = choices.iter().map(|choice| &*choice.value).collect();
        return ("enum", values.into());
    }
    let option = |choice: &Choice| {
        let title = choice.title.as_ref().unwrap_or(&choice.value);
        json!({"const": &*choice.value, "title": &**title})
    };
    (titled, choices.iter().map(option).collect())
}
