//! Encodes a form question as `elicitation/create`, and decodes its answer.
//! Only a response with a known action is an answer; values are neither stored nor logged.

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use serde_json::value::to_raw_value;
use toolcall::text::clean_line;
use toolcall::{Form, FormAnswer, FormQuestion, FormValues};

use crate::codec::OutgoingRequest;
use crate::peer::PeerError;
use crate::trace::TraceContext;
use crate::wire::REQUEST_CANCELLED;

/// Builds the request that shows a form to the user.
pub(super) fn form(question: &FormQuestion, trace: &TraceContext) -> OutgoingRequest<FormAnswer> {
    OutgoingRequest {
        method: "elicitation/create",
        params: to_raw_value(&FormRequest { question, trace }),
        read: Box::new(read_answer),
    }
}

/// The parameters of the request. The message says who asks, because there is no other field for it.
struct FormRequest<'a> {
    question: &'a FormQuestion,
    trace: &'a TraceContext,
}

impl Serialize for FormRequest<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FormQuestion {
            session,
            call,
            form,
            id: _,
        } = self.question;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("mode", "form")?;
        map.serialize_entry("sessionId", session.as_str())?;
        map.serialize_entry("toolCallId", call.as_str())?;
        map.serialize_entry(
            "message",
            &format!("{} asks: {}", form.by(), form.message()),
        )?;
        map.serialize_entry("requestedSchema", &schema(form))?;
        if !self.trace.entries().is_empty() {
            map.serialize_entry("_meta", self.trace)?;
        }
        map.end()
    }
}

/// Returns the schema of a form without formats that v1 does not know: a client may refuse the whole
/// form because of one.
fn schema(form: &Form) -> Value {
    let mut schema = form.schema();
    let properties = schema["properties"].as_object_mut().into_iter().flatten();
    for (_, field) in properties {
        let format = field.get("format").and_then(Value::as_str);
        let is_known = matches!(format, Some("email" | "uri" | "date" | "date-time"));
        if let (false, Some(field)) = (is_known, field.as_object_mut()) {
            field.remove("format");
        }
    }
    schema
}

fn read_answer(response: Result<Value, PeerError>) -> FormAnswer {
    let response = match response {
        Ok(response) => response,
        Err(error) => return not_answered(&error),
    };
    match (response["action"].as_str(), &response["content"]) {
        (Some("accept"), Value::Object(values)) => {
            FormAnswer::Accepted(FormValues::new(values.clone()))
        }
        (Some("accept"), Value::Null) => FormAnswer::Accepted(FormValues::default()),
        (Some("accept"), _) => {
            FormAnswer::declined_because("the client filled the form in with what are no values")
        }
        (Some("decline"), _) => FormAnswer::declined(),
        (Some("cancel"), _) => FormAnswer::Cancelled,
        (other, _) => {
            let said = clean_line(other.unwrap_or("nothing"), 60);
            FormAnswer::declined_because(format!(
                "the client answered with an action that is not known (`{said}`)"
            ))
        }
    }
}

fn not_answered(error: &PeerError) -> FormAnswer {
    match error {
        PeerError::Answered(error) if error.code == REQUEST_CANCELLED => FormAnswer::Cancelled,
        PeerError::Answered(_) | PeerError::Gone | PeerError::Malformed => {
            let error = clean_line(&error.to_string(), 300);
            FormAnswer::declined_because(format!("the form could not be shown: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(response: Value, expected: Expect) {
        expected.assert_eq(&format!("{:?}", read_answer(Ok(response))));
    }

    #[test]
    fn answers_are_read_by_their_action() {
        check(
            json!({"action": "accept", "content": {"city": "Rome"}}),
            expect![[r#"Accepted({"city"})"#]],
        );
        check(json!({"action": "accept"}), expect!["Accepted({})"]);
        check(
            json!({"action": "decline", "content": {"city": "Rome"}}),
            expect!["Declined { reason: None }"],
        );
        check(json!({"action": "cancel"}), expect!["Cancelled"]);
    }

    #[test]
    fn nothing_else_is_an_answer() {
        check(
            json!({"action": "accept", "content": "Rome"}),
            expect![[
                r#"Declined { reason: Some("the client filled the form in with what are no values") }"#
            ]],
        );
        check(
            json!({"action": "yes", "content": {"city": "Rome"}}),
            expect![[
                r#"Declined { reason: Some("the client answered with an action that is not known (`yes`)") }"#
            ]],
        );
        check(
            json!(null),
            expect![[
                r#"Declined { reason: Some("the client answered with an action that is not known (`nothing`)") }"#
            ]],
        );
    }

    #[test]
    fn a_format_that_version_1_does_not_know_is_left_out() {
        let asked = json!({"properties": {
            "mail": {"type": "string", "format": "email"},
            "code": {"type": "string", "format": "postcode"},
        }});
        let form = Form::read("server", "Please", &asked).expect("a form");
        let properties = &schema(&form)["properties"];
        assert_eq!(properties["mail"]["format"], "email");
        assert_eq!(properties["code"], json!({"type": "string"}));
    }
}
