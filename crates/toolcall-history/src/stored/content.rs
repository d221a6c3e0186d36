//! The stored form of contents: texts, blobs, resources, links, edits.
//! An image or a file over the limit is replaced by its size; only text is shortened.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::path;

use super::text::{BlobSource, EncodedText, StoredText, hash_of, hex, not_kept, unhex};
use super::{DecodeError, Encoder};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredContent {
    Text(StoredText),
    Image(StoredBlob),
    Audio(StoredBlob),
    Resource(StoredResource),
    Link(StoredLink),
    Edit(Box<StoredFileEdit>),
    Terminal(Arc<str>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredBlob {
    mime: Arc<str>,
    base64: StoredText,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredResource {
    uri: Arc<str>,
    mime: Option<Arc<str>>,
    body: StoredResourceBody,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredResourceBody {
    Text(StoredText),
    Base64(StoredText),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredLink {
    uri: Arc<str>,
    name: Arc<str>,
    title: Option<Arc<str>>,
    description: Option<Arc<str>>,
    mime: Option<Arc<str>>,
    size: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredFileEdit {
    #[serde(with = "path")]
    path: PathBuf,
    change: StoredChange,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredChange {
    Added {
        after: StoredFileBody,
    },
    Modified {
        before: StoredFileBody,
        after: StoredFileBody,
    },
    Deleted {
        before: StoredFileBody,
    },
    Moved {
        #[serde(with = "path")]
        to: PathBuf,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredFileBody {
    Text(StoredText),
    Binary {
        bytes: u64,
        digest: Option<String>,
    },
    Folder {
        files: u64,
        bytes: u64,
        digest: Option<String>,
    },
}

pub(crate) fn encode_all(
    contents: &[toolcall::Content],
    encoder: &mut Encoder<'_>,
) -> Vec<StoredContent> {
    if !encoder.keeps_content() {
        return Vec::new();
    }
    let contents = contents.iter();
    contents
        .map(|content| StoredContent::encode(content, encoder))
        .collect()
}

pub(crate) fn decode_all(
    contents: Vec<StoredContent>,
    blobs: &dyn BlobSource,
) -> Result<Vec<toolcall::Content>, DecodeError> {
    let contents = contents.into_iter();
    contents.map(|content| content.decode(blobs)).collect()
}

impl StoredContent {
    fn encode(content: &toolcall::Content, encoder: &mut Encoder<'_>) -> Self {
        match content {
            toolcall::Content::Text(text) => StoredContent::Text(encoder.text(text)),
            toolcall::Content::Image(blob) => {
                StoredBlob::encode(blob, "image", StoredContent::Image, encoder)
            }
            toolcall::Content::Audio(blob) => {
                StoredBlob::encode(blob, "sound", StoredContent::Audio, encoder)
            }
            toolcall::Content::Resource(resource) => {
                StoredContent::Resource(StoredResource::encode(resource, encoder))
            }
            toolcall::Content::Link(link) => StoredContent::Link(StoredLink::encode(link, encoder)),
            toolcall::Content::Edit(edit) => {
                StoredContent::Edit(Box::new(StoredFileEdit::encode(edit, encoder)))
            }
            toolcall::Content::Terminal(id) => StoredContent::Terminal(id.clone()),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Content, DecodeError> {
        Ok(match self {
            StoredContent::Text(text) => toolcall::Content::Text(text.decode(blobs)?),
            StoredContent::Image(blob) => toolcall::Content::Image(blob.decode(blobs)?),
            StoredContent::Audio(blob) => toolcall::Content::Audio(blob.decode(blobs)?),
            StoredContent::Resource(resource) => {
                toolcall::Content::Resource(resource.decode(blobs)?)
            }
            StoredContent::Link(link) => toolcall::Content::Link(link.decode()),
            StoredContent::Edit(edit) => toolcall::Content::Edit(edit.decode(blobs)?),
            StoredContent::Terminal(id) => toolcall::Content::Terminal(id),
        })
    }
}

impl StoredBlob {
    /// Encodes an image or a sound. One over the limit becomes a text with its size.
    fn encode(
        blob: &toolcall::Blob,
        noun: &str,
        content: fn(StoredBlob) -> StoredContent,
        encoder: &mut Encoder<'_>,
    ) -> StoredContent {
        match encoder.base64(&blob.base64) {
            EncodedText::TooLong(bytes) => StoredContent::Text(StoredText::Inline(
                format!("{noun}: {}", not_kept(bytes)).into(),
            )),
            EncodedText::Whole(base64) => {
                let base64 = base64.into();
                content(StoredBlob {
                    mime: encoder.redacted(&blob.mime),
                    base64: encoder.inline_or_blob(base64),
                })
            }
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Blob, DecodeError> {
        Ok(toolcall::Blob {
            mime: self.mime,
            base64: self.base64.decode(blobs)?,
        })
    }
}

impl StoredResource {
    fn encode(resource: &toolcall::Resource, encoder: &mut Encoder<'_>) -> Self {
        let body = match &resource.body {
            toolcall::ResourceBody::Text(text) => StoredResourceBody::Text(encoder.text(text)),
            toolcall::ResourceBody::Base64(base64) => match encoder.base64(base64) {
                EncodedText::Whole(base64) => {
                    let base64 = base64.into();
                    StoredResourceBody::Base64(encoder.inline_or_blob(base64))
                }
                EncodedText::TooLong(bytes) => {
                    StoredResourceBody::Text(StoredText::Inline(not_kept(bytes).into()))
                }
            },
        };
        Self {
            uri: encoder.redacted(&resource.uri),
            mime: resource.mime.clone(),
            body,
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Resource, DecodeError> {
        Ok(toolcall::Resource {
            uri: self.uri,
            mime: self.mime,
            body: match self.body {
                StoredResourceBody::Text(text) => toolcall::ResourceBody::Text(text.decode(blobs)?),
                StoredResourceBody::Base64(base64) => {
                    toolcall::ResourceBody::Base64(base64.decode(blobs)?)
                }
            },
        })
    }
}

impl StoredLink {
    fn encode(link: &toolcall::Link, encoder: &Encoder<'_>) -> Self {
        let toolcall::Link {
            uri,
            name,
            title,
            description,
            mime,
            size,
        } = link;
        let line = |text: &Option<Arc<str>>| text.as_ref().map(|text| encoder.redacted(text));
        Self {
            uri: encoder.redacted(uri),
            name: encoder.redacted(name),
            title: line(title),
            description: line(description),
            mime: mime.clone(),
            size: *size,
        }
    }

    fn decode(self) -> toolcall::Link {
        toolcall::Link {
            uri: self.uri,
            name: self.name,
            title: self.title,
            description: self.description,
            mime: self.mime,
            size: self.size,
        }
    }
}

impl StoredFileEdit {
    fn encode(edit: &toolcall::FileEdit, encoder: &mut Encoder<'_>) -> Self {
        let change = match &edit.change {
            toolcall::FileChange::Added { after } => StoredChange::Added {
                after: StoredFileBody::encode(after, encoder),
            },
            toolcall::FileChange::Modified { before, after } => StoredChange::Modified {
                before: StoredFileBody::encode(before, encoder),
                after: StoredFileBody::encode(after, encoder),
            },
            toolcall::FileChange::Deleted { before } => StoredChange::Deleted {
                before: StoredFileBody::encode(before, encoder),
            },
            toolcall::FileChange::Moved { to } => StoredChange::Moved {
                to: encoder.path(to),
            },
        };
        Self {
            path: encoder.path(&edit.path),
            change,
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::FileEdit, DecodeError> {
        let change = match self.change {
            StoredChange::Added { after } => toolcall::FileChange::Added {
                after: after.decode(blobs)?,
            },
            StoredChange::Modified { before, after } => toolcall::FileChange::Modified {
                before: before.decode(blobs)?,
                after: after.decode(blobs)?,
            },
            StoredChange::Deleted { before } => toolcall::FileChange::Deleted {
                before: before.decode(blobs)?,
            },
            StoredChange::Moved { to } => toolcall::FileChange::Moved { to },
        };
        Ok(toolcall::FileEdit {
            path: self.path,
            change,
        })
    }
}

impl StoredFileBody {
    /// Encodes a file. A text over the limit is stored as a binary file is: size and hash.
    fn encode(body: &toolcall::FileBody, encoder: &mut Encoder<'_>) -> Self {
        match body {
            toolcall::FileBody::Text(text) => match encoder.whole_text(text) {
                EncodedText::Whole(clean) => {
                    let clean = clean.into();
                    StoredFileBody::Text(encoder.inline_or_blob(clean))
                }
                EncodedText::TooLong(bytes) => StoredFileBody::Binary {
                    bytes: bytes as u64,
                    digest: Some(hex(&hash_of(text.as_bytes()))),
                },
            },
            toolcall::FileBody::Binary { bytes, digest } => StoredFileBody::Binary {
                bytes: *bytes,
                digest: digest.map(|digest| hex(&digest.0)),
            },
            toolcall::FileBody::Folder {
                files,
                bytes,
                digest,
            } => StoredFileBody::Folder {
                files: *files,
                bytes: *bytes,
                digest: digest.map(|digest| hex(&digest.0)),
            },
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::FileBody, DecodeError> {
        let digest = |text: Option<String>| {
            let hash = text.as_deref().and_then(unhex);
            hash.map(toolcall::Digest)
        };
        Ok(match self {
            StoredFileBody::Text(text) => toolcall::FileBody::Text(text.decode(blobs)?),
            StoredFileBody::Binary { bytes, digest: d } => toolcall::FileBody::Binary {
                bytes,
                digest: digest(d),
            },
            StoredFileBody::Folder {
                files,
                bytes,
                digest: d,
            } => toolcall::FileBody::Folder {
                files,
                bytes,
                digest: digest(d),
            },
        })
    }
}
