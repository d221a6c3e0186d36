//! Parses the fields of a form from the JSON schema of an MCP server.
//! It ignores keywords it does not know and rejects types it would have to guess.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    Choice, Field, FieldRequirement, FieldType, FormError, MOST_CHOICES, MOST_FIELDS,
    TextConstraints, TextFormat,
};
use crate::text::clean_line;

pub(super) fn fields(schema: &Value) -> Result<Vec<Field>, FormError> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Err(not_flat("it has no `properties`"));
    };
    if properties.len() > MOST_FIELDS {
        return Err(FormError::TooMuch(format!("{} fields", properties.len())));
    }
    let required: Vec<&str> = texts(&schema["required"]).collect();
    if let Some(name) = required
        .iter()
        .find(|name| !properties.contains_key(**name))
    {
        let name = clean_line(name, 80);
        return Err(not_flat(&format!("`{name}` is required and not described")));
    }
    let read = |(name, schema): (&String, &Value)| {
        let need = if required.contains(&name.as_str()) {
            FieldRequirement::Required
        } else {
            FieldRequirement::Optional
        };
        field(name, schema, need)
    };
    properties.iter().map(read).collect()
}

fn field(name: &str, schema: &Value, need: FieldRequirement) -> Result<Field, FormError> {
    let Some(map) = schema.as_object() else {
        return Err(not_flat(&format!(
            "`{}` is not described",
            clean_line(name, 80)
        )));
    };
    let Some(takes) = takes(map) else {
        let name = clean_line(name, 80);
        return Err(not_flat(&format!(
            "`{name}` is no text, number, flag or choice"
        )));
    };
    let text = |key: &str| map.get(key).and_then(Value::as_str).map(Arc::from);
    Ok(Field {
        name: name.into(),
        title: text("title"),
        description: text("description"),
        takes,
        need,
        default: map.get("default").filter(|value| !value.is_null()).cloned(),
    })
}

fn takes(map: &Map<String, Value>) -> Option<FieldType> {
    match map.get("type")?.as_str()? {
        "string" if ["enum", "oneOf"].iter().any(|key| map.contains_key(*key)) => {
            choices(map, "oneOf").map(FieldType::OneOf)
        }
        "string" => Some(FieldType::Text(text_rules(map))),
        "number" => Some(FieldType::Number {
            least: map.get("minimum").and_then(Value::as_f64),
            most: map.get("maximum").and_then(Value::as_f64),
        }),
        "integer" => Some(FieldType::Integer {
            least: map.get("minimum").and_then(integer),
            most: map.get("maximum").and_then(integer),
        }),
        "boolean" => Some(FieldType::Flag),
        "array" => Some(FieldType::SomeOf {
            choices: choices(map.get("items")?.as_object()?, "anyOf")?,
            least: map.get("minItems").and_then(Value::as_u64),
            most: map.get("maxItems").and_then(Value::as_u64),
        }),
        _ => None,
    }
}

/// Reads an integer, which some servers write as `1.0`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a bound that is cut is still one"
)]
fn integer(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_f64().map(|float| float as i64))
}

fn text_rules(map: &Map<String, Value>) -> TextConstraints {
    let format = map.get("format").and_then(Value::as_str);
    TextConstraints {
        shortest: map.get("minLength").and_then(Value::as_u64),
        longest: map.get("maxLength").and_then(Value::as_u64),
        pattern: map.get("pattern").and_then(Value::as_str).map(Arc::from),
        format: format.map(|format| match format {
            "email" => TextFormat::Email,
            "uri" => TextFormat::Uri,
            "date" => TextFormat::Date,
            "date-time" => TextFormat::DateTime,
            other => TextFormat::Unknown(clean_line(other, 40).into()),
        }),
    }
}

/// Reads choices: with titles under `titled`, or as `enum` with the older `enumNames` beside it.
fn choices(map: &Map<String, Value>, titled: &str) -> Option<Vec<Choice>> {
    if let Some(options) = map.get(titled).and_then(Value::as_array) {
        let choice = |option: &Value| {
            Some(Choice {
                value: option.get("const")?.as_str()?.into(),
                title: option.get("title").and_then(Value::as_str).map(Arc::from),
            })
        };
        return options.iter().take(MOST_CHOICES + 1).map(choice).collect();
    }
    let values = map.get("enum")?.as_array()?;
    let titles: Vec<&Value> = map
        .get("enumNames")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .collect();
    let choice = |(index, value): (usize, &Value)| {
        Some(Choice {
            value: value.as_str()?.into(),
            title: titles
                .get(index)
                .and_then(|title| title.as_str())
                .map(Arc::from),
        })
    };
    values
        .iter()
        .take(MOST_CHOICES + 1)
        .enumerate()
        .map(choice)
        .collect()
}

fn texts(value: &Value) -> impl Iterator<Item = &str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn not_flat(why: &str) -> FormError {
    FormError::NotFlat(why.to_owned())
}
