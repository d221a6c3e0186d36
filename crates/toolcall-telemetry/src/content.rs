//! Inputs, outputs, titles and reasons as span attributes of limited length.
//! They are in no span unless switched on, and are redacted before they are sent.

use std::fmt;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use toolcall::{Content, Input, Judge, ToolCall};

use crate::span::{cut, long_text};

/// The longest such text in a span, in bytes.
const MAX_TEXT: usize = 16 * 1024;

/// How much is taken from the call: more than is sent, so that a secret at the cut is redacted as a whole.
const MAX_TAKEN: usize = 2 * MAX_TEXT;

const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
const RESULT: &str = "gen_ai.tool.call.result";
const TITLE: &str = "toolcall.title";
const RULE: &str = "toolcall.decision.rule";

/// Whether inputs, outputs, titles, reasons and rule names are sent. They may be sensitive.
///
/// ```
/// use toolcall_telemetry::{ContentCapture, Redact, Settings};
///
/// # fn main() -> Result<(), toolcall_telemetry::TelemetryConfigError> {
/// let mut settings = Settings::new("http://localhost:4318/v1/traces")?;
/// settings.content = ContentCapture::On(Redact::with(|text| text.replace("hunter2", "***")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub enum ContentCapture {
    /// They are not sent.
    #[default]
    Off,
    /// They are redacted, then sent.
    On(Redact),
}

/// A function that redacts secrets in a text.
#[derive(Clone)]
pub struct Redact(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl Redact {
    /// Redacts with this function. The sending task calls it, so it delays no call.
    pub fn with(redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(redact))
    }

    /// Redacts nothing: for a collector that may see everything.
    pub fn nothing() -> Self {
        Self::with(str::to_owned)
    }

    /// Redacts a span before it is sent.
    pub(crate) fn apply(&self, span: &mut Span) {
        if let Some(status) = &mut span.status {
            status.message = self.redact_text(&status.message);
        }
        for text in span.attributes.iter_mut().filter_map(sensitive) {
            *text = self.redact_text(text);
        }
    }

    /// Redacts a text. If the function panics, the text is not sent.
    fn redact_text(&self, text: &str) -> String {
        let redacted = catch_unwind(AssertUnwindSafe(|| (self.0)(text)));
        match redacted {
            Ok(redacted) => cut(&redacted, MAX_TEXT).to_owned(),
            Err(_) => "(left out: it could not be redacted)".to_owned(),
        }
    }
}

impl fmt::Debug for Redact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redact")
    }
}

/// Returns the content attributes of an ended call.
pub(crate) fn attributes(call: &ToolCall) -> impl Iterator<Item = KeyValue> {
    let title = cut(call.title(), MAX_TAKEN).to_owned();
    let texts = [
        (ARGUMENTS, arguments(call)),
        (RESULT, result(call)),
        (TITLE, Some(title).filter(|title| !title.is_empty())),
        (RULE, rule(call)),
    ];
    let attribute = |(key, text): (&str, Option<String>)| Some(long_text(key, text?));
    texts.into_iter().filter_map(attribute)
}

/// Returns the reason of an ending, cut to the length that is taken.
pub(crate) fn reason(reason: &str) -> String {
    cut(reason, MAX_TAKEN).to_owned()
}

fn sensitive(attribute: &mut KeyValue) -> Option<&mut String> {
    let is_sensitive = [ARGUMENTS, RESULT, TITLE, RULE].contains(&&*attribute.key);
    match &mut attribute.value {
        Some(AnyValue {
            value: Some(Value::StringValue(text)),
        }) if is_sensitive => Some(text),
        Some(_) | None => None,
    }
}

fn arguments(call: &ToolCall) -> Option<String> {
    let mut text = TruncatedText::default();
    match call.input()? {
        Input::Json(value) => text.json(value),
        Input::Text(given) => text.add(given.as_bytes()),
    }
    text.into_text()
}

fn rule(call: &ToolCall) -> Option<String> {
    match &call.decision()?.by {
        Judge::Rule(rule) => Some(cut(rule.as_str(), MAX_TAKEN).to_owned()),
        Judge::Person(_) | Judge::Unseen => None,
    }
}

/// Returns the output and the texts of the result, or else its structured value.
fn result(call: &ToolCall) -> Option<String> {
    let finish = call.finish()?;
    let mut text = TruncatedText::default();
    for piece in finish.output.pieces() {
        text.add(piece);
    }
    for content in &finish.result.content {
        if let Content::Text(given) = content {
            text.add(given.as_bytes());
        }
    }
    if let (true, Some(value)) = (text.0.is_empty(), &finish.result.structured) {
        text.json(value);
    }
    text.into_text()
}

/// The beginning of a text; the rest is never copied.
#[derive(Default)]
struct TruncatedText(Vec<u8>);

impl TruncatedText {
    fn add(&mut self, bytes: &[u8]) {
        let _full = self.write(bytes);
    }

    fn json(&mut self, value: &serde_json::Value) {
        let _full = serde_json::to_writer(self, value);
    }

    fn into_text(self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.0).into_owned();
        (!text.is_empty()).then_some(text)
    }
}

impl Write for TruncatedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(MAX_TAKEN - self.0.len());
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::span::failure;

    fn redacted(redact: &Redact, text: &str) -> String {
        let mut span = Span {
            attributes: vec![long_text(ARGUMENTS, text.to_owned())],
            status: Some(failure(text.to_owned())),
            ..Span::default()
        };
        redact.apply(&mut span);
        let status = span.status.unwrap().message;
        assert_eq!(
            sensitive(&mut span.attributes[0]),
            Some(&mut status.clone())
        );
        status
    }

    #[test]
    fn a_secret_across_the_cut_is_seen_whole() {
        let secret = "hunter2";
        let text = format!("{}{secret} and more", "x".repeat(MAX_TEXT - 3));
        let redact = Redact::with(move |text| text.replace(secret, "***"));
        assert_eq!(
            redacted(&redact, &text),
            format!("{}***", "x".repeat(MAX_TEXT - 3))
        );
    }

    #[test]
    fn what_cannot_be_redacted_is_not_sent() {
        let broken = Redact::with(|_| panic!("no"));
        assert_eq!(
            redacted(&broken, "secret"),
            "(left out: it could not be redacted)"
        );
    }

    #[test]
    fn only_the_beginning_of_a_long_text_is_taken() {
        let mut text = TruncatedText::default();
        text.json(&json!(["é".repeat(MAX_TAKEN)]));
        text.add(b"more");
        assert_eq!(text.0.len(), MAX_TAKEN);
        assert!(text.into_text().unwrap().starts_with("[\"éé"));
    }
}
