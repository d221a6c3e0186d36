//! Converts the outcome of a call to an MCP result.
//! It drops nothing that a failed call produced: the result is an error with a reason and that content.

use rmcp::model::{CallToolResult, ContentBlock, Resource as LinkBlock, ResourceContents};
use toolcall::text::clean_block;
use toolcall::{Content, Outcome, Resource, ResourceBody};

use super::subject::diff;

/// Returns the MCP result of an ended call.
pub(super) fn of(outcome: &Outcome) -> CallToolResult {
    let for_model = outcome.for_model();
    let has_text = for_model
        .content
        .iter()
        .any(|one| matches!(one, Content::Text(_)));
    let content = for_model.content.iter();
    // A tool that edits also describes the edit as text.
    let content = content.filter(|one| !has_text || one.as_edit().is_none());
    let content = content.filter_map(block).collect();
    let mut result = CallToolResult::success(content);
    result.is_error = Some(for_model.is_error);
    // Some clients accept objects only.
    result.structured_content = outcome
        .result()
        .structured
        .as_ref()
        .filter(|value| value.is_object())
        .map(|value| (**value).clone());
    result
}

/// Returns the result of a call that could not start.
pub(super) fn failed(why: String) -> CallToolResult {
    let mut result = CallToolResult::success(vec![ContentBlock::text(why)]);
    result.is_error = Some(true);
    result
}

fn block(content: &Content) -> Option<ContentBlock> {
    Some(match content {
        Content::Text(text) => ContentBlock::text(&**text),
        Content::Image(blob) => ContentBlock::image(&*blob.base64, &*blob.mime),
        Content::Audio(blob) => ContentBlock::audio(&*blob.base64, &*blob.mime),
        Content::Resource(resource) => ContentBlock::resource(contents(resource)),
        Content::Link(link) => {
            let mut block = LinkBlock::new(&*link.uri, &*link.name);
            block.title = link.title.as_deref().map(str::to_owned);
            block.description = link.description.as_deref().map(str::to_owned);
            block.mime_type = link.mime.as_deref().map(str::to_owned);
            ContentBlock::resource_link(block)
        }
        Content::Edit(edit) => ContentBlock::text(clean_block(&diff(edit))),
        // The client cannot show our terminals.
        Content::Terminal(_) => return None,
    })
}

fn contents(resource: &Resource) -> ResourceContents {
    let (uri, mime_type) = (
        resource.uri.to_string(),
        resource.mime.as_deref().map(str::to_owned),
    );
    match &resource.body {
        ResourceBody::Text(text) => ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text: text.to_string(),
            meta: None,
        },
        ResourceBody::Base64(blob) => ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob: blob.to_string(),
            meta: None,
        },
    }
}
