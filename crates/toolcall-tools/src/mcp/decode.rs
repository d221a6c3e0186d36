//! Cleans text and JSON that servers send: removes invisible tag characters and limits lengths.
//! It never rejects a value.

use serde_json::Value;
use toolcall::text::clean_block;

/// Removes Unicode tag characters, which models read but users cannot see; returns how many there were.
pub(super) fn without_tags(text: &str) -> (String, usize) {
    let is_tag = |c: &char| ('\u{e0000}'..='\u{e007f}').contains(c);
    let hidden = text.chars().filter(is_tag).count();
    match hidden {
        0 => (text.to_owned(), 0),
        _ => (text.chars().filter(|c| !is_tag(c)).collect(), hidden),
    }
}

/// Removes Unicode tag characters from all strings and keys of a value; returns how many there were.
pub(super) fn value_without_tags(value: Value) -> (Value, usize) {
    let mut hidden = 0;
    let mut clean = |text: &str| {
        let (text, some) = without_tags(text);
        hidden += some;
        text
    };
    let value = map_texts(value, &mut clean);
    (value, hidden)
}

fn map_texts(value: Value, clean: &mut impl FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(items) => items
            .into_iter()
            .map(|item| map_texts(item, clean))
            .collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, item)| (clean(&key), map_texts(item, clean)))
            .collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// Makes hidden characters in the titles and descriptions of a schema visible. Its constraints stay as they are.
pub(super) fn clean_schema(schema: Value) -> Value {
    match schema {
        Value::Object(map) => map
            .into_iter()
            .map(|(key, item)| match item {
                Value::String(text) if matches!(key.as_str(), "description" | "title") => {
                    (key, Value::String(clean_block(&text)))
                }
                item => (key, clean_schema(item)),
            })
            .collect(),
        Value::Array(items) => items.into_iter().map(clean_schema).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

/// Returns at most `most` bytes of a text, cut between characters.
pub(super) fn capped(text: &str, most: usize) -> String {
    if text.len() > most {
        format!("{}…", &text[..text.floor_char_boundary(most)])
    } else {
        text.to_owned()
    }
}
