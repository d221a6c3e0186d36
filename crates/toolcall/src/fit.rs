//! Cuts the result of a tool to the output budget.
//! Everything it cuts or drops leaves a line that says so.

use std::sync::Arc;

use serde_json::Value;

use crate::content::{Blob, Content, Resource, ResourceBody};
use crate::event::ToolResult;
use crate::output::OutputBudget;

const MOST_CONTENT: usize = 256;
/// Images and audio cannot be cut; up to this size (in base64) they pass whole.
const LARGEST_BLOB: usize = 8 * 1024 * 1024;

/// The texts that were cut from a result.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CutTexts {
    /// The whole of each text that was cut, to be stored elsewhere.
    pub(crate) texts: Vec<Arc<str>>,
}

/// The budget that is left for the rest of a result.
struct RemainingBudget {
    text: OutputBudget,
    blobs: usize,
}

/// Cuts a result to the budget: all its texts together, all its blobs together.
pub(crate) fn fit_result(mut result: ToolResult, budget: &OutputBudget) -> (ToolResult, CutTexts) {
    let mut cut_texts = CutTexts::default();
    let more = result.content.len().saturating_sub(MOST_CONTENT);
    result.content.truncate(MOST_CONTENT);
    let mut left = RemainingBudget::new(budget);
    let pieces = result
        .content
        .into_iter()
        .map(|content| left.fit(content, &mut cut_texts));
    result.content = pieces.collect();
    if more > 0 {
        let pieces = if more == 1 { "piece" } else { "pieces" };
        result.content.push(Content::text(format!(
            "… {more} more {pieces} of content left out …"
        )));
    }
    let most = budget.total();
    let is_large = |value: &mut Arc<Value>| !is_small(value, &mut budget.total());
    if result.structured.take_if(is_large).is_some() {
        result.content.push(Content::text(format!(
            "(the structured result is left out: it is over {most} bytes)"
        )));
    }
    (result, cut_texts)
}

/// Cuts one piece of content to the budget.
pub(crate) fn fit_content(content: Content, budget: &OutputBudget) -> Content {
    RemainingBudget::new(budget).fit(content, &mut CutTexts::default())
}

impl RemainingBudget {
    fn new(budget: &OutputBudget) -> Self {
        Self {
            text: *budget,
            blobs: LARGEST_BLOB,
        }
    }

    /// Cuts one piece of content. File edits stay whole: the user approved them.
    fn fit(&mut self, content: Content, cut_texts: &mut CutTexts) -> Content {
        match content {
            Content::Text(text) => Content::Text(self.fit_text(text, cut_texts)),
            Content::Image(blob) => self.fit_blob("image", blob, Content::Image),
            Content::Audio(blob) => self.fit_blob("audio", blob, Content::Audio),
            Content::Resource(resource) => self.fit_resource(resource, cut_texts),
            Content::Link(_) | Content::Edit(_) | Content::Terminal(_) => content,
        }
    }

    fn fit_text(&mut self, text: Arc<str>, cut_texts: &mut CutTexts) -> Arc<str> {
        let fitted = self.text.fit(&text);
        self.text.spend(text.len());
        match fitted {
            Some(cut) => {
                cut_texts.texts.push(text);
                cut.into()
            }
            None => text,
        }
    }

    fn fit_blob(&mut self, what: &str, blob: Blob, whole: impl FnOnce(Blob) -> Content) -> Content {
        if self.takes(&blob.base64) {
            whole(blob)
        } else {
            Content::text(left_out(what, &blob.mime, blob.base64.len()))
        }
    }

    /// Takes the size of a blob from the budget, if it fits.
    fn takes(&mut self, base64: &str) -> bool {
        let rest = self.blobs.checked_sub(base64.len());
        self.blobs = rest.unwrap_or(self.blobs);
        rest.is_some()
    }

    fn fit_resource(&mut self, resource: Resource, cut_texts: &mut CutTexts) -> Content {
        let body = match resource.body {
            ResourceBody::Base64(data) if !self.takes(&data) => {
                let mime = resource.mime.as_deref().unwrap_or("unknown");
                return Content::text(left_out(&resource.uri, mime, data.len()));
            }
            ResourceBody::Base64(data) => ResourceBody::Base64(data),
            ResourceBody::Text(text) => ResourceBody::Text(self.fit_text(text, cut_texts)),
        };
        Content::Resource(Resource { body, ..resource })
    }
}

fn left_out(what: &str, mime: &str, base64: usize) -> String {
    format!(
        "({what} of type {mime} left out: {} bytes are too many)",
        base64 / 4 * 3
    )
}

