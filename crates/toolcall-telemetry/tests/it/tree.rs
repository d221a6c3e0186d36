//! Shows spans as a tree of text, with times relative to the start of the test.
//! It shows everything but ids, which differ from run to run.

use std::fmt::Write as _;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;

use crate::setup::BEGAN;

/// Returns the tree of spans, oldest first. A span whose parent is not among them is a root.
pub(crate) fn tree(spans: &[Span]) -> String {
    let mut spans = spans.to_vec();
    spans.sort_by_key(|span| (span.start_time_unix_nano, span.end_time_unix_nano));
    let is_root = |span: &&Span| {
        !spans
            .iter()
            .any(|above| above.span_id == span.parent_span_id)
    };
    let mut text = String::new();
    for root in spans.iter().filter(is_root) {
        write(&mut text, root, &spans, 0);
    }
    text
}

/// Returns the value of an attribute as text.
pub(crate) fn attribute(span: &Span, key: &str) -> Option<String> {
    let mut attributes = span.attributes.iter();
    attributes.find(|attribute| attribute.key == key).map(value)
}

fn write(text: &mut String, span: &Span, all: &[Span], depth: usize) {
    let indent = "  ".repeat(depth);
    let (from, to) = (
        seconds(span.start_time_unix_nano),
        seconds(span.end_time_unix_nano),
    );
    writeln!(text, "{indent}{} {from}..{to}", span.name).unwrap();
    if let Some(status) = &span.status {
        writeln!(text, "{indent}  ! {} {}", status.code, status.message).unwrap();
    }
    for attribute in &span.attributes {
        writeln!(text, "{indent}  - {} = {}", attribute.key, value(attribute)).unwrap();
    }
    for child in all
        .iter()
        .filter(|child| child.parent_span_id == span.span_id)
    {
        assert_eq!(child.trace_id, span.trace_id, "one tree is one trace");
        write(text, child, all, depth + 1);
    }
}

fn seconds(nanos: u64) -> u64 {
    let since = nanos - BEGAN.as_micros() * 1000;
    assert_eq!(since % 1_000_000_000, 0, "tests use whole seconds");
    since / 1_000_000_000
}

fn value(attribute: &KeyValue) -> String {
    match &attribute.value {
        Some(AnyValue {
            value: Some(Value::StringValue(text)),
        }) => text.clone(),
        Some(AnyValue {
            value: Some(Value::IntValue(number)),
        }) => number.to_string(),
        other => format!("{other:?}"),
    }
}
