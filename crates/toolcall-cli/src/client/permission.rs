//! Parses a permission request into a question, and encodes the answer.
//! It never chooses an option that was not offered.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{
    Content, Decision, Effect, Input, Intent, Judge, Lifetime, Prepared, Question, QuestionId,
    Remembered, Rule, RuleName, ToolCall,
};
use toolcall_acp::meta;

use crate::approver::UserChoice;

/// An error code that JSON-RPC leaves to applications.
const UNANSWERED: i32 = -32000;

/// A permission request that waits for its answer.
pub(super) struct PermissionRequest {
    pub(super) id: Value,
    pub(super) question: Arc<Question>,
    options: Vec<PermissionOption>,
}

/// One of the request's options.
struct PermissionOption {
    id: String,
    name: String,
    kind: String,
}

impl PermissionOption {
    fn parse(option: &Value) -> Self {
        let text = |key: &str| option[key].as_str().unwrap_or_default().to_owned();
        Self {
            id: text("optionId"),
            name: text("name"),
            kind: text("kind"),
        }
    }

    fn is_always(&self) -> bool {
        matches!(self.kind.as_str(), "allow_always" | "reject_always")
    }

    fn effect(&self) -> Effect {
        match self.kind.as_str() {
            "allow_once" | "allow_always" => Effect::Allow,
            _ => Effect::Deny,
        }
    }

    /// The name tells the user how long the rule lasts; the client does not know.
    fn rule(&self) -> Rule {
        Rule {
            text: self.name.as_str().into(),
            lifetime: Lifetime::Session,
        }
    }

    fn decision(&self, question: &Question) -> Decision {
        let remembered = if self.is_always() {
            Remembered::Kept(self.rule())
        } else {
            Remembered::Once
        };
        Decision {
            question: Some(question.id.clone()),
            effect: self.effect(),
            by: Judge::Person(remembered),
        }
    }
}

impl PermissionRequest {
    /// Parses a request about this call.
    pub(super) fn parse(request: &Value, call: &ToolCall) -> Self {
        let params = &request["params"];
        let options = params["options"].as_array().into_iter().flatten();
        let options: Vec<PermissionOption> = options.map(PermissionOption::parse).collect();
        let always = options.iter().filter(|option| option.is_always());
        let question = Question {
            id: QuestionId::new(request["id"].to_string()),
            session: call.session().clone(),
            call: call.id().clone(),
            subject: Arc::new(subject(&params["toolCall"], call)),
            offers: always.map(PermissionOption::rule).collect(),
            // The agent does not send the rule.
            because: RuleName::new(""),
        };
        Self {
            id: request["id"].clone(),
            question: Arc::new(question),
            options,
        }
    }

    /// Returns the names of the options that are remembered.
    pub(super) fn offers(&self) -> Vec<String> {
        let offers = self.always_options().map(|option| option.name.clone());
        offers.collect()
    }

    fn always_options(&self) -> impl Iterator<Item = &PermissionOption> {
        self.options.iter().filter(|option| option.is_always())
    }

    /// Returns the response, and the decision if there is one.
    pub(super) fn answer(&self, choice: &UserChoice) -> (Value, Option<Decision>) {
        let once = |kind: &str| self.options.iter().find(|option| option.kind == kind);
        let (option, reason) = match choice {
            UserChoice::Yes => (once("allow_once"), None),
            UserChoice::No { reason } => (once("reject_once"), reason.as_deref()),
            UserChoice::Offer(index) => (self.always_options().nth(*index), None),
            UserChoice::Unanswered(why) => return (self.unanswered(why), None),
        };
        let Some(option) = option else {
            return (self.cancelled(), None);
        };
        let outcome = json!({"outcome": "selected", "optionId": option.id});
        let mut result = json!({"outcome": outcome});
        if let Some(reason) = reason {
            result["_meta"] = json!({meta::REASON: reason});
        }
        (self.respond(&result), Some(option.decision(&self.question)))
    }

    /// Returns the response of a client that cancels the turn.
    pub(super) fn cancelled(&self) -> Value {
        self.respond(&json!({"outcome": {"outcome": "cancelled"}}))
    }

    /// Returns an error: without a user there is nobody to reject the call either.
    fn unanswered(&self, why: &str) -> Value {
        let error = json!({"code": UNANSWERED, "message": why});
        json!({"jsonrpc": "2.0", "id": self.id, "error": error})
    }

    fn respond(&self, result: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.id, "result": result})
    }
}

/// Returns the texts of the request, and the edits of the call it is about.
fn subject(update: &Value, call: &ToolCall) -> Prepared {
    let mut intent = Intent::new(call.kind(), call.title());
    let items = update["content"].as_array().into_iter().flatten();
    let texts = items.filter_map(|item| item["content"]["text"].as_str());
    intent.preview.extend(texts.map(Content::text));
    let edits = call.preview().iter();
    let edits = edits.filter(|content| content.as_edit().is_some());
    intent.preview.extend(edits.cloned());
    let input = match call.input() {
        Some(Input::Json(input)) => input.clone(),
        Some(Input::Text(text)) => Arc::new(Value::from(&**text)),
        None => Arc::new(Value::Null),
    };
    Prepared { input, intent }
}
