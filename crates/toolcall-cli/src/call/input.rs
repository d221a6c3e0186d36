//! The input of a call from the command line: `key=value`, or JSON as a whole.
//! What a value is taken for is the schema's to say; whether it fits is checked with the call.

use anyhow::{Context as _, bail};
use serde_json::{Map, Value};
use toolcall::Registry;

use crate::arguments::Request;

/// The input that was given.
pub(super) fn read(request: &Request, tools: &Registry) -> anyhow::Result<Value> {
    if let Some(text) = &request.json {
        return serde_json::from_str(text)
            .context("`--json` takes one JSON object, such as '{\"path\": \"README.md\"}'");
    }
    let schema = tools
        .definition(&request.tool)
        .map(|definition| &*definition.input_schema);
    from_pairs(&request.values, schema).map(Value::Object)
}

fn from_pairs(pairs: &[String], schema: Option<&Value>) -> anyhow::Result<Map<String, Value>> {
    let mut input = Map::new();
    for pair in pairs {
        let Some((key, text)) = pair.split_once('=') else {
            bail!("`{pair}` is not `key=value`; quote a value that has spaces in it");
        };
        let value = match is_text(schema, key) {
            true => Value::from(text),
            false => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
        };
        if input.insert(key.to_owned(), value).is_some() {
            bail!("`{key}` is given twice; give a list as JSON: {key}='[…]'");
        }
    }
    Ok(input)
}

/// Whether the schema says that this is text; `null` beside it makes no difference.
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

    fn read(pairs: &[&str]) -> String {
        let schema = json!({"properties": {
            "path": {"type": "string"}, "cwd": {"type": ["string", "null"]},
            "line": {"type": "integer"}, "env": {"type": "object"},
        }});
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        match from_pairs(&pairs, Some(&schema)) {
            Ok(input) => Value::Object(input).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_are_taken_for_what_the_schema_says() {
        assert_eq!(
            read(&["path=1", "cwd=true", "line=7", r#"env={"A": "b=c"}"#]),
            r#"{"path":"1","cwd":"true","line":7,"env":{"A":"b=c"}}"#
        );
        assert_eq!(
            read(&["other=1", "more=x y"]),
            r#"{"other":1,"more":"x y"}"#
        );
        assert_eq!(read(&["path="]), r#"{"path":""}"#);
    }

    #[test]
    fn what_is_no_pair_is_explained() {
        assert!(read(&["README.md"]).contains("is not `key=value`"));
        assert!(read(&["path=a", "path=b"]).contains("given twice"));
    }
}
