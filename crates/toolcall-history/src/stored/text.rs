//! The stored form of texts, bytes, paths and opaque JSON: redacted, within the limit, long ones by hash.
//! It collects long texts as blobs for the caller to insert; it knows no database.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolcall::Digest;

use super::DecodeError;
use crate::redact::Redactor;
use crate::settings::KeepContent;

/// A SHA-256 hash.
pub(crate) type Hash = [u8; 32];

/// Returns the SHA-256 hash of bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> Hash {
    Digest::of(bytes).0
}

/// Longer texts are stored once in the `blobs` table, by their hash.
const MAX_INLINE: usize = 2 * 1024;

/// Looks up long texts by their hash.
pub(crate) trait BlobSource {
    /// Returns the text with this hash.
    fn blob(&self, hash: &Hash) -> Option<Vec<u8>>;
}

/// Encodes values for storage: redacts secrets, shortens texts over the limit, moves long texts to blobs.
pub(crate) struct Encoder<'a> {
    redactor: &'a Redactor,
    keep: KeepContent,
    max_text: usize,
    max_inline: usize,
    /// The long texts of the encoded values.
    pub(crate) blobs: Vec<(Hash, Vec<u8>)>,
}

/// A text, or the hash by which it is found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StoredText {
    Inline(Arc<str>),
    Long { blob: String },
}

/// JSON that tools or peers wrote, or the hash by which it is found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum StoredJson {
    Json(Arc<Value>),
    Blob(String),
}

/// Bytes: as text if they are UTF-8.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum StoredBytes {
    Text(StoredText),
    Other { base64: StoredText },
}

/// A text that is stored whole or not at all.
pub(crate) enum EncodedText<'t> {
    /// The redacted text.
    Whole(Cow<'t, str>),
    /// It is over the limit, or content is not stored; its size in bytes.
    TooLong(usize),
}

impl<'a> Encoder<'a> {
    /// Creates an encoder that stores texts of at most `max_text` bytes.
    pub(crate) fn new(redactor: &'a Redactor, keep: KeepContent, max_text: usize) -> Self {
        Self {
            redactor,
            keep,
            max_text,
            max_inline: MAX_INLINE,
            blobs: Vec::new(),
        }
    }

    /// Creates an encoder for exports, which keeps all texts inline.
    pub(crate) fn for_export(redactor: &'a Redactor) -> Self {
        Self {
            max_inline: usize::MAX,
            ..Self::new(redactor, KeepContent::Contents, usize::MAX)
        }
    }

    /// Returns whether inputs and outputs are stored.
    pub(crate) fn keeps_content(&self) -> bool {
        match self.keep {
            KeepContent::Contents => true,
            KeepContent::NoContents => false,
        }
    }

    /// Redacts a name or a reason that is stored even without content.
    pub(crate) fn redacted_line(&self, text: &str) -> Arc<str> {
        match self.redactor.redact(text) {
            Some(clean) => clean.into(),
            None => text.into(),
        }
    }

    /// Like [`Encoder::redacted_line`], for a text that need not be copied.
    pub(crate) fn redacted(&self, text: &Arc<str>) -> Arc<str> {
        self.redactor
            .redact(text)
            .map_or_else(|| text.clone(), Arc::from)
    }

    /// Encodes a part of an input or an output.
    pub(crate) fn text(&mut self, text: &Arc<str>) -> StoredText {
        if !self.keeps_content() {
            return StoredText::Inline("".into());
        }
        let clean = self.redacted(text);
        if clean.len() <= self.max_text {
            self.inline_or_blob(clean)
        } else {
            self.inline_or_blob(cut(&clean, self.max_text).into())
        }
    }

    /// Redacts a line that quotes an input or an output, such as a title; empty if content is not stored.
    pub(crate) fn content_line(&self, text: &str) -> Arc<str> {
        if self.keeps_content() {
            self.redacted_line(text)
        } else {
            "".into()
        }
    }

