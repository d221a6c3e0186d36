//! Parses the input of a call from `key=value` words.
//! The schema says which values are text; whether a value fits is checked with the call.

use serde_json::{Map, Value};
use thiserror::Error;

/// Why words are no input.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PairError {
    /// A word has no `=`.
    #[error("`{0}` is not `key=value`; quote a value that has spaces in it")]
    NoPair(String),
    /// A key has two values.
    #[error("`{0}` is given twice; give a list as JSON: {0}='[…]'")]
    Twice(String),
}

/// Parses words into an input. A value is text where the schema says so; elsewhere it is JSON, or
/// text if it is not valid JSON.
pub fn read<S: AsRef<str>>(
    pairs: &[S],
    schema: Option<&Value>,
) -> Result<Map<String, Value>, PairError> {
    let mut input = Map::new();
    for pair in pairs.iter().map(AsRef::as_ref) {
        let Some((key, text)) = pair.split_once('=') else {
            return Err(PairError::NoPair(pair.to_owned()));
        };
        let value = if is_text(schema, key) {
            Value::from(text)
        } else {
            serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
        };
        if input.insert(key.to_owned(), value).is_some() {
            return Err(PairError::Twice(key.to_owned()));
        }
    }
    Ok(input)
}

/// Returns whether the schema takes text here, with or without `null`.
fn is_text(schema: Option<&Value>, key: &str) -> bool {
    let kind = schema.map(|schema| &schema["properties"][key]["type"]);
    match kind {
        Some(Value::String(kind)) => kind == "string",
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind == "string" || kind == "null"),
        Some(_) | None => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(pairs: &[&str]) -> Result<Value, PairError> {
        let schema = json!({"properties": {
            "path": {"type": "string"}, "cwd": {"type": ["string", "null"]},
            "line": {"type": "integer"}, "env": {"type": "object"},
        }});
        read(pairs, Some(&schema)).map(Value::Object)
    }

    #[test]
    fn values_are_taken_for_what_the_schema_says() {
        assert_eq!(
            check(&["path=1", "cwd=true", "line=7", r#"env={"A": "b=c"}"#]),
            Ok(json!({"path": "1", "cwd": "true", "line": 7, "env": {"A": "b=c"}}))
        );
        assert_eq!(
            check(&["other=1", "more=x y"]),
            Ok(json!({"other": 1, "more": "x y"}))
        );
        assert_eq!(check(&["path="]), Ok(json!({"path": ""})));
        assert_eq!(
            read(&["a=1"], None),
            Ok(Map::from_iter([("a".to_owned(), json!(1))]))
        );
    }

    #[test]
    fn what_is_no_pair_is_explained() {
        let no_pair = PairError::NoPair("README.md".to_owned());
        assert_eq!(check(&["README.md"]), Err(no_pair));
        let twice = PairError::Twice("path".to_owned());
        assert_eq!(check(&["path=a", "path=b"]), Err(twice));
    }
}
