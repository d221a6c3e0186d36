//! What can be shown to a user or sent to a model: text, blobs, resources, file edits.
//! Plain values; nothing here reads a file or knows a wire format.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use sha2::{Digest as _, Sha256};

use crate::intent::Touch;

/// One change to one file, with the content before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The absolute path of the file before the change.
    pub path: PathBuf,
    /// What happens to the file.
    pub change: FileChange,
}

/// What happens to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// The file is new.
    Added {
        /// The content.
        after: FileBody,
    },
    /// The file changes.
    Modified {
        /// The content before.
        before: FileBody,
        /// The content after.
        after: FileBody,
    },
    /// The file is deleted.
    Deleted {
        /// The content before.
        before: FileBody,
    },
    /// The file is moved, unchanged.
    Moved {
        /// The new absolute path.
        to: PathBuf,
    },
}

/// The content of a file, as far as it can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileBody {
    /// Text.
    Text(Arc<str>),
    /// Not text; only the size and the digest are known here.
    Binary {
        /// Size in bytes.
        bytes: u64,
        /// The digest of the bytes, if they were read.
        digest: Option<Digest>,
    },
    /// A directory with everything in it.
    Folder {
        /// How many files and symlinks are in it, at any depth.
        files: u64,
        /// The total size of the files in bytes.
        bytes: u64,
        /// A digest of the files' names, sizes and times.
        digest: Option<Digest>,
    },
}

impl FileBody {
    /// Returns a short description with the size.
    pub fn summary(&self) -> String {
        match self {
            FileBody::Text(text) => format!("text, {} bytes", text.len()),
            FileBody::Binary { bytes, .. } => format!("not text, {bytes} bytes"),
            FileBody::Folder {
                files: 1, bytes, ..
            } => format!("a folder, 1 file, {bytes} bytes"),
            FileBody::Folder { files, bytes, .. } => {
                format!("a folder, {files} files, {bytes} bytes")
            }
        }
    }

    /// Returns the size in bytes; for a directory, of everything in it.
    pub fn bytes(&self) -> u64 {
        match self {
            FileBody::Text(text) => text.len() as u64,
            FileBody::Binary { bytes, .. } | FileBody::Folder { bytes, .. } => *bytes,
        }
    }
}

/// A SHA-256 hash of some content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Computes the hash of these bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl FileEdit {
    /// Creates an edit that adds a text file.
    pub fn added(path: impl Into<PathBuf>, after: impl Into<Arc<str>>) -> Self {
        let after = FileBody::Text(after.into());
        Self::new(path, FileChange::Added { after })
    }

    /// Creates an edit that changes a text file.
    pub fn modified(
        path: impl Into<PathBuf>,
        before: impl Into<Arc<str>>,
        after: impl Into<Arc<str>>,
    ) -> Self {
        let (before, after) = (FileBody::Text(before.into()), FileBody::Text(after.into()));
        Self::new(path, FileChange::Modified { before, after })
    }

    /// Creates an edit that deletes a file.
    pub fn deleted(path: impl Into<PathBuf>, before: FileBody) -> Self {
        Self::new(path, FileChange::Deleted { before })
    }

    /// Creates an edit that moves a file.
    pub fn moved(path: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Self {
        Self::new(path, FileChange::Moved { to: to.into() })
    }

    fn new(path: impl Into<PathBuf>, change: FileChange) -> Self {
        Self {
            path: path.into(),
            change,
        }
    }

    /// Returns the touch of this edit.
    pub fn touch(&self) -> Touch {
        match &self.change {
            FileChange::Added { .. } | FileChange::Modified { .. } => {
                Touch::Writes(self.path.clone())
            }
            FileChange::Deleted { .. } => Touch::Deletes(self.path.clone()),
            FileChange::Moved { to } => Touch::Moves {
                from: self.path.clone(),
                to: to.clone(),
            },
        }
    }
}

/// Something that can be shown to a user or sent to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Text.
    Text(Arc<str>),
    /// An image.
    Image(Blob),
    /// Audio.
    Audio(Blob),
    /// A resource with its body.
    Resource(Resource),
    /// A link to a resource.
    Link(Link),
    /// A change to a file.
    Edit(FileEdit),
    /// A terminal of the client that shows the call, by its id.
    Terminal(Arc<str>),
}

impl Content {
    /// Text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Content::Text(text.into())
    }

    /// Creates an image from its bytes.
    pub fn image(mime: impl Into<Arc<str>>, bytes: &[u8]) -> Self {
        Content::Image(Blob::from_bytes(mime, bytes))
    }

    /// Returns the file edit, if this is one.
    pub fn as_edit(&self) -> Option<&FileEdit> {
        match self {
            Content::Edit(edit) => Some(edit),
            Content::Text(_)
            | Content::Image(_)
            | Content::Audio(_)
            | Content::Resource(_)
            | Content::Link(_)
            | Content::Terminal(_) => None,
        }
    }

    /// Returns the text, if this is text or a text resource.
    pub fn as_text(&self) -> Option<&Arc<str>> {
        match self {
            Content::Text(text) => Some(text),
            Content::Resource(resource) => match &resource.body {
                ResourceBody::Text(text) => Some(text),
                ResourceBody::Base64(_) => None,
            },
            Content::Image(_)
            | Content::Audio(_)
            | Content::Link(_)
            | Content::Edit(_)
            | Content::Terminal(_) => None,
        }
    }

    /// Creates audio from its bytes.
    pub fn audio(mime: impl Into<Arc<str>>, bytes: &[u8]) -> Self {
        Content::Audio(Blob::from_bytes(mime, bytes))
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::text(text)
    }
}

impl From<Arc<str>> for Content {
    fn from(text: Arc<str>) -> Self {
        Content::Text(text)
    }
}

impl From<Resource> for Content {
    fn from(resource: Resource) -> Self {
        Content::Resource(resource)
    }
}

impl From<Link> for Content {
    fn from(link: Link) -> Self {
        Content::Link(link)
    }
}

impl From<FileEdit> for Content {
    fn from(edit: FileEdit) -> Self {
        Content::Edit(edit)
    }
}

/// Binary data in base64, as both ACP and MCP send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// The media type.
    pub mime: Arc<str>,
    /// The data in standard base64.
    pub base64: Arc<str>,
}

impl Blob {
    /// Encodes bytes as base64.
    pub fn from_bytes(mime: impl Into<Arc<str>>, bytes: &[u8]) -> Self {
        Self {
            mime: mime.into(),
            base64: base64::prelude::BASE64_STANDARD.encode(bytes).into(),
        }
    }
}

/// A resource with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The address.
    pub uri: Arc<str>,
    /// The media type, where known.
    pub mime: Option<Arc<str>>,
    /// The body.
    pub body: ResourceBody,
}

/// The body of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(Arc<str>),
    /// Base64.
    Base64(Arc<str>),
}

/// A link to a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The address.
    pub uri: Arc<str>,
    /// A short name.
    pub name: Arc<str>,
    /// A title for users.
    pub title: Option<Arc<str>>,
    /// A description.
    pub description: Option<Arc<str>>,
    /// The media type.
    pub mime: Option<Arc<str>>,
    /// The size in bytes.
    pub size: Option<u64>,
}
