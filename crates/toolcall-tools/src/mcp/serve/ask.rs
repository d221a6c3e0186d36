//! Asks the MCP client for permission, and for what servers behind us want to know, as forms.
//! Only a choice that was offered is an answer; nothing else is ever a yes.

use std::sync::{Arc, OnceLock};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use rmcp::service::ElicitationMode;
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};
use toolcall::text::clean_line;
use toolcall::{
    Answer, Approver, BoxFuture, FormAnswer, FormQuestion, FormValues, Lifetime, Question, Rule,
};

use super::subject;

const NO_FORMS: &str = "this MCP client shows no forms";
/// What is longer cannot be looked at in a form.
const LONGEST_MESSAGE: usize = 64 * 1024;
const LONGEST_RULE: usize = 400;

/// Asks the person behind the client, once that one is known. Clones ask the same.
#[derive(Clone, Default)]
pub(super) struct Asker {
    client: Arc<OnceLock<Peer<RoleServer>>>,
}

impl Asker {
    /// There is one client, and this is it.
    pub(super) fn meet(&self, client: &Peer<RoleServer>) {
        let _known = self.client.set(client.clone());
    }

    /// What the client says to a form; why it says nothing, if it does not.
    async fn show(&self, message: String, schema: Value) -> Result<ElicitResult, String> {
        let client = self.client.get().ok_or(NO_FORMS)?;
        let modes = client.supported_elicitation_modes();
        if !modes.contains(&ElicitationMode::Form) {
            return Err(NO_FORMS.to_owned());
        }
        let requested_schema: ElicitationSchema =
            serde_json::from_value(schema).map_err(|error| format!("no such form: {error}"))?;
        let request = ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema,
        };
        let answer = client.create_elicitation(request).await;
        answer.map_err(|error| format!("the client could not be asked: {error}"))
    }

    async fn permission(&self, question: &Question) -> Answer {
        let message = subject::shown(&question.subject);
        if message.len() > LONGEST_MESSAGE {
            return Answer::unanswered("it is too long to be shown, so nobody could look at it");
        }
        let choices = choices(&question.offers);
        match self.show(message, schema(&choices)).await {
            Ok(answer) => read(&answer, &choices),
            Err(why) => Answer::unanswered(format!(
                "{why}, so nobody could be asked; allow it with a rule (`toolcall policy --help`)"
            )),
        }
    }

    async fn form(&self, question: &FormQuestion) -> FormAnswer {
        let form = &question.form;
        let message = format!("{} asks: {}", form.by(), form.message());
        match self.show(message, form.schema()).await {
            Err(why) => FormAnswer::declined_because(why),
            Ok(answer) => match (answer.action, answer.content) {
                (ElicitationAction::Accept, Some(Value::Object(values))) => {
                    FormAnswer::Accepted(FormValues::new(values))
                }
                (ElicitationAction::Accept, None) => FormAnswer::Accepted(FormValues::default()),
                (ElicitationAction::Decline, _) => FormAnswer::declined(),
                (ElicitationAction::Cancel, _) => FormAnswer::Cancelled,
                (_, _) => FormAnswer::declined_because("the client's answer is none"),
            },
        }
    }
}

impl Approver for Asker {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(self.permission(question))
    }

    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        Box::pin(self.form(question))
    }
}

/// What may be chosen: its id, what people read, and what it means.
type Choice = (String, String, Answer);

/// Once, always with the exact rule, and no. None is proposed: a client that fills in what is
/// proposed must not allow anything by that.
fn choices(offers: &[Rule]) -> Vec<Choice> {
    let once = (
        "allow-once".to_owned(),
        "Allow once".to_owned(),
        Answer::AllowOnce,
    );
    let always = offers.iter().enumerate().filter_map(|(place, rule)| {
        // A rule that cannot be read in full is not offered.
        let text = clean_line(&rule.text, LONGEST_RULE);
        let id = format!("allow-always-{}", place + 1);
        let title = format!("Always allow {}: {text}", lifetime(rule.lifetime));
        (text == *rule.text).then(|| (id, title, Answer::AllowAlways(rule.clone())))
    });
    let reject = ("reject".to_owned(), "Reject".to_owned(), Answer::reject());
    std::iter::once(once)
        .chain(always)
        .chain([reject])
        .collect()
}

fn lifetime(lifetime: Lifetime) -> &'static str {
    match lifetime {
        Lifetime::Session => "until this server ends",
        Lifetime::Project => "in this project",
        Lifetime::Everywhere => "everywhere",
    }
}

fn schema(choices: &[Choice]) -> Value {
    let options: Vec<Value> = choices
        .iter()
        .map(|(id, title, _)| json!({"const": id, "title": title}))
        .collect();
    json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "title": "May it?", "oneOf": options},
            "reason": {"type": "string", "title": "Why not", "description": "The model is told."},
        },
        "required": ["answer"],
    })
}

fn read(answer: &ElicitResult, choices: &[Choice]) -> Answer {
    let content = answer.content.as_ref().unwrap_or(&Value::Null);
    match answer.action {
        ElicitationAction::Decline => Answer::reject(),
        ElicitationAction::Cancel => Answer::Cancelled,
        ElicitationAction::Accept => {
            let chosen = content["answer"].as_str();
            let choice = choices.iter().find(|(id, _, _)| Some(&**id) == chosen);
            match (choice, content["reason"].as_str()) {
                (Some((_, _, Answer::RejectOnce { .. })), Some(reason)) => {
                    Answer::reject_because(reason)
                }
                (Some((_, _, answer)), _) => answer.clone(),
                (None, _) => Answer::unanswered("the client chose what was not offered"),
            }
        }
        _ => Answer::unanswered("the client's answer is not known"),
    }
}
