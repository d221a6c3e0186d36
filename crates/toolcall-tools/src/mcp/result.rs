//! Converts the result of a server's tool to our content, block by block.
//! An unknown block is shown as JSON; no link is followed.

use serde_json::{Map, Value};
use toolcall::text::clean_line;
use toolcall::{Blob, Content, Link, Resource, ResourceBody, ToolError, ToolResult};

use super::decode::{capped, value_without_tags, without_tags};

/// How many bytes of an unknown block are shown.
const LONGEST_UNKNOWN: usize = 2_000;
const LONGEST_REASON: usize = 600;

/// Converts a `tools/call` result. It is an error if the server marks it as one.
pub(super) fn result_of(answer: Value) -> Result<ToolResult, ToolError> {
    let Value::Object(mut answer) = answer else {
        return Err(ToolError::new("the server's answer is no object"));
    };
    let is_error = answer.get("isError").and_then(Value::as_bool) == Some(true);
    let mut builder = ResultBuilder::default();
    match answer.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().for_each(|block| builder.block(block)),
        Some(Value::Null) | None => {}
        Some(other) => builder.block(other),
    }
    if let Some(structured) = answer
        .remove("structuredContent")
        .filter(|value| !value.is_null())
    {
        builder.structured(structured);
    }
    // The name of structured content in the first version of the protocol.
    if let Some(legacy) = answer.remove("toolResult") {
        builder.structured(legacy);
    }
    let result = builder.finish();
    if is_error {
        Err(ToolError::new(reason(&result)).with(result))
    } else {
        Ok(result)
    }
}

/// Collects the content of a result.
#[derive(Default)]
struct ResultBuilder {
    result: ToolResult,
    hidden: usize,
}

impl ResultBuilder {
    fn block(&mut self, block: Value) {
        let (block, hidden) = value_without_tags(block);
        self.hidden += hidden;
        let content = match &block {
            Value::Object(map) => known(map).unwrap_or_else(|| unknown(&block)),
            Value::String(text) => Content::text(text.as_str()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => unknown(&block),
        };
        self.result.content.push(content);
    }

    /// Adds structured content. It is also shown as text if there is nothing else to show.
    fn structured(&mut self, value: Value) {
        let (value, hidden) = value_without_tags(value);
        self.hidden += hidden;
        if self.result.content.is_empty() {
            self.result
                .content
                .push(Content::text(format!("{value:#}")));
        }
        self.result.structured = Some(value.into());
    }

    fn finish(mut self) -> ToolResult {
        if self.hidden > 0 {
            let said = match self.hidden {
                1 => "(1 hidden character was left out)".to_owned(),
                hidden => format!("({hidden} hidden characters were left out)"),
            };
            self.result.content.push(Content::text(said));
        }
        self.result
    }
}

/// Converts a block of a known type that has the expected members.
fn known(block: &Map<String, Value>) -> Option<Content> {
    let text = |key: &str| block.get(key).and_then(Value::as_str);
    match text("type")? {
        "text" => Some(Content::text(text("text")?)),
        "image" => blob(block).map(Content::Image),
        "audio" => blob(block).map(Content::Audio),
        "resource" => resource(block.get("resource")?.as_object()?),
        "resource_link" => Some(Content::Link(Link {
            uri: text("uri")?.into(),
            name: text("name").or(text("uri"))?.into(),
            title: text("title").map(Into::into),
            description: text("description").map(Into::into),
            mime: text("mimeType").map(Into::into),
            size: block.get("size").and_then(Value::as_u64),
        })),
        _ => None,
    }
}

fn blob(block: &Map<String, Value>) -> Option<Blob> {
    Some(Blob {
        mime: block.get("mimeType")?.as_str()?.into(),
        base64: block
            .get("data")?
            .as_str()
            .filter(|data| is_base64(data))?
            .into(),
    })
}

fn resource(resource: &Map<String, Value>) -> Option<Content> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str);
    let body = match (text("text"), text("blob")) {
        (Some(text), _) => ResourceBody::Text(text.into()),
        (None, Some(blob)) if is_base64(blob) => ResourceBody::Base64(blob.into()),
        (None, Some(_) | None) => return None,
    };
    Some(Content::Resource(Resource {
        uri: text("uri")?.into(),
        mime: text("mimeType").map(Into::into),
        body,
    }))
}

