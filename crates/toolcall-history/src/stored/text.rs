//! Texts, bytes, paths and opaque JSON in the stored form: without secrets, within the cap, long ones by hash.
//! It collects long texts for whoever writes; it knows no database.

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

/// The hash of some bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> Hash {
    Digest::of(bytes).0
}

/// Longer texts are stored once, by their hash.
const LONGEST_INLINE: usize = 2 * 1024;

/// Where long texts are found by their hash.
pub(crate) trait Blobs {
    /// The text of this hash, if it is there.
    fn blob(&self, hash: &Hash) -> Option<Vec<u8>>;
}

/// Makes the stored form: takes secrets out, cuts what is over the cap, puts long texts aside.
pub(crate) struct Packer<'a> {
    redactor: &'a Redactor,
    keep: KeepContent,
    largest: usize,
    longest_inline: usize,
    /// Long texts of what was packed.
    pub(crate) blobs: Vec<(Hash, Vec<u8>)>,
}

/// A text, or the hash by which it is found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Text {
    Inline(Arc<str>),
    Long { blob: String },
}

/// JSON of somebody else, or the hash by which it is found.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Json {
    Json(Arc<Value>),
    Blob(String),
}

/// Bytes: as text where they are text.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Bytes {
    Text(Text),
    Other { base64: Text },
}

/// What is left of a text in the stored form.
pub(crate) enum Packed<'t> {
    /// All of it, without secrets.
    Whole(Cow<'t, str>),
    /// It was over the cap; this many bytes.
    TooLong(usize),
}

impl<'a> Packer<'a> {
    /// Packs with this redactor, this much and no longer texts than this.
    pub(crate) fn new(redactor: &'a Redactor, keep: KeepContent, largest: usize) -> Self {
        Self {
            redactor,
            keep,
            largest,
            longest_inline: LONGEST_INLINE,
            blobs: Vec::new(),
        }
    }

    /// Puts no text aside: for an export, in which everything is in its place.
    pub(crate) fn inline(redactor: &'a Redactor) -> Self {
        Self {
            longest_inline: usize::MAX,
            ..Self::new(redactor, KeepContent::Contents, usize::MAX)
        }
    }

    /// Whether inputs and outputs are kept at all.
    pub(crate) fn keeps_contents(&self) -> bool {
        match self.keep {
            KeepContent::Contents => true,
            KeepContent::NoContents => false,
        }
    }

    /// A name or a reason of our own: kept always, without secrets.
    pub(crate) fn line(&self, text: &str) -> Arc<str> {
        match self.redactor.scrub(text) {
            Some(clean) => clean.into(),
            None => text.into(),
        }
    }

    /// Like [`Packer::line`], for a text that need not be copied.
    pub(crate) fn shared(&self, text: &Arc<str>) -> Arc<str> {
        self.redactor
            .scrub(text)
            .map_or_else(|| text.clone(), Arc::from)
    }

    /// A part of an input or an output.
    pub(crate) fn text(&mut self, text: &Arc<str>) -> Text {
        if !self.keeps_contents() {
            return Text::Inline("".into());
        }
        let clean = self.shared(text);
        if clean.len() <= self.largest {
            self.put(clean)
        } else {
            self.put(cut(&clean, self.largest).into())
        }
    }

    /// A line that tells of an input or an output, such as a title.
    pub(crate) fn told(&self, text: &str) -> Arc<str> {
        if self.keeps_contents() {
            self.line(text)
        } else {
            "".into()
        }
    }

