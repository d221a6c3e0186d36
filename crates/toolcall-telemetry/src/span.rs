//! One span in the form of OTLP, put together.
//! It knows no calls: names, times and attributes are handed in.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, Status};
use toolcall::Timestamp;

use crate::node::{Node, Origin};
use crate::trace::Sampling;

/// The longest name or id, in bytes: peers choose some of them.
const LONGEST_TEXT: usize = 256;

const SAMPLED: u32 = 1;
const KNOWS_ORIGIN: u32 = 1 << 8;
const FROM_ELSEWHERE: u32 = 1 << 9;

/// From when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

/// A span of this name and place.
pub(crate) fn span(name: &str, node: &Node, extent: Extent, attributes: Vec<KeyValue>) -> Span {
    let parent = node.parent.map(|parent| parent.span.to_be_bytes().to_vec());
    Span {
        trace_id: node.own.trace.to_be_bytes().to_vec(),
        span_id: node.own.span.to_be_bytes().to_vec(),
        trace_state: node.own.state().unwrap_or_default().to_owned(),
        parent_span_id: parent.unwrap_or_default(),
        flags: flags(node),
        name: cut(name, LONGEST_TEXT).to_owned(),
        kind: SpanKind::Internal.into(),
        start_time_unix_nano: nanos(extent.from),
        end_time_unix_nano: nanos(extent.to),
        attributes,
        ..Span::default()
    }
}

/// That it went wrong, in these words.
pub(crate) fn failure(message: String) -> Status {
    Status {
        message,
        code: StatusCode::Error.into(),
    }
}

/// An attribute that is a name, cut if it is far too long for one.
pub(crate) fn text(key: &str, value: &str) -> KeyValue {
    long_text(key, cut(value, LONGEST_TEXT).to_owned())
}

/// An attribute that is a text; how long it may be is the caller's business.
pub(crate) fn long_text(key: &str, value: String) -> KeyValue {
    attribute(key, Value::StringValue(value))
}

/// An attribute that is a number.
pub(crate) fn number(key: &str, value: u64) -> KeyValue {
    attribute(
        key,
        Value::IntValue(i64::try_from(value).unwrap_or(i64::MAX)),
    )
}

/// An attribute that is a number and may be less than zero.
pub(crate) fn signed(key: &str, value: i32) -> KeyValue {
    attribute(key, Value::IntValue(value.into()))
}

/// The text up to so many bytes, never in the middle of a character.
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

fn flags(node: &Node) -> u32 {
    let sampled = match node.own.sampling {
        Sampling::Kept => SAMPLED,
        Sampling::LeftOut => 0,
    };
    let origin = match node.parent.map(|parent| parent.origin) {
        Some(Origin::Elsewhere) => FROM_ELSEWHERE,
        Some(Origin::Here) | None => 0,
    };
    sampled | KNOWS_ORIGIN | origin
}

fn nanos(moment: Timestamp) -> u64 {
    moment.as_micros().saturating_mul(1000)
}
