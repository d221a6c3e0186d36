//! The content of a call at each stage, as v1 encodes it: diffs, the tool's content, output, reasons.
//! It borrows from the call and chooses; it sends nothing.

use std::borrow::Cow;
use std::path::Path;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use toolcall::text::clean_block;
use toolcall::{
    Blob, Content, FileBody, FileChange, FileEdit, FormReply, Link, Progress, Resource,
    ResourceBody, Spill, ToolCall,
};

use super::output::{OutputStage, as_text};
use super::view::OutputView;
use crate::meta;

/// One item of `content`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContentItem<'a> {
    /// Content of the tool.
    Tool(&'a Content),
    /// A text that this crate generates.
    Generated(GeneratedPart, Cow<'a, str>),
    /// A file edit that v1 cannot express, as text and as `_meta`.
    DescribedEdit(String, Value),
    /// A file edit as a diff.
    Diff(Diff<'a>),
    /// A terminal.
    Terminal(&'a str),
    /// A link to the whole output.
    SpillLink(&'a Spill),
}

impl<'a> ContentItem<'a> {
    /// Creates a generated note.
    pub(crate) fn note(text: impl Into<Cow<'a, str>>) -> Self {
        ContentItem::Generated(GeneratedPart::Note, text.into())
    }
}

/// What a generated text is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeneratedPart {
    /// Why the call did not complete.
    Reason,
    /// The call's output.
    Output,
    /// The call's progress.
    Progress,
    /// A note about the next item or the question.
    Note,
    /// That there is no output.
    None,
}

impl GeneratedPart {
    fn name(self) -> &'static str {
        match self {
            GeneratedPart::Reason => "reason",
            GeneratedPart::Output => "output",
            GeneratedPart::Progress => "progress",
            GeneratedPart::Note => "note",
            GeneratedPart::None => "none",
        }
    }
}

/// An edit of a text file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Diff<'a> {
    path: &'a Path,
    old: Option<&'a str>,
    new: &'a str,
    change: Option<&'static str>,
}

/// Returns the content of a call before it ends.
pub(crate) fn before_the_end(call: &ToolCall, view: OutputView) -> Vec<ContentItem<'_>> {
    let mut items = Vec::new();
    if view.is_in_agent_terminal(call) {
        items.push(ContentItem::Terminal(call.id().as_str()));
        return items;
    }
    push_all(&mut items, call.preview());
    push_all(&mut items, view.shown(call));
    items.extend(unanswered_forms(call));
    if let Some(progress) = call.progress() {
        items.push(ContentItem::Generated(
            GeneratedPart::Progress,
            progress_line(progress).into(),
        ));
    }
    if !call.output().is_empty() && !view.has_client_terminal(call) {
        let text = as_text(call.output(), OutputStage::Running);
        items.push(ContentItem::Generated(GeneratedPart::Output, text.into()));
    }
    items
}

/// Returns the content of an ended call, which is never empty.
pub(crate) fn at_the_end(call: &ToolCall, view: OutputView) -> Vec<ContentItem<'_>> {
    let mut items = Vec::new();
    let Some(finish) = call.finish() else {
        return items;
    };
    if let Some(reason) = finish.ending.reason() {
        items.push(ContentItem::Generated(GeneratedPart::Reason, reason.into()));
    }
    let result = &finish.result.content;
    if result.iter().all(|content| content.as_edit().is_none()) {
        push_all(&mut items, edits(call.preview()));
    }
    if result.is_empty() {
        push_all(&mut items, view.shown(call));
    } else {
        push_all(&mut items, view.client_terminals(call));
        push_all(&mut items, result);
    }
    items.extend(unanswered_forms(call));
    push_output(&mut items, call, view);
    if items.is_empty() {
        items.push(ContentItem::Generated(
            GeneratedPart::None,
            "(no output)".into(),
        ));
    }
    items
}

/// Returns a note for each form that was declined with a reason.
fn unanswered_forms(call: &ToolCall) -> impl Iterator<Item = ContentItem<'_>> {
    call.forms().iter().filter_map(|asking| {
        let FormReply::Declined { reason: Some(why) } = &asking.answer.as_ref()?.reply else {
            return None;
        };
        let by = on_one_line(asking.question.form.by());
        Some(ContentItem::note(format!(
            "`{by}` asked for input, which was declined: {why}"
        )))
    })
}

/// Adds the output of an ended call, or the terminal that shows it.
fn push_output<'a>(items: &mut Vec<ContentItem<'a>>, call: &'a ToolCall, view: OutputView) {
    let output = call.output();
    if output.is_empty() || view.has_client_terminal(call) {
        return;
    }
    if view.is_in_agent_terminal(call) {
        items.push(ContentItem::Terminal(call.id().as_str()));
        return;
    }
    items.push(ContentItem::Generated(
        GeneratedPart::Output,
        as_text(output, OutputStage::Ended).into(),
    ));
    items.extend(output.spill().map(ContentItem::SpillLink));
}

