//! Encodes a permission question as `session/request_permission`, and decodes its answer.
//! Only a chosen option that was offered is an answer; nothing else is ever a yes.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use serde_json::value::to_raw_value;
use toolcall::text::clean_line;
use toolcall::{Answer, Input, Question, QuestionOption};

use super::question;
use super::update::{Locations, write_input};
use crate::codec::OutgoingRequest;
use crate::meta;
use crate::peer::PeerError;
use crate::trace::TraceContext;
use crate::wire::REQUEST_CANCELLED;

/// Builds the request that asks the user for permission.
pub(super) fn request(question: &Arc<Question>, trace: &TraceContext) -> OutgoingRequest<Answer> {
    let request = PermissionRequest {
        question,
        options: &permission_options(question),
        trace,
    };
    let params = to_raw_value(&request);
    let question = question.clone();
    OutgoingRequest {
        method: "session/request_permission",
        params,
        read: Box::new(move |answer| read_answer(answer, &permission_options(&question))),
    }
}

/// An option of the request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption<'a> {
    option_id: String,
    name: String,
    kind: &'static str,
    #[serde(skip)]
    option: QuestionOption<'a>,
}

impl<'a> PermissionOption<'a> {
    fn new(option: QuestionOption<'a>) -> Self {
        let (option_id, kind) = match option {
            QuestionOption::AllowOnce => ("allow-once".to_owned(), "allow_once"),
            QuestionOption::AllowAlways { number, .. } => {
                (format!("allow-always-{number}"), "allow_always")
            }
            QuestionOption::RejectOnce => ("reject-once".to_owned(), "reject_once"),
            QuestionOption::RejectAlways(_) => ("reject-always".to_owned(), "reject_always"),
        };
        Self {
            option_id,
            name: option.label(|rule| clean_line(rule, question::MAX_LABEL_LENGTH)),
            kind,
            option,
        }
    }
}

fn permission_options(question: &Question) -> Vec<PermissionOption<'_>> {
    question
        .options()
        .into_iter()
        .map(PermissionOption::new)
        .collect()
}

fn read_answer(response: Result<Value, PeerError>, options: &[PermissionOption<'_>]) -> Answer {
    let response = match response {
        Ok(response) => response,
        Err(error) => return not_answered(&error),
    };
    let outcome = &response["outcome"];
    let chosen = outcome["optionId"].as_str();
    match outcome["outcome"].as_str() {
        Some("cancelled") => Answer::Cancelled,
        Some("selected") => match options
            .iter()
            .find(|option| Some(&*option.option_id) == chosen)
        {
            Some(option) => option.option.answer(reason_of(&response)),
            None => unknown_answer("an option that was not offered", chosen),
        },
        other => unknown_answer("an outcome that is not known", other),
    }
}

fn unknown_answer(what: &str, said: Option<&str>) -> Answer {
    let said = clean_line(said.unwrap_or("nothing"), 60);
    Answer::unanswered(format!("the client answered with {what} (`{said}`)"))
}

fn not_answered(error: &PeerError) -> Answer {
    match error {
        PeerError::Answered(error) if error.code == REQUEST_CANCELLED => Answer::Cancelled,
        PeerError::Answered(_) | PeerError::Gone | PeerError::Malformed => {
            let error = clean_line(&error.to_string(), 300);
            Answer::unanswered(format!("permission could not be asked for: {error}"))
        }
    }
}

fn reason_of(response: &Value) -> Option<Arc<str>> {
    let places = [&response["_meta"], &response["outcome"]["_meta"]];
    let found = places
        .iter()
        .find_map(|place| place.get(meta::REASON)?.as_str());
    found.map(Arc::from)
}

/// The parameters of the request: the whole call again, and the options.
struct PermissionRequest<'a> {
    question: &'a Question,
    options: &'a [PermissionOption<'a>],
    trace: &'a TraceContext,
}

impl Serialize for PermissionRequest<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sessionId", self.question.session.as_str())?;
        map.serialize_entry("toolCall", &QuestionCall(self.question))?;
        map.serialize_entry("options", self.options)?;
        if !self.trace.entries().is_empty() {
            map.serialize_entry("_meta", self.trace)?;
        }
        map.end()
    }
}

/// The call that the question is about.
struct QuestionCall<'a>(&'a Question);