    /// Redacts a text that is stored whole or not at all.
    pub(crate) fn whole_text<'t>(&self, text: &'t str) -> EncodedText<'t> {
        let clean = match self.redactor.redact(text) {
            Some(clean) => Cow::Owned(clean),
            None => Cow::Borrowed(text),
        };
        if clean.len() > self.max_text || !self.keeps_content() {
            EncodedText::TooLong(text.len())
        } else {
            EncodedText::Whole(clean)
        }
    }

    /// Passes on base64 that is stored whole or not at all. It is not redacted: a match would be chance.
    pub(crate) fn base64<'t>(&self, text: &'t str) -> EncodedText<'t> {
        if text.len() > self.max_text || !self.keeps_content() {
            EncodedText::TooLong(text.len())
        } else {
            EncodedText::Whole(Cow::Borrowed(text))
        }
    }

    /// Stores a redacted text inline, or as a blob if it is long.
    pub(crate) fn inline_or_blob(&mut self, text: Arc<str>) -> StoredText {
        if text.len() <= self.max_inline {
            StoredText::Inline(text)
        } else {
            StoredText::Long {
                blob: self.put_blob(text.as_bytes()),
            }
        }
    }

    fn put_blob(&mut self, bytes: &[u8]) -> String {
        let hash = hash_of(bytes);
        if !self.blobs.iter().any(|(known, _)| *known == hash) {
            self.blobs.push((hash, bytes.to_vec()));
        }
        hex(&hash)
    }

    /// Encodes output. Bytes that are not text stay as they are, unless they may contain a secret.
    pub(crate) fn bytes(&mut self, bytes: &[u8], edges: OutputCut) -> StoredBytes {
        if !self.keeps_content() {
            return StoredBytes::Text(StoredText::Inline("".into()));
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) if self.redactor.may_contain_secret(bytes) => String::from_utf8_lossy(bytes),
            Err(_) => {
                let base64: Arc<str> = BASE64_STANDARD.encode(self.within_cap(bytes)).into();
                return StoredBytes::Other {
                    base64: self.inline_or_blob(base64),
                };
            }
        };
        let clean = match edges {
            OutputCut::Whole => self.redactor.redact(&text).map_or(text, Cow::Owned),
            OutputCut::CutAfter => Cow::Owned(self.redactor.redact_head(&text)),
            OutputCut::CutBefore => Cow::Owned(self.redactor.redact_tail(&text)),
        };
        if clean.len() <= self.max_text {
            StoredBytes::Text(self.inline_or_blob(clean.into()))
        } else {
            StoredBytes::Text(self.inline_or_blob(cut(&clean, self.max_text).into()))
        }
    }

    fn within_cap<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[..bytes.len().min(self.max_text)]
    }

    /// Encodes JSON that tools or peers wrote.
    pub(crate) fn json(&mut self, value: &Arc<Value>) -> StoredJson {
        if !self.keeps_content() {
            return StoredJson::Json(Arc::new(Value::Null));
        }
        let clean = self
            .redactor
            .redact_json(value)
            .map_or_else(|| value.clone(), Arc::new);
        if is_short(&clean, &mut self.max_inline.clone()) {
            return StoredJson::Json(clean);
        }
        let text = clean.to_string();
        match text.len() {
            length if length <= self.max_inline => StoredJson::Json(clean),
            length if length <= self.max_text => StoredJson::Blob(self.put_blob(text.as_bytes())),
            length => StoredJson::Json(Arc::new(Value::String(not_kept(length)))),
        }
    }

    /// Redacts a path.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        let clean = path.to_str().and_then(|text| self.redactor.redact(text));
        clean.map_or_else(|| path.to_owned(), PathBuf::from)
    }
}

/// On which side a piece of output was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputCut {
    /// It was not cut.
    Whole,
    /// More followed.
    CutAfter,
    /// More came before.
    CutBefore,
}

/// Returns the text that replaces a value over the limit.
pub(crate) fn not_kept(bytes: usize) -> String {
    format!("({bytes} bytes were not kept)")
}

/// Returns the beginning and the end of a text over the limit.
fn cut(text: &str, max_text: usize) -> String {
    let head = text.floor_char_boundary(max_text / 2);
    let tail = text.ceil_char_boundary(text.len() - max_text / 2);
    let missing = tail - head;
    format!(
        "{}\n… {missing} bytes were not kept …\n{}",
        &text[..head],
        &text[tail..]
    )
}

/// Returns whether a value is certainly short, without serializing it; stops once `room` is used up.
fn is_short(value: &Value, room: &mut usize) -> bool {
    let cost = match value {
        Value::Null | Value::Bool(_) => 8,
        Value::Number(_) => 24,
        Value::String(text) => 2 * text.len() + 8,
        Value::Array(items) => 8 + items.len(),
        Value::Object(members) => 8 + members.keys().map(|key| 2 * key.len() + 8).sum::<usize>(),
    };
    let Some(left) = room.checked_sub(cost) else {
        return false;
    };
    *room = left;
    match value {
        Value::Array(items) => items.iter().all(|item| is_short(item, room)),
        Value::Object(members) => members.values().all(|member| is_short(member, room)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

impl StoredText {
    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<Arc<str>, DecodeError> {
        match self {
            StoredText::Inline(text) => Ok(text),
            StoredText::Long { blob } => utf8(fetch(&blob, blobs)?).map(Arc::from),
        }
    }
}

impl StoredJson {
    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<Arc<Value>, DecodeError> {
        match self {
            StoredJson::Json(value) => Ok(value),
            StoredJson::Blob(blob) => super::from_json(&utf8(fetch(&blob, blobs)?)?).map(Arc::new),
        }
    }
}

impl StoredBytes {
    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<Vec<u8>, DecodeError> {
        match self {
            StoredBytes::Text(text) => Ok(text.decode(blobs)?.as_bytes().to_vec()),
            StoredBytes::Other { base64 } => from_base64(&base64.decode(blobs)?),
        }
    }
}

fn from_base64(text: &str) -> Result<Vec<u8>, DecodeError> {
    let decoded = BASE64_STANDARD.decode(text);
    decoded.map_err(|error| DecodeError::Malformed(error.to_string()))
}

fn utf8(bytes: Vec<u8>) -> Result<String, DecodeError> {
    String::from_utf8(bytes).map_err(|error| DecodeError::Malformed(error.to_string()))
}

fn fetch(blob: &str, blobs: &dyn BlobSource) -> Result<Vec<u8>, DecodeError> {
    let found = unhex(blob).and_then(|hash| blobs.blob(&hash));
    found.ok_or_else(|| DecodeError::MissingText(blob.to_owned()))
}

/// Returns a hash as hexadecimal text.
pub(crate) fn hex(hash: &Hash) -> String {
    Digest(*hash).to_string()
}

/// Parses a hash.
pub(crate) fn unhex(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (place, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(hash)
}