/// Returns whether a value takes no more than the bytes that are left, roughly as JSON text.
fn is_small(value: &Value, left: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.len() + 2,
        Value::Object(map) => map.keys().map(|key| key.len() + 4).sum::<usize>() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
    };
    let Some(rest) = left.checked_sub(own) else {
        return false;
    };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| is_small(item, left)),
        Value::Object(map) => map.values().all(|item| is_small(item, left)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{FileEdit, Link};
    use serde_json::json;

    const BUDGET: OutputBudget = OutputBudget { head: 4, tail: 4 };

    fn fit(result: ToolResult) -> (ToolResult, CutTexts) {
        fit_result(result, &BUDGET)
    }

    fn fit_one(content: impl Into<Content>) -> Content {
        fit_content(content.into(), &BUDGET)
    }

    fn base64(length: usize) -> Blob {
        Blob {
            mime: "image/png".into(),
            base64: "A".repeat(length).into(),
        }
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let result = ToolResult::from("12345678").structured(json!(true));
        assert_eq!(fit(result.clone()), (result, CutTexts::default()));
    }

    #[test]
    fn a_long_text_is_cut_and_its_whole_is_given_back() {
        let (result, cut_texts) = fit(ToolResult::from("123456789"));
        let cut = ToolResult::from("1234\n… 1 byte left out …\n6789");
        let texts = vec![Arc::from("123456789")];
        assert_eq!((result, cut_texts), (cut, CutTexts { texts }));
    }

    #[test]
    fn too_many_pieces_are_counted() {
        let pieces = vec![Content::text(""); MOST_CONTENT + 3];
        let (result, cut_texts) = fit(ToolResult::from(pieces.clone()));
        let mut expected = pieces[..MOST_CONTENT].to_vec();
        expected.push(Content::text("… 3 more pieces of content left out …"));
        assert_eq!((result.content, cut_texts), (expected, CutTexts::default()));
    }

    #[test]
    fn a_large_structured_value_is_left_out_with_a_word() {
        for large in [
            json!("123456789"),
            json!([1, 2]),
            json!({"a": {"b": {"c": 1}}}),
        ] {
            let (result, cut_texts) = fit(ToolResult::default().structured(large));
            let note = Content::text("(the structured result is left out: it is over 8 bytes)");
            assert_eq!(
                (result, cut_texts),
                (ToolResult::from(vec![note]), CutTexts::default())
            );
        }
    }

    #[test]
    fn images_and_sound_pass_whole_or_not_at_all() {
        let (whole, large) = (base64(LARGEST_BLOB), base64(LARGEST_BLOB + 4));
        assert_eq!(
            fit_one(Content::Image(whole.clone())),
            Content::Image(whole.clone())
        );
        assert_eq!(
            fit_one(Content::Audio(whole.clone())),
            Content::Audio(whole)
        );
        let note =
            |what| format!("({what} of type image/png left out: 6291459 bytes are too many)");
        assert_eq!(
            fit_one(Content::Image(large.clone())),
            Content::text(note("image"))
        );
        assert_eq!(fit_one(Content::Audio(large)), Content::text(note("audio")));
    }

    fn resource(body: ResourceBody) -> Content {
        Content::Resource(Resource {
            uri: "file:///a".into(),
            mime: None,
            body,
        })
    }

    #[test]
    fn the_text_of_a_resource_is_cut() {
        let text = |text: &str| resource(ResourceBody::Text(text.into()));
        assert_eq!(fit_one(text("12345678")), text("12345678"));
        let cut = text("1234\n… 1 byte left out …\n6789");
        assert_eq!(fit_one(text("123456789")), cut);
    }

    #[test]
    fn the_bytes_of_a_resource_pass_whole_or_not_at_all() {
        let bytes = |length| resource(ResourceBody::Base64("A".repeat(length).into()));
        assert_eq!(fit_one(bytes(16)), bytes(16));
        let note = "(file:///a of type unknown left out: 6291459 bytes are too many)";
        assert_eq!(fit_one(bytes(LARGEST_BLOB + 4)), Content::text(note));
    }

    #[test]
    fn edits_and_links_stay_whole() {
        let edit = Content::Edit(FileEdit::added("/a", "123456789"));
        let link = Content::Link(Link {
            uri: "https://example.com/a".into(),
            ..Link::default()
        });
        assert_eq!(fit_one(edit.clone()), edit);
        assert_eq!(fit_one(link.clone()), link);
    }
}
