//! Parses a line into a JSON-RPC message, or says what is wrong with it.
//! It accepts nothing that another JSON-RPC parser would refuse, and must not echo a bad line whole.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::envelope::{Envelope, Member};
use super::incoming::RequestId;
use super::line_error::{LONGEST_ID, LineError, not_json};
use super::scan::{FullParse, TooDeep, scan};
use super::validate;

/// A message, borrowed from its line.
#[derive(Debug)]
pub(super) enum RpcMessage<'a> {
    /// A request (with an id) or a notification.
    Call {
        id: Option<RawRequestId<'a>>,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    /// A response to one of our requests.
    Response {
        id: RequestId,
        answer: Result<&'a RawValue, &'a RawValue>,
    },
}

/// A request id, parsed and as the peer wrote it.
#[derive(Debug)]
pub(super) struct RawRequestId<'a> {
    pub(super) id: RequestId,
    pub(super) raw: &'a RawValue,
}

/// Parses a line.
pub(super) fn read(line: &str, deepest: usize) -> Result<RpcMessage<'_>, LineError<'_>> {
    let full_parse = scan(line, deepest).map_err(|deep| too_deep(line, deepest, deep))?;
    if !line.trim_ascii_start().starts_with('{') {
        return Err(no_object(line));
    }
    let (envelope, parsed) = Envelope::read(line);
    let read = parsed.and_then(|()| parse_again_if_needed(line, full_parse));
    if let Err(error) = read {
        return Err(LineError::unreadable(&envelope, not_json(line, &error)));
    }
    message(&envelope).map_err(|reason| LineError::invalid(&envelope, &reason))
}

/// Returns the error for a line that is not UTF-8. Its id is used if it comes before the bad byte.
pub(super) fn not_text(line: &[u8]) -> LineError<'_> {
    let (valid, at) = valid_beginning(line);
    let (envelope, _) = Envelope::read(valid);
    LineError::unreadable(&envelope, format!("not UTF-8 at byte {at}"))
}

/// Returns the error for a line that is too long, by its first bytes.
pub(super) fn too_long(head: &[u8], longest: usize) -> LineError<'_> {
    let (envelope, _) = Envelope::read(valid_beginning(head).0);
    let reason = format!("the line is longer than {longest} bytes");
    LineError::unreadable(&envelope, reason)
}

/// Returns the valid UTF-8 at the start, and the position of the first bad byte, counted from 1.
fn valid_beginning(line: &[u8]) -> (&str, usize) {
    let chunk = line.utf8_chunks().next();
    let valid = chunk.map_or("", |chunk| chunk.valid());
    (valid, valid.len() + 1)
}

fn too_deep(line: &str, deepest: usize, deep: TooDeep) -> LineError<'_> {
    let (envelope, _) = Envelope::read(line);
    let reason = format!("nested deeper than {deepest} levels at byte {}", deep.at);
    LineError::unreadable(&envelope, reason)
}

fn no_object(line: &str) -> LineError<'_> {
    let nothing = Envelope::default();
    let is_batch = line.trim_ascii_start().starts_with('[');
    match serde_json::from_str::<IgnoredAny>(line) {
        Err(error) => LineError::unreadable(&nothing, not_json(line, &error)),
        Ok(_) if is_batch => LineError::invalid(&nothing, "a batch; send one message a line"),
        Ok(_) => LineError::invalid(&nothing, "not an object"),
    }
}

fn parse_again_if_needed(line: &str, full_parse: FullParse) -> serde_json::Result<()> {
    match full_parse {
        FullParse::NotNeeded if !validate::may_have_reserved_names(line) => Ok(()),
        FullParse::NotNeeded | FullParse::Needed => validate::check(line),
    }
}

fn message<'a>(envelope: &Envelope<'a>) -> Result<RpcMessage<'a>, String> {
    if let Some(member) = envelope.duplicate() {
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
    id: Option<RawRequestId<'a>>,
    method: &'a RawValue,
) -> Result<RpcMessage<'a>, String> {
    for member in [Member::Result, Member::Error] {
        if envelope.has(member) {
            let name = member.name();
            return Err(format!("`method` and `{name}` exclude each other"));
        }
    }
    // Its response would look like that to an unreadable line.
    if id.as_ref().is_some_and(|id| id.raw.get() == "null") {
        return Err("a request needs an `id` that is not null".to_owned());
    }
    let params = envelope.get(Member::Params).filter(|p| p.get() != "null");
    if params.is_some_and(|params| !params.get().starts_with(['{', '['])) {
        return Err("`params` must be an object or an array".to_owned());
    }
    match text(method) {
        Some(method) => Ok(RpcMessage::Call { id, method, params }),
        None => Err("`method` must be a string".to_owned()),
    }
}

fn response<'a>(
    envelope: &Envelope<'a>,
    id: Option<RawRequestId<'a>>,
) -> Result<RpcMessage<'a>, String> {
    let answer = match (envelope.get(Member::Result), envelope.get(Member::Error)) {
        (Some(_), Some(_)) => return Err("`result` and `error` exclude each other".to_owned()),
        (None, None) => return Err("neither `method` nor `result` nor `error`".to_owned()),
        (Some(result), None) => Ok(result),
        (None, Some(error)) if is_error(error) => Err(error),
        (None, Some(_)) => return Err("`error` must have a code and a message".to_owned()),
    };
    match id {
        Some(RawRequestId { id, .. }) => Ok(RpcMessage::Response { id, answer }),
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

fn read_id(raw: &RawValue) -> Result<RawRequestId<'_>, String> {
    if raw.get().len() > LONGEST_ID {
        return Err(format!("`id` is longer than {LONGEST_ID} bytes"));
    }
    match serde_json::from_str(raw.get()) {
        Ok(id) => Ok(RawRequestId { id, raw }),
        Err(_) => Err("`id` must be a string, an integer or null".to_owned()),
    }
}

/// Parses through a `Value`, as most parsers do: there the last of two equal names wins.
fn is_error(error: &RawValue) -> bool {
    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its kind is checked")]
    struct ErrorMembers {
        code: i32,
        message: String,
    }
    serde_json::from_str::<Value>(error.get())
        .and_then(serde_json::from_value::<ErrorMembers>)
        .is_ok()
}