fn edits(content: &[Content]) -> impl Iterator<Item = &Content> {
    content.iter().filter(|content| content.as_edit().is_some())
}

pub(crate) fn push_all<'a>(
    items: &mut Vec<ContentItem<'a>>,
    content: impl IntoIterator<Item = &'a Content>,
) {
    for content in content {
        match content {
            Content::Edit(edit) => push_edit(items, edit),
            Content::Terminal(id) => items.push(ContentItem::Terminal(id)),
            Content::Text(_)
            | Content::Image(_)
            | Content::Audio(_)
            | Content::Resource(_)
            | Content::Link(_) => items.push(ContentItem::Tool(content)),
        }
    }
}

/// Adds a file edit. New and changed texts are diffs; other edits, which v1 cannot express, are
/// described in words.
fn push_edit<'a>(items: &mut Vec<ContentItem<'a>>, edit: &'a FileEdit) {
    let path = edit.path.as_path();
    let shown = named(path);
    let diff = |old, new, change| {
        ContentItem::Diff(Diff {
            path,
            old,
            new,
            change,
        })
    };
    match &edit.change {
        FileChange::Added {
            after: FileBody::Text(after),
        } => items.push(diff(None, after, None)),
        FileChange::Modified {
            before: FileBody::Text(before),
            after: FileBody::Text(after),
        } => items.push(diff(Some(before), after, None)),
        FileChange::Deleted {
            before: FileBody::Text(before),
        } => {
            items.push(ContentItem::Generated(
                GeneratedPart::Note,
                format!("Delete `{shown}`").into(),
            ));
            items.push(diff(Some(before), "", Some("deleted")));
        }
        FileChange::Moved { to } => {
            let text = format!("Move `{shown}` to `{}`", named(to));
            let how = json!({"how": "moved", "path": lossy(path), "to": lossy(to)});
            items.push(ContentItem::DescribedEdit(text, how));
        }
        FileChange::Added { after } => items.push(describe_edit("added", path, None, Some(after))),
        FileChange::Modified { before, after } => {
            items.push(describe_edit("modified", path, Some(before), Some(after)));
        }
        FileChange::Deleted { before } => {
            items.push(describe_edit("deleted", path, Some(before), None))
        }
    }
}

/// Describes an edit of a file that is not text.
fn describe_edit<'a>(
    how: &str,
    path: &Path,
    before: Option<&FileBody>,
    after: Option<&FileBody>,
) -> ContentItem<'a> {
    let verb = match (before, after) {
        (None, _) => "Create",
        (Some(_), Some(_)) => "Change",
        (Some(_), None) => "Delete",
    };
    let (what, size) = after.or(before).map_or(("file", String::new()), extent);
    let text = format!("{verb} {what} `{}` ({size})", named(path));
    let mut change = json!({"how": how, "path": lossy(path)});
    if let Some(before) = before {
        change["before_bytes"] = before.bytes().into();
    }
    if let Some(after) = after {
        change["bytes"] = after.bytes().into();
    }
    if let Some(FileBody::Folder { files, .. }) = after.or(before) {
        change["files"] = (*files).into();
    }
    ContentItem::DescribedEdit(text, change)
}

/// Returns the kind of a file and its size.
fn extent(body: &FileBody) -> (&'static str, String) {
    match body {
        FileBody::Text(text) => ("file", format!("{} bytes", text.len())),
        FileBody::Binary { bytes, .. } => ("binary file", format!("{bytes} bytes")),
        FileBody::Folder { files, bytes, .. } => {
            ("folder", format!("{files} files, {bytes} bytes"))
        }
    }
}

/// Returns a path for a sentence, without hidden characters.
pub(crate) fn named(path: &Path) -> String {
    on_one_line(&lossy(path))
}

/// Returns a text for a sentence. Line breaks are escaped, so that they cannot fake another line.
pub(crate) fn on_one_line(text: &str) -> String {
    clean_block(text)
        .replace('\n', "\\u{a}")
        .replace('\t', "\\u{9}")
}

pub(crate) fn lossy(path: &Path) -> Cow<'_, str> {
    path.to_string_lossy()
}

/// Formats progress as `42 % (21/50) message`.
fn progress_line(progress: &Progress) -> String {
    let current = progress.current();
    let steps = match (progress.fraction(), progress.total()) {
        (Some(fraction), Some(total)) => {
            format!("{:.0} % ({current}/{total})", fraction * 100.0)
        }
        (Some(fraction), None) => format!("{:.0} %", fraction * 100.0),
        (None, _) => current.to_string(),
    };
    match progress.message() {
        Some(message) => format!("{steps} {message}"),
        None => steps,
    }
}

