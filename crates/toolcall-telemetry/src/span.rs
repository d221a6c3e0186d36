//! Builds spans and attributes in the format of OTLP.
//! It knows no calls: names, times and attributes are parameters.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use toolcall::Timestamp;

use crate::span_ids::{ParentOrigin, SpanIdentity};
use crate::trace::Sampling;

/// The longest name or id, in bytes, because peers choose some of them.
const MAX_TEXT: usize = 256;

const SAMPLED: u32 = 1;
const KNOWS_IS_REMOTE: u32 = 1 << 8;
const IS_REMOTE: u32 = 1 << 9;

/// The start and the end of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeRange {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

/// Builds a span.
pub(crate) fn span(
    name: &str,
    identity: &SpanIdentity,
    range: TimeRange,
    attributes: Vec<KeyValue>,
) -> Span {
    let parent = identity
        .parent
        .map(|parent| parent.span.to_be_bytes().to_vec());
    Span {
        trace_id: identity.own.trace.to_be_bytes().to_vec(),
        span_id: identity.own.span.to_be_bytes().to_vec(),
        trace_state: identity.own.state().unwrap_or_default().to_owned(),
        parent_span_id: parent.unwrap_or_default(),
        flags: flags(identity),
        name: cut(name, MAX_TEXT).to_owned(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(range.from),
        end_time_unix_nano: nanos(range.to),
        attributes,
        ..Span::default()
    }
}

/// Builds an error status.
pub(crate) fn failure(message: String) -> Status {
    Status {
        message,
        code: StatusCode::Error.into(),
    }
}

/// Builds an attribute of a short text; a longer one is cut.
pub(crate) fn text(key: &str, value: &str) -> KeyValue {
    long_text(key, cut(value, MAX_TEXT).to_owned())
}

/// Builds an attribute of a text that the caller has limited.
pub(crate) fn long_text(key: &str, value: String) -> KeyValue {
    attribute(key, Value::StringValue(value))
}

/// Builds an attribute of a number.
pub(crate) fn number(key: &str, value: u64) -> KeyValue {
    attribute(
        key,
        Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)),
    )
}

/// Builds an attribute of a signed number.
pub(crate) fn signed(key: &str, value: i32) -> KeyValue {
    attribute(key, Value::IntValue(value.into()))
}

/// Returns the text up to a number of bytes, cut between characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
        ..KeyValue::default()
    }
}

fn flags(identity: &SpanIdentity) -> u32 {
    let sampled = match identity.own.sampling {
        Sampling::Sampled => SAMPLED,
        Sampling::NotSampled => 0,
    };
    let origin = match identity.parent.map(|parent| parent.origin) {
        Some(ParentOrigin::Remote) => IS_REMOTE,
        Some(ParentOrigin::Local) | None => 0,
    };
    sampled | KNOWS_IS_REMOTE | origin
}

fn nanos(at: Timestamp) -> u64 {
    at.as_micros().saturating_mul(1000)
}
