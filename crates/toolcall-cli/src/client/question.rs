//! A permission request, read as a question, and the answer to it.
//! It shows what the request has and no more; an option that was not offered is never chosen.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{
    Content, Decision, Effect, Input, Intent, Judge, Lifetime, Prepared, Question, QuestionId,
    Remembered, Rule, RuleName, ToolCall,
};
use toolcall_acp::meta;

use crate::approver::Chosen;

/// JSON-RPC leaves this code to programs.
const NOBODY: i32 = -32000;

/// A request that waits for its answer.
pub(super) struct Asked {
    /// Its id.
    pub(super) request: Value,
    pub(super) question: Arc<Question>,
    options: Vec<Choice>,
}

/// One of the request's options.
struct Choice {
    id: String,
    name: String,
    kind: String,
}

impl Choice {
    fn read(option: &Value) -> Self {
        let text = |key: &str| option[key].as_str().unwrap_or_default().to_owned();
        Self {
            id: text("optionId"),
            name: text("name"),
            kind: text("kind"),
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self.kind.as_str(), "allow_always" | "reject_always")
    }

    fn effect(&self) -> Effect {
        match self.kind.as_str() {
            "allow_once" | "allow_always" => Effect::Allow,
            _ => Effect::Deny,
        }
    }

    /// How long it holds is said by its name, to people.
    fn rule(&self) -> Rule {
        Rule {
            text: self.name.as_str().into(),
            lifetime: Lifetime::Session,
        }
    }

    fn decides(&self, question: &Question) -> Decision {
        let remembered = match self.is_kept() {
            true => Remembered::Kept(self.rule()),
            false => Remembered::Once,
        };
        Decision {
            question: Some(question.id.clone()),
            effect: self.effect(),
            by: Judge::Person(remembered),
        }
    }
}

impl Asked {
    /// Reads a request about this call.
    pub(super) fn read(request: &Value, call: &ToolCall) -> Self {
        let params = &request["params"];
        let options = params["options"].as_array().into_iter().flatten();
        let options: Vec<Choice> = options.map(Choice::read).collect();
        let kept = options.iter().filter(|option| option.is_kept());
        let question = Question {
            id: QuestionId::new(request["id"].to_string()),
            session: call.session().clone(),
            call: call.id().clone(),
            subject: Arc::new(subject(&params["toolCall"], call)),
            offers: kept.map(Choice::rule).collect(),
            // The agent does not say.
            because: RuleName::new(""),
        };
        Self {
            request: request["id"].clone(),
            question: Arc::new(question),
            options,
        }
    }

    /// What may be chosen for more than this once.
    pub(super) fn offers(&self) -> Vec<String> {
        let offers = self.kept().map(|option| option.name.clone());
        offers.collect()
    }

    fn kept(&self) -> impl Iterator<Item = &Choice> {
        self.options.iter().filter(|option| option.is_kept())
    }

    /// The answer, and what it decides.
    pub(super) fn answer(&self, chosen: &Chosen) -> (Value, Option<Decision>) {
        let once = |kind: &str| self.options.iter().find(|option| option.kind == kind);
        let (option, reason) = match chosen {
            Chosen::Yes => (once("allow_once"), None),
            Chosen::No { reason } => (once("reject_once"), reason.as_deref()),
            Chosen::Offer(place) => (self.kept().nth(*place), None),
            Chosen::Nobody(why) => return (self.unanswered(why), None),
        };
        let Some(option) = option else {
            return (self.cancelled(), None);
        };
        let outcome = json!({"outcome": "selected", "optionId": option.id});
        let mut result = json!({"outcome": outcome});
        if let Some(reason) = reason {
            result["_meta"] = json!({meta::REASON: reason});
        }
        (self.respond(&result), Some(option.decides(&self.question)))
    }

    /// The answer of a client that cancels the turn.
    pub(super) fn cancelled(&self) -> Value {
        self.respond(&json!({"outcome": {"outcome": "cancelled"}}))
    }

    /// There is no answer: to reject is for people, too.
    fn unanswered(&self, why: &str) -> Value {
        let error = json!({"code": NOBODY, "message": why});
        json!({"jsonrpc": "2.0", "id": self.request, "error": error})
    }

    fn respond(&self, result: &Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.request, "result": result})
    }
}

/// What would be done: the texts of the request, and the edits of the call it is about.
fn subject(told: &Value, call: &ToolCall) -> Prepared {
    let mut intent = Intent::new(call.kind(), call.title());
    let items = told["content"].as_array().into_iter().flatten();
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