    /// A text that is kept whole or not at all.
    pub(crate) fn whole<'t>(&self, text: &'t str) -> Packed<'t> {
        let clean = match self.redactor.scrub(text) {
            Some(clean) => Cow::Owned(clean),
            None => Cow::Borrowed(text),
        };
        if clean.len() > self.largest || !self.keeps_contents() {
            Packed::TooLong(text.len())
        } else {
            Packed::Whole(clean)
        }
    }

    /// Encoded bytes, kept whole or not at all. What looks like a key in them is chance.
    pub(crate) fn encoded<'t>(&self, text: &'t str) -> Packed<'t> {
        if text.len() > self.largest || !self.keeps_contents() {
            Packed::TooLong(text.len())
        } else {
            Packed::Whole(Cow::Borrowed(text))
        }
    }

    /// Puts a packed text where it belongs.
    pub(crate) fn put(&mut self, text: Arc<str>) -> Text {
        if text.len() <= self.longest_inline {
            Text::Inline(text)
        } else {
            Text::Long {
                blob: self.put_aside(text.as_bytes()),
            }
        }
    }

    fn put_aside(&mut self, bytes: &[u8]) -> String {
        let hash = hash_of(bytes);
        if !self.blobs.iter().any(|(known, _)| *known == hash) {
            self.blobs.push((hash, bytes.to_vec()));
        }
        hex(&hash)
    }

    /// Output. Bytes that are no text stay as they are, unless there may be a secret in them.
    pub(crate) fn bytes(&mut self, bytes: &[u8], edges: Edges) -> Bytes {
        if !self.keeps_contents() {
            return Bytes::Text(Text::Inline("".into()));
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) if self.redactor.may_hide(bytes) => String::from_utf8_lossy(bytes),
            Err(_) => {
                let base64: Arc<str> = BASE64_STANDARD.encode(self.within_cap(bytes)).into();
                return Bytes::Other {
                    base64: self.put(base64),
                };
            }
        };
        let clean = match edges {
            Edges::Whole => self.redactor.scrub(&text).map_or(text, Cow::Owned),
            Edges::CutAfter => Cow::Owned(self.redactor.scrub_head(&text)),
            Edges::CutBefore => Cow::Owned(self.redactor.scrub_tail(&text)),
        };
        if clean.len() <= self.largest {
            Bytes::Text(self.put(clean.into()))
        } else {
            Bytes::Text(self.put(cut(&clean, self.largest).into()))
        }
    }

    fn within_cap<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        &bytes[..bytes.len().min(self.largest)]
    }

    /// JSON of somebody else.
    pub(crate) fn json(&mut self, value: &Arc<Value>) -> Json {
        if !self.keeps_contents() {
            return Json::Json(Arc::new(Value::Null));
        }
        let clean = self
            .redactor
            .scrub_json(value)
            .map_or_else(|| value.clone(), Arc::new);
        if is_short(&clean, &mut self.longest_inline.clone()) {
            return Json::Json(clean);
        }
        let text = clean.to_string();
        match text.len() {
            length if length <= self.longest_inline => Json::Json(clean),
            length if length <= self.largest => Json::Blob(self.put_aside(text.as_bytes())),
            length => Json::Json(Arc::new(Value::String(not_kept(length)))),
        }
    }

    /// A path; it may hold a secret, too.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        let clean = path.to_str().and_then(|text| self.redactor.scrub(text));
        clean.map_or_else(|| path.to_owned(), PathBuf::from)
    }
}

/// Where a piece of output was cut from more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edges {
    /// Nowhere.
    Whole,
    /// More followed.
    CutAfter,
    /// More came before.
    CutBefore,
}

/// What stands in place of something that is over the cap.
pub(crate) fn not_kept(bytes: usize) -> String {
    format!("({bytes} bytes were not kept)")
}

/// Beginning and end of a text that is over the cap.
fn cut(text: &str, largest: usize) -> String {
    let head = text.floor_char_boundary(largest / 2);
    let tail = text.ceil_char_boundary(text.len() - largest / 2);
    let missing = tail - head;
    format!(
        "{}\n… {missing} bytes were not kept …\n{}",
        &text[..head],
        &text[tail..]
    )
}

/// Whether a value is surely short, without writing it; it stops where the room ends.
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

impl Text {
    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<Arc<str>, DecodeError> {
        match self {
            Text::Inline(text) => Ok(text),
            Text::Long { blob } => utf8(fetch(&blob, blobs)?).map(Arc::from),
        }
    }
}

impl Json {
    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<Arc<Value>, DecodeError> {
        match self {
            Json::Json(value) => Ok(value),
            Json::Blob(blob) => super::from_json(&utf8(fetch(&blob, blobs)?)?).map(Arc::new),
        }
    }
}

impl Bytes {
    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<Vec<u8>, DecodeError> {
        match self {
            Bytes::Text(text) => Ok(text.unpack(blobs)?.as_bytes().to_vec()),
            Bytes::Other { base64 } => from_base64(&base64.unpack(blobs)?),
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

fn fetch(blob: &str, blobs: &dyn Blobs) -> Result<Vec<u8>, DecodeError> {
    let found = unhex(blob).and_then(|hash| blobs.blob(&hash));
    found.ok_or_else(|| DecodeError::MissingText(blob.to_owned()))
}

/// A hash as text.
pub(crate) fn hex(hash: &Hash) -> String {
    Digest(*hash).to_string()
}

/// The hash that a text is.
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
