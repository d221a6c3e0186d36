//! Contents in the stored form: texts, blobs, resources, edits.
//! What is over the cap is named by its size, never cut where a cut would pass for the whole.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolcall as heart;
use toolcall::serde_forms::path;

use super::text::{Blobs, Packed, Text, hash_of, hex, not_kept, unhex};
use super::{DecodeError, Packer};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Content {
    Text(Text),
    Image(Blob),
    Audio(Blob),
    Resource(Resource),
    Link(Link),
    Edit(Box<FileEdit>),
    Terminal(Arc<str>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Blob {
    mime: Arc<str>,
    base64: Text,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Resource {
    uri: Arc<str>,
    mime: Option<Arc<str>>,
    body: ResourceBody,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResourceBody {
    Text(Text),
    Base64(Text),
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Link {
    uri: Arc<str>,
    name: Arc<str>,
    title: Option<Arc<str>>,
    description: Option<Arc<str>>,
    mime: Option<Arc<str>>,
    size: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FileEdit {
    #[serde(with = "path")]
    path: PathBuf,
    change: Change,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Added {
        after: FileBody,
    },
    Modified {
        before: FileBody,
        after: FileBody,
    },
    Deleted {
        before: FileBody,
    },
    Moved {
        #[serde(with = "path")]
        to: PathBuf,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FileBody {
    Text(Text),
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

pub(crate) fn pack_all(contents: &[heart::Content], packer: &mut Packer<'_>) -> Vec<Content> {
    if !packer.keeps_contents() {
        return Vec::new();
    }
    let contents = contents.iter();
    contents
        .map(|content| Content::pack(content, packer))
        .collect()
}

pub(crate) fn unpack_all(
    contents: Vec<Content>,
    blobs: &dyn Blobs,
) -> Result<Vec<heart::Content>, DecodeError> {
    let contents = contents.into_iter();
    contents.map(|content| content.unpack(blobs)).collect()
}

impl Content {
    fn pack(content: &heart::Content, packer: &mut Packer<'_>) -> Self {
        match content {
            heart::Content::Text(text) => Content::Text(packer.text(text)),
            heart::Content::Image(blob) => Blob::pack(blob, "image", Content::Image, packer),
            heart::Content::Audio(blob) => Blob::pack(blob, "sound", Content::Audio, packer),
            heart::Content::Resource(resource) => {
                Content::Resource(Resource::pack(resource, packer))
            }
            heart::Content::Link(link) => Content::Link(Link::pack(link, packer)),
            heart::Content::Edit(edit) => Content::Edit(Box::new(FileEdit::pack(edit, packer))),
            heart::Content::Terminal(id) => Content::Terminal(id.clone()),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Content, DecodeError> {
        Ok(match self {
            Content::Text(text) => heart::Content::Text(text.unpack(blobs)?),
            Content::Image(blob) => heart::Content::Image(blob.unpack(blobs)?),
            Content::Audio(blob) => heart::Content::Audio(blob.unpack(blobs)?),
            Content::Resource(resource) => heart::Content::Resource(resource.unpack(blobs)?),
            Content::Link(link) => heart::Content::Link(link.unpack()),
            Content::Edit(edit) => heart::Content::Edit(edit.unpack(blobs)?),
            Content::Terminal(id) => heart::Content::Terminal(id),
        })
    }
}

impl Blob {
    /// Half an image is none: one over the cap becomes a word about it.
    fn pack(
        blob: &heart::Blob,
        noun: &str,
        content: fn(Blob) -> Content,
        packer: &mut Packer<'_>,
    ) -> Content {
        match packer.encoded(&blob.base64) {
            Packed::TooLong(bytes) => {
                Content::Text(Text::Inline(format!("{noun}: {}", not_kept(bytes)).into()))
            }
            Packed::Whole(base64) => {
                let base64 = base64.into();
                content(Blob {
                    mime: packer.shared(&blob.mime),
                    base64: packer.put(base64),
                })
            }
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Blob, DecodeError> {
        Ok(heart::Blob {
            mime: self.mime,
            base64: self.base64.unpack(blobs)?,
        })
    }
}

impl Resource {
    fn pack(resource: &heart::Resource, packer: &mut Packer<'_>) -> Self {
        let body = match &resource.body {
            heart::ResourceBody::Text(text) => ResourceBody::Text(packer.text(text)),
            heart::ResourceBody::Base64(base64) => match packer.encoded(base64) {
                Packed::Whole(base64) => {
                    let base64 = base64.into();
                    ResourceBody::Base64(packer.put(base64))
                }
                Packed::TooLong(bytes) => ResourceBody::Text(Text::Inline(not_kept(bytes).into())),
            },
        };
        Self {
            uri: packer.shared(&resource.uri),
            mime: resource.mime.clone(),
            body,
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Resource, DecodeError> {
        Ok(heart::Resource {
            uri: self.uri,
            mime: self.mime,
            body: match self.body {
                ResourceBody::Text(text) => heart::ResourceBody::Text(text.unpack(blobs)?),
                ResourceBody::Base64(base64) => heart::ResourceBody::Base64(base64.unpack(blobs)?),
            },
        })
    }
}

impl Link {
    fn pack(link: &heart::Link, packer: &Packer<'_>) -> Self {
        let heart::Link {
            uri,
            name,
            title,
            description,
            mime,
            size,
        } = link;
        let line = |text: &Option<Arc<str>>| text.as_ref().map(|text| packer.shared(text));
        Self {
            uri: packer.shared(uri),
            name: packer.shared(name),
            title: line(title),
            description: line(description),
            mime: mime.clone(),
            size: *size,
        }
    }

    fn unpack(self) -> heart::Link {
        heart::Link {
            uri: self.uri,
            name: self.name,
            title: self.title,
            description: self.description,
            mime: self.mime,
            size: self.size,
        }
    }
}

impl FileEdit {
    fn pack(edit: &heart::FileEdit, packer: &mut Packer<'_>) -> Self {
        let change = match &edit.change {
            heart::Change::Added { after } => Change::Added {
                after: FileBody::pack(after, packer),
            },
            heart::Change::Modified { before, after } => Change::Modified {
                before: FileBody::pack(before, packer),
                after: FileBody::pack(after, packer),
            },
            heart::Change::Deleted { before } => Change::Deleted {
                before: FileBody::pack(before, packer),
            },
            heart::Change::Moved { to } => Change::Moved {
                to: packer.path(to),
            },
        };
        Self {
            path: packer.path(&edit.path),
            change,
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::FileEdit, DecodeError> {
        let change = match self.change {
            Change::Added { after } => heart::Change::Added {
                after: after.unpack(blobs)?,
            },
            Change::Modified { before, after } => heart::Change::Modified {
                before: before.unpack(blobs)?,
                after: after.unpack(blobs)?,
            },
            Change::Deleted { before } => heart::Change::Deleted {
                before: before.unpack(blobs)?,
            },
            Change::Moved { to } => heart::Change::Moved { to },
        };
        Ok(heart::FileEdit {
            path: self.path,
            change,
        })
    }
}

impl FileBody {
    /// A text over the cap is kept as what is known of bytes that are no text: size and hash.
    fn pack(body: &heart::FileBody, packer: &mut Packer<'_>) -> Self {
        match body {
            heart::FileBody::Text(text) => match packer.whole(text) {
                Packed::Whole(clean) => {
                    let clean = clean.into();
                    FileBody::Text(packer.put(clean))
                }
                Packed::TooLong(bytes) => FileBody::Binary {
                    bytes: bytes as u64,
                    digest: Some(hex(&hash_of(text.as_bytes()))),
                },
            },
            heart::FileBody::Binary { bytes, digest } => FileBody::Binary {
                bytes: *bytes,
                digest: digest.map(|digest| hex(&digest.0)),
            },
            heart::FileBody::Folder {
                files,
                bytes,
                digest,
            } => FileBody::Folder {
                files: *files,
                bytes: *bytes,
                digest: digest.map(|digest| hex(&digest.0)),
            },
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::FileBody, DecodeError> {
        let digest = |text: Option<String>| {
            let hash = text.as_deref().and_then(unhex);
            hash.map(heart::Digest)
        };
        Ok(match self {
            FileBody::Text(text) => heart::FileBody::Text(text.unpack(blobs)?),
            FileBody::Binary { bytes, digest: d } => heart::FileBody::Binary {
                bytes,
                digest: digest(d),
            },
            FileBody::Folder {
                files,
                bytes,
                digest: d,
            } => heart::FileBody::Folder {
                files,
                bytes,
                digest: digest(d),
            },
        })
    }
}