impl Serialize for QuestionCall<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let prepared = &self.0.subject;
        let intent = &prepared.intent;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("toolCallId", self.0.call.as_str())?;
        map.serialize_entry("title", &intent.title)?;
        map.serialize_entry("name", &*intent.tool.name)?;
        map.serialize_entry("kind", intent.kind.as_str())?;
        map.serialize_entry("status", "pending")?;
        map.serialize_entry("content", &question::shown(self.0))?;
        map.serialize_entry("locations", &Locations(&intent.locations))?;
        write_input(&mut map, &Input::Json(prepared.input.clone()))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;
    use toolcall::{
        CallId, Intent, Kind, Lifetime, Prepared, QuestionId, Rule, RuleName, SessionId,
    };

    use super::*;

    fn question(offers: Vec<Rule>) -> Question {
        let subject = Prepared {
            input: Arc::new(Value::Null),
            intent: Intent::new(Kind::Edit, "Edit a"),
        };
        Question {
            id: QuestionId::new("q"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            subject: Arc::new(subject),
            offers,
            because: RuleName::new("a test"),
        }
    }

    fn offers() -> Vec<Rule> {
        let rule = |lifetime| Rule {
            text: "\"edit_file\" writing \"/w/a\"".into(),
            lifetime,
        };
        vec![rule(Lifetime::Session), rule(Lifetime::Project)]
    }

    fn check(response: Value, expected: Expect) {
        let answer = read_answer(Ok(response), &permission_options(&question(offers())));
        expected.assert_eq(&format!("{answer:?}"));
    }

    fn selected(option: &str) -> Value {
        json!({"outcome": {"outcome": "selected", "optionId": option}})
    }

    #[test]
    fn all_four_kinds_are_offered_and_always_says_what_it_keeps() {
        let shown: Vec<_> = permission_options(&question(offers()))
            .into_iter()
            .map(|option| format!("{} {} {}", option.option_id, option.kind, option.name))
            .collect();
        expect![[r#"
            allow-once allow_once Allow once
            allow-always-1 allow_always Always allow in this session: "edit_file" writing "/w/a"
            allow-always-2 allow_always Always allow in this project: "edit_file" writing "/w/a"
            reject-once reject_once Reject
            reject-always reject_always Always reject in this session: "edit_file" writing "/w/a""#]]
        .assert_eq(&shown.join("\n"));
        let question = question(Vec::new());
        let kinds: Vec<_> = permission_options(&question)
            .iter()
            .map(|option| option.kind)
            .collect();
        assert_eq!(kinds, ["allow_once", "reject_once"]);
    }

    #[test]
    fn answers_are_read_by_the_option_that_was_chosen() {
        check(selected("allow-once"), expect!["AllowOnce"]);
        check(
            selected("allow-always-2"),
            expect![[
                r#"AllowAlways(Rule { text: "\"edit_file\" writing \"/w/a\"", lifetime: Project })"#
            ]],
        );
        check(
            selected("reject-once"),
            expect!["RejectOnce { reason: None }"],
        );
        check(
            json!({"outcome": {"outcome": "cancelled"}}),
            expect!["Cancelled"],
        );
    }

    #[test]
    fn a_reason_is_read_where_clients_put_it() {
        let mut response = selected("reject-once");
        response["_meta"] = json!({"toolcall/reason": "not on a Friday"});
        check(
            response,
            expect![[r#"RejectOnce { reason: Some("not on a Friday") }"#]],
        );
    }

    #[test]
    fn nothing_else_is_a_yes() {
        check(
            selected("allow_once"),
            expect![[
                r#"Unanswered { reason: "the client answered with an option that was not offered (`allow_once`)" }"#
            ]],
        );
        check(
            json!({"outcome": {"outcome": "allowed", "optionId": "allow-once"}}),
            expect![[
                r#"Unanswered { reason: "the client answered with an outcome that is not known (`allowed`)" }"#
            ]],
        );
        check(
            json!({"outcome": "selected", "optionId": "allow-once"}),
            expect![[
                r#"Unanswered { reason: "the client answered with an outcome that is not known (`nothing`)" }"#
            ]],
        );
        check(
            json!(null),
            expect![[
                r#"Unanswered { reason: "the client answered with an outcome that is not known (`nothing`)" }"#
            ]],
        );
        check(
            json!(true),
            expect![[
                r#"Unanswered { reason: "the client answered with an outcome that is not known (`nothing`)" }"#
            ]],
        );
    }
}