/// Whether this contains base64 characters only. It is not decoded here.
fn is_base64(data: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    data.bytes().all(is_digit)
}

fn unknown(block: &Value) -> Content {
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("none");
    let shown = capped(&block.to_string(), LONGEST_UNKNOWN);
    let kind = clean_line(kind, 40);
    Content::text(format!(
        "(a block of type `{kind}` that cannot be shown: {shown})"
    ))
}

fn reason(result: &ToolResult) -> String {
    let first = result.content.iter().find_map(|content| match content {
        Content::Text(text) if !text.trim().is_empty() => Some(text),
        Content::Text(_)
        | Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => None,
    });
    match first {
        Some(text) => clean_line(&without_tags(text).0, LONGEST_REASON),
        None => "the tool failed and did not say why".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(answer: Value, expected: Expect) {
        let shown = match result_of(answer) {
            Ok(result) => format!("{result:#?}"),
            Err(error) => format!("{error:?}"),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn every_block_is_carried() {
        let answer = json!({"content": [
            {"type": "text", "text": "a\u{e0041}b"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "BBBB", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///etc/passwd", "name": "p", "size": 3},
            {"type": "resource", "resource": {"uri": "x:1", "text": "t", "mimeType": "text/plain"}},
            {"type": "resource", "resource": {"uri": "x:2", "blob": "CCCC"}},
        ], "structuredContent": {"n": 1}});
        check(
            answer,
            expect![[r#"
            ToolResult {
                content: [
                    Text(
                        "ab",
                    ),
                    Image(
                        Blob {
                            mime: "image/png",
                            base64: "AAAA",
                        },
                    ),
                    Audio(
                        Blob {
                            mime: "audio/wav",
                            base64: "BBBB",
                        },
                    ),
                    Link(
                        Link {
                            uri: "file:///etc/passwd",
                            name: "p",
                            title: None,
                            description: None,
                            mime: None,
                            size: Some(
                                3,
                            ),
                        },
                    ),
                    Resource(
                        Resource {
                            uri: "x:1",
                            mime: Some(
                                "text/plain",
                            ),
                            body: Text(
                                "t",
                            ),
                        },
                    ),
                    Resource(
                        Resource {
                            uri: "x:2",
                            mime: None,
                            body: Base64(
                                "CCCC",
                            ),
                        },
                    ),
                    Text(
                        "(1 hidden character was left out)",
                    ),
                ],
                structured: Some(
                    Object {
                        "n": Number(1),
                    },
                ),
            }"#]],
        );
    }

    #[test]
    fn one_bad_block_does_not_cost_the_others() {
        let answer = json!({"content": [
            {"type": "hologram", "depth": 3},
            {"type": "text"},
            {"type": "image", "data": "not base64!", "mimeType": "image/png"},
            7,
            "plain",
            {"type": "text", "text": "last"},
        ]});
        let result = result_of(answer).unwrap();
        let texts: Vec<_> = result
            .content
            .iter()
            .map(|content| match content {
                Content::Text(text) => text.to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        expect![[r#"
            (a block of type `hologram` that cannot be shown: {"type":"hologram","depth":3})
            (a block of type `text` that cannot be shown: {"type":"text"})
            (a block of type `image` that cannot be shown: {"type":"image","data":"not base64!","mimeType":"image/png"})
            (a block of type `none` that cannot be shown: 7)
            plain
            last"#]]
        .assert_eq(&texts.join("\n"));
    }

    #[test]
    fn a_failure_keeps_what_was_produced() {
        let content = json!([{"type": "text", "text": "no such\nfile"}]);
        let error = result_of(json!({"content": content, "isError": true})).unwrap_err();
        assert_eq!(error.reason(), "no such file");
        check(
            json!({"isError": true}),
            expect!["ToolError(the tool failed and did not say why)"],
        );
        check(
            json!([1]),
            expect!["ToolError(the server's answer is no object)"],
        );
    }

    #[test]
    fn a_value_alone_is_shown_too() {
        let result = result_of(json!({"structuredContent": {"t": 21}})).unwrap();
        assert_eq!(result.content, [Content::text("{\n  \"t\": 21\n}")]);
        let legacy = result_of(json!({"toolResult": 5})).unwrap();
        assert_eq!(legacy.structured.as_deref(), Some(&json!(5)));
    }
}
