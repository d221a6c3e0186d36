//! From a line to the message it carries, or to what is wrong with it.
//! It accepts nothing that another reader of JSON-RPC would refuse, and must not echo a bad line whole.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::{Envelope, Member};
use super::fault::{Fault, LONGEST_ID, not_json};
use super::incoming::RequestId;
use super::scan::{Doubt, TooDeep, scan};
use super::sound;

/// A message, borrowed from its line.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// A request (with an id) or a notification.
    Call {
        id: Option<Id<'a>>,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// The answer to a request.
    Response {
        id: RequestId,
        answer: Result<&'a RawValue, &'a RawValue>,
    },
}

/// An id as it is meant and as it is written.
#[derive(Debug)]
pub(super) struct Id<'a> {
    pub(super) id: RequestId,
    pub(super) raw: &'a RawValue,
}

/// Reads a line.
pub(super) fn read(line: &str, deepest: usize) -> Result<Message<'_>, Fault<'_>> {
    let doubt = scan(line, deepest).map_err(|deep| too_deep(line, deepest, deep))?;
    if !line.trim_ascii_start().starts_with('{') {
        return Err(no_object(line));
    }
    let (envelope, parsed) = Envelope::read(line);
    let read = parsed.and_then(|()| look_again(line, doubt));
    if let Err(error) = read {
        return Err(Fault::unreadable(&envelope, not_json(line, &error)));
    }
    message(&envelope).map_err(|reason| Fault::invalid(&envelope, &reason))
}

/// What is wrong with a line that is not text: it may have an id before that.
pub(super) fn not_text(line: &[u8]) -> Fault<'_> {
    let (valid, at) = valid_beginning(line);
    let (envelope, _) = Envelope::read(valid);
    Fault::unreadable(&envelope, format!("not UTF-8 at byte {at}"))
}

/// What is wrong with a line that is too long: this is its beginning.
pub(super) fn too_long(head: &[u8], longest: usize) -> Fault<'_> {
    let (envelope, _) = Envelope::read(valid_beginning(head).0);
    let reason = format!("the line is longer than {longest} bytes");
    Fault::unreadable(&envelope, reason)
}

/// The text up to the first byte (counted from one) that is none.
fn valid_beginning(line: &[u8]) -> (&str, usize) {
    let chunk = line.utf8_chunks().next();
    let valid = chunk.map_or("", |chunk| chunk.valid());
    (valid, valid.len() + 1)
}

fn too_deep(line: &str, deepest: usize, deep: TooDeep) -> Fault<'_> {
    let (envelope, _) = Envelope::read(line);
    let reason = format!("nested deeper than {deepest} levels at byte {}", deep.at);
    Fault::unreadable(&envelope, reason)
}

fn no_object(line: &str) -> Fault<'_> {
    let nothing = Envelope::default();
    let is_batch = line.trim_ascii_start().starts_with('[');
    match serde_json::from_str::<IgnoredAny>(line) {
        Err(error) => Fault::unreadable(&nothing, not_json(line, &error)),
        Ok(_) if is_batch => Fault::invalid(&nothing, "a batch; send one message a line"),
        Ok(_) => Fault::invalid(&nothing, "not an object"),
    }
}

fn look_again(line: &str, doubt: Doubt) -> serde_json::Result<()> {
    match doubt {
        Doubt::None if !sound::may_have_reserved_names(line) => Ok(()),
        Doubt::None | Doubt::Some => sound::check(line),
    }
}

fn message<'a>(envelope: &Envelope<'a>) -> Result<Message<'a>, String> {
    if let Some(member) = envelope.twice() {
        return Err(format!("`{}` appears twice", member.name()));
    }
    let version = envelope.get(Member::Jsonrpc).and_then(text);
    if version.as_deref() != Some("2.0") {
        return Err("`jsonrpc` must be \"2.0\"".to_owned());
    }
    let id = envelope.get(Member::Id).map(read_id).transpose()?;
    match envelope.get(Member::Method) {
        Some(method) => call(envelope, id, method),
        None => response(envelope, id),
    }
}

fn call<'a>(
    envelope: &Envelope<'a>,
    id: Option<Id<'a>>,
    method: &'a RawValue,
) -> Result<Message<'a>, String> {
    for member in [Member::Result, Member::Error] {
        if envelope.has(member) {
            let name = member.name();
            return Err(format!("`method` and `{name}` exclude each other"));
        }
    }
    // Its answer could not be told from that to a line that could not be read.
    if id.as_ref().is_some_and(|id| id.raw.get() == "null") {
        return Err("a request needs an `id` that is not null".to_owned());
    }
    let params = envelope.get(Member::Params).filter(|p| p.get() != "null");
    if params.is_some_and(|params| !params.get().starts_with(['{', '['])) {
        return Err("`params` must be an object or an array".to_owned());
    }
    match text(method) {
        Some(method) => Ok(Message::Call { id, method, params }),
        None => Err("`method` must be a string".to_owned()),
    }
}

fn response<'a>(envelope: &Envelope<'a>, id: Option<Id<'a>>) -> Result<Message<'a>, String> {
    let answer = match (envelope.get(Member::Result), envelope.get(Member::Error)) {
        (Some(_), Some(_)) => return Err("`result` and `error` exclude each other".to_owned()),
        (None, None) => return Err("neither `method` nor `result` nor `error`".to_owned()),
        (Some(result), None) => Ok(result),
        (None, Some(error)) if is_error(error) => Err(error),
        (None, Some(_)) => return Err("`error` must have a code and a message".to_owned()),
    };
    match id {
        Some(Id { id, .. }) => Ok(Message::Response { id, answer }),
        None => Err("an answer needs an `id`".to_owned()),
    }
}

fn text(value: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(value.get())
        .ok()
        .map(|text| text.0)
}

fn read_id(raw: &RawValue) -> Result<Id<'_>, String> {
    if raw.get().len() > LONGEST_ID {
        return Err(format!("`id` is longer than {LONGEST_ID} bytes"));
    }
    match serde_json::from_str(raw.get()) {
        Ok(id) => Ok(Id { id, raw }),
        Err(_) => Err("`id` must be a string, an integer or null".to_owned()),
    }
}

/// Through a value, as most readers do it: there the last of two equal names counts.
fn is_error(error: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is checked")]
    struct Shape {
        code: i32,
        message: String,
    }
    serde_json::from_str::<Value>(error.get())
        .and_then(serde_json::from_value::<Shape>)
        .is_ok()
}
