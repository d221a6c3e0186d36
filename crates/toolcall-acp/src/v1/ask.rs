//! A permission question on the wire of v1: `session/request_permission` and its answer.
//! Only a chosen option that was offered is an answer; nothing else is ever a yes.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use serde_json::value::to_raw_value;
use toolcall::text::clean_line;
use toolcall::{Answer, Input, Lifetime, Question, Rule};

use super::subject;
use super::update::{Locations, write_input};
use crate::codec::Ask;
use crate::meta;
use crate::peer::PeerError;
use crate::trace::TraceContext;
use crate::wire::REQUEST_CANCELLED;

/// Asks for permission.
pub(super) fn permission(question: &Question, trace: &TraceContext) -> Ask<Answer> {
    let options = options(&question.offers);
    let request = PermissionRequest {
        question,
        options: &options,
        trace,
    };
    Ask {
        method: "session/request_permission",
        params: to_raw_value(&request),
        read: Box::new(move |answer| read_answer(answer, &options)),
    }
}

/// What a person may choose.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Choice {
    option_id: String,
    name: String,
    kind: &'static str,
    #[serde(skip)]
    answer: Answer,
}

impl Choice {
    fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        kind: &'static str,
        answer: Answer,
    ) -> Self {
        Self {
            option_id: id.into(),
            name: name.into(),
            kind,
            answer,
        }
    }
}

/// Once and always, each way; "always" names the rule it would keep and for how long.
fn options(offers: &[Rule]) -> Vec<Choice> {
    let always_allow = offers.iter().enumerate().map(|(number, rule)| {
        let id = format!("allow-always-{}", number + 1);
        let answer = Answer::AllowAlways(rule.clone());
        Choice::new(id, label("Always allow", rule), "allow_always", answer)
    });
    let always_reject = offers.first().map(|rule| {
        let answer = Answer::RejectAlways {
            rule: rule.clone(),
            reason: None,
        };
        Choice::new(
            "reject-always",
            label("Always reject", rule),
            "reject_always",
            answer,
        )
    });
    let once = Choice::new("allow-once", "Allow once", "allow_once", Answer::AllowOnce);
    let reject = Choice::new("reject-once", "Reject", "reject_once", Answer::reject());
    std::iter::once(once)
        .chain(always_allow)
        .chain([reject])
        .chain(always_reject)
        .collect()
}

fn label(verb: &str, rule: &Rule) -> String {
    let text = clean_line(&rule.text, subject::LONGEST_LABEL);
    format!("{verb} {} {text}", lifetime(rule.lifetime))
}

fn lifetime(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Session => "in this session:",
        Lifetime::Project => "in this project:",
        Lifetime::Everywhere => "everywhere:",
    }
}

fn read_answer(response: Result<Value, PeerError>, options: &[Choice]) -> Answer {
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
            .find(|choice| Some(&*choice.option_id) == chosen)
        {
            Some(choice) => with_reason(choice.answer.clone(), reason_of(&response)),
            None => unknown("an option that was not offered", chosen),
        },
        other => unknown("an outcome that is not known", other),
    }
}

fn unknown(what: &str, said: Option<&str>) -> Answer {
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

fn with_reason(answer: Answer, said: Option<Arc<str>>) -> Answer {
    match answer {
        Answer::RejectOnce { reason } => Answer::RejectOnce {
            reason: said.or(reason),
        },
        Answer::RejectAlways { rule, reason } => Answer::RejectAlways {
            rule,
            reason: said.or(reason),
        },
        Answer::AllowOnce
        | Answer::AllowAlways(_)
        | Answer::Cancelled
        | Answer::Unanswered { .. } => answer,
    }
}

/// The request: the call complete once more, and what may be chosen.
struct PermissionRequest<'a> {
    question: &'a Question,
    options: &'a [Choice],
    trace: &'a TraceContext,
}

impl Serialize for PermissionRequest<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("sessionId", self.question.session.as_str())?;
        map.serialize_entry("toolCall", &Subject(self.question))?;
        map.serialize_entry("options", self.options)?;
        if !self.trace.entries().is_empty() {
            map.serialize_entry("_meta", self.trace)?;
        }
        map.end()
    }
}

/// The call as it is asked about.
struct Subject<'a>(&'a Question);

impl Serialize for Subject<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let prepared = &self.0.subject;
        let intent = &prepared.intent;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("toolCallId", self.0.call.as_str())?;
        map.serialize_entry("title", &intent.title)?;
        map.serialize_entry("name", &*intent.tool.name)?;
        map.serialize_entry("kind", intent.kind.as_str())?;
        map.serialize_entry("status", "pending")?;
        map.serialize_entry("content", &subject::shown(self.0))?;
        map.serialize_entry("locations", &Locations(&intent.locations))?;
        write_input(&mut map, &Input::Json(prepared.input.clone()))?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn offers() -> Vec<Rule> {
        let rule = |lifetime| Rule {
            text: "\"edit_file\" writing \"/w/a\"".into(),
            lifetime,
        };
        vec![rule(Lifetime::Session), rule(Lifetime::Project)]
    }

    fn check(response: Value, expected: Expect) {
        let answer = read_answer(Ok(response), &options(&offers()));
        expected.assert_eq(&format!("{answer:?}"));
    }

    fn selected(option: &str) -> Value {
        json!({"outcome": {"outcome": "selected", "optionId": option}})
    }

    #[test]
    fn all_four_kinds_are_offered_and_always_says_what_it_keeps() {
        let shown: Vec<_> = options(&offers())
            .into_iter()
            .map(|choice| format!("{} {} {}", choice.option_id, choice.kind, choice.name))
            .collect();
        expect![[r#"
            allow-once allow_once Allow once
            allow-always-1 allow_always Always allow in this session: "edit_file" writing "/w/a"
            allow-always-2 allow_always Always allow in this project: "edit_file" writing "/w/a"
            reject-once reject_once Reject
            reject-always reject_always Always reject in this session: "edit_file" writing "/w/a""#]]
        .assert_eq(&shown.join("\n"));
        let kinds: Vec<_> = options(&[]).into_iter().map(|choice| choice.kind).collect();
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
