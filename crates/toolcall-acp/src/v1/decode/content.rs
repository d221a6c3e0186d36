//! Decodes the items of `content`, one by one.
//! It must not drop an item silently: one that cannot be read becomes a finding.

use serde_json::{Map, Value};
use toolcall::{Blob, Content, FileBody, FileEdit, Link, Resource, ResourceBody};

use super::members::{count, present, text};
use super::{change, locations, output};
use crate::decode::Items;
use crate::finding::{Findings, LintRule, quoted, type_of};
use crate::meta;

/// One item.
enum DecodedItem {
    Content(Content),
    /// The call's output.
    Output(String),
    /// An item that our encoder generated from other fields.
    Generated,
}

/// Decodes a list of items.
pub(super) fn read(list: &[Value], findings: &mut Findings) -> Items {
    let mut items = Items {
        count: list.len(),
        ..Items::default()
    };
    for (index, value) in list.iter().enumerate() {
        match item(value, index, findings) {
            Ok(DecodedItem::Content(content)) => items.content.push(content),
            Ok(DecodedItem::Output(text)) => items.output.get_or_insert_default().push_str(&text),
            Ok(DecodedItem::Generated) => {}
            Err(why) => findings.note(LintRule::ContentShape, || {
                format!("content item {index} was left out: {why}")
            }),
        }
    }
    items
}

fn item(value: &Value, index: usize, findings: &mut Findings) -> Result<DecodedItem, String> {
    let map = object(value)?;
    match type_name(map)? {
        "content" => wrapped(map, findings),
        "diff" => diff(map, findings).map(|edit| DecodedItem::Content(edit.into())),
        "terminal" => terminal(map).map(DecodedItem::Content),
        bare @ ("text" | "image" | "audio" | "resource" | "resource_link") => {
            let content = block(map, findings)?;
            findings.note(LintRule::ContentShape, || {
                format!("content item {index} is a bare `{bare}`; wrap it as `content`")
            });
            Ok(DecodedItem::Content(content))
        }
        other => Err(format!("v1 has no content item of type {}", quoted(other))),
    }
}

fn object(value: &Value) -> Result<&Map<String, Value>, String> {
    let wrong = || format!("it is {}, not an object", type_of(value));
    value.as_object().ok_or_else(wrong)
}

fn type_name(map: &Map<String, Value>) -> Result<&str, String> {
    let name = map.get("type").and_then(Value::as_str);
    name.ok_or_else(|| "it has no `type`".to_owned())
}

/// Decodes a content block within its item. The `_meta` of either may say what it is.
fn wrapped(item: &Map<String, Value>, findings: &mut Findings) -> Result<DecodedItem, String> {
    let inner = item.get("content").unwrap_or(&Value::Null);
    let inner = object(inner).map_err(|why| format!("in its `content`, {why}"))?;
    let marks = [item, inner].map(|map| map.get("_meta"));
    let mark = |key| {
        marks
            .iter()
            .find_map(|meta| meta.and_then(|meta| meta.get(key)))
    };
    let content = block(inner, findings)?;
    match (mark(meta::PART).and_then(Value::as_str), &content) {
        (Some("reason" | "progress" | "note" | "none"), _) => return Ok(DecodedItem::Generated),
        (Some("output"), Content::Text(text)) => {
            return Ok(DecodedItem::Output(output::printed(text)));
        }
        (Some(_) | None, _) => {}
    }
    let edit = mark(meta::CHANGE).and_then(|mark| change::read(mark, findings));
    Ok(DecodedItem::Content(edit.map_or(content, Content::Edit)))
}

fn block(map: &Map<String, Value>, findings: &mut Findings) -> Result<Content, String> {
    match type_name(map)? {
        "text" => Ok(Content::text(required(map, "text")?)),
        "image" => blob(map).map(Content::Image),
        "audio" => blob(map).map(Content::Audio),
        "resource" => resource(map, findings).map(Content::Resource),
        "resource_link" => link(map, findings).map(Content::Link),
        other => Err(format!("v1 has no content block of type {}", quoted(other))),
    }
}

fn blob(map: &Map<String, Value>) -> Result<Blob, String> {
    Ok(Blob {
        mime: required(map, "mimeType")?.into(),
        base64: required(map, "data")?.into(),
    })
}

fn resource(map: &Map<String, Value>, findings: &mut Findings) -> Result<Resource, String> {
    let inner = object(map.get("resource").unwrap_or(&Value::Null));
    let inner = inner.map_err(|why| format!("in its `resource`, {why}"))?;
    let body = match inner.get("text").and_then(Value::as_str) {
        Some(text) => ResourceBody::Text(text.into()),
        None => ResourceBody::Base64(required(inner, "blob")?.into()),
    };
    Ok(Resource {
        uri: required(inner, "uri")?.into(),
        mime: text(inner, "mimeType", findings).map(Into::into),
        body,
    })
}

fn link(map: &Map<String, Value>, findings: &mut Findings) -> Result<Link, String> {
    Ok(Link {
        uri: required(map, "uri")?.into(),
        name: required(map, "name")?.into(),
        title: text(map, "title", findings).map(Into::into),
        description: text(map, "description", findings).map(Into::into),
        mime: text(map, "mimeType", findings).map(Into::into),
        size: count(map, "size", findings),
    })
}

fn diff(map: &Map<String, Value>, findings: &mut Findings) -> Result<FileEdit, String> {
    let path = required(map, "path")?;
    let before = match present(map, "oldText") {
        Some(_) => Some(required(map, "oldText")?),
        None => None,
    };
    let after = required(map, "newText")?;
    locations::check(path, findings);
    let mark = map.get("_meta").and_then(|meta| meta.get(meta::CHANGE));
    Ok(match (mark.and_then(Value::as_str), before) {
        (Some("deleted"), before) => {
            FileEdit::deleted(path, FileBody::Text(before.unwrap_or_default().into()))
        }
        (Some(_) | None, Some(before)) => FileEdit::modified(path, before, after),
        (Some(_) | None, None) => FileEdit::added(path, after),
    })
}

fn terminal(map: &Map<String, Value>) -> Result<Content, String> {
    Ok(Content::Terminal(required(map, "terminalId")?.into()))
}

fn required<'a>(map: &'a Map<String, Value>, key: &str) -> Result<&'a str, String> {
    match present(map, key) {
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(format!("its `{key}` is {}, not a string", type_of(other))),
        None => Err(format!("it has no `{key}`")),
    }
}