impl Serialize for ContentItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ContentItem::Tool(content) => {
                WrappedBlock::of(BlockJson::Tool(content)).serialize(serializer)
            }
            ContentItem::Generated(part, text) => {
                let wrapped = WrappedBlock::of(BlockJson::Text(text));
                wrapped
                    .with(meta::PART, part.name().into())
                    .serialize(serializer)
            }
            ContentItem::DescribedEdit(text, change) => {
                let wrapped = WrappedBlock::of(BlockJson::Text(text));
                wrapped
                    .with(meta::CHANGE, change.clone())
                    .serialize(serializer)
            }
            ContentItem::SpillLink(spill) => {
                let wrapped = WrappedBlock::of(BlockJson::SpillLink(spill));
                wrapped
                    .with(meta::PART, GeneratedPart::Note.name().into())
                    .serialize(serializer)
            }
            ContentItem::Diff(diff) => diff.serialize(serializer),
            ContentItem::Terminal(id) => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("type", "terminal")?;
                map.serialize_entry("terminalId", id)?;
                map.end()
            }
        }
    }
}

/// A content block in the object that v1 wraps around it.
#[derive(Serialize)]
struct WrappedBlock<'a> {
    r#type: &'static str,
    content: BlockJson<'a>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<MetaEntry>,
}

impl<'a> WrappedBlock<'a> {
    fn of(content: BlockJson<'a>) -> Self {
        Self {
            r#type: "content",
            content,
            meta: None,
        }
    }

    fn with(mut self, key: &'static str, value: Value) -> Self {
        self.meta = Some(MetaEntry(key, value));
        self
    }
}

/// One entry of `_meta`.
struct MetaEntry(&'static str, Value);

impl Serialize for MetaEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, &self.1)])
    }
}

/// A content block.
enum BlockJson<'a> {
    Tool(&'a Content),
    Text(&'a str),
    SpillLink(&'a Spill),
}

impl Serialize for BlockJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            BlockJson::Text(text) => write_text(&mut map, text)?,
            BlockJson::SpillLink(spill) => write_spill_link(&mut map, spill)?,
            BlockJson::Tool(Content::Text(text)) => write_text(&mut map, text)?,
            BlockJson::Tool(Content::Image(blob)) => write_blob(&mut map, "image", blob)?,
            BlockJson::Tool(Content::Audio(blob)) => write_blob(&mut map, "audio", blob)?,
            BlockJson::Tool(Content::Resource(resource)) => write_resource(&mut map, resource)?,
            BlockJson::Tool(Content::Link(link)) => write_link(&mut map, link)?,
            BlockJson::Tool(Content::Edit(_) | Content::Terminal(_)) => {
                unreachable!("edits and terminals are no content blocks")
            }
        }
        map.end()
    }
}

fn write_text<M: SerializeMap>(map: &mut M, text: &str) -> Result<(), M::Error> {
    map.serialize_entry("type", "text")?;
    map.serialize_entry("text", text)
}

fn write_blob<M: SerializeMap>(map: &mut M, kind: &str, blob: &Blob) -> Result<(), M::Error> {
    map.serialize_entry("type", kind)?;
    map.serialize_entry("data", &*blob.base64)?;
    map.serialize_entry("mimeType", &*blob.mime)
}

fn write_resource<M: SerializeMap>(map: &mut M, resource: &Resource) -> Result<(), M::Error> {
    let (body, data) = match &resource.body {
        ResourceBody::Text(text) => ("text", text),
        ResourceBody::Base64(data) => ("blob", data),
    };
    let mut embedded = vec![("uri", &*resource.uri), (body, &**data)];
    embedded.extend(resource.mime.as_deref().map(|mime| ("mimeType", mime)));
    let embedded: std::collections::BTreeMap<_, _> = embedded.into_iter().collect();
    map.serialize_entry("type", "resource")?;
    map.serialize_entry("resource", &embedded)
}

fn write_link<M: SerializeMap>(map: &mut M, link: &Link) -> Result<(), M::Error> {
    map.serialize_entry("type", "resource_link")?;
    map.serialize_entry("name", &*link.name)?;
    map.serialize_entry("uri", &*link.uri)?;
    let optional = [
        ("title", &link.title),
        ("description", &link.description),
        ("mimeType", &link.mime),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            map.serialize_entry(key, &**value)?;
        }
    }
    match link.size {
        Some(size) => map.serialize_entry("size", &size),
        None => Ok(()),
    }
}

fn write_spill_link<M: SerializeMap>(map: &mut M, spill: &Spill) -> Result<(), M::Error> {
    map.serialize_entry("type", "resource_link")?;
    map.serialize_entry("name", &spill.summary())?;
    map.serialize_entry("uri", &*spill.uri)?;
    map.serialize_entry("mimeType", "text/plain")?;
    map.serialize_entry("size", &spill.bytes)
}

impl Serialize for Diff<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "diff")?;
        map.serialize_entry("path", &*lossy(self.path))?;
        if let Some(old) = self.old {
            map.serialize_entry("oldText", old)?;
        }
        map.serialize_entry("newText", self.new)?;
        if let Some(change) = self.change {
            map.serialize_entry("_meta", &MetaEntry(meta::CHANGE, change.into()))?;
        }
        map.end()
    }
}
