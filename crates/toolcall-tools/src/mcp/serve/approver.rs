//! Asks the user behind an MCP client, with elicitation forms: for permission, and on behalf of other MCP servers.
//! Only an offered choice counts as an answer; nothing else is ever a yes.

use std::sync::{Arc, OnceLock};

use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use rmcp::service::ElicitationMode;
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};
use toolcall::text::clean_line;
use toolcall::{
    Answer, Approver, BoxFuture, FormAnswer, FormQuestion, FormValues, Question, QuestionOption,
    Rule,
};

use super::subject;

const NO_FORMS: &str = "this MCP client shows no forms";
/// A longer question is not asked, because the user could not read it in a form.
const LONGEST_MESSAGE: usize = 64 * 1024;
const LONGEST_RULE: usize = 400;

/// Asks the user of the MCP client. Clones share the client.
#[derive(Clone, Default)]
pub(super) struct FormApprover {
    client: Arc<OnceLock<Peer<RoleServer>>>,
}

impl FormApprover {
    /// Sets the client to ask. Later calls are ignored: there is only one client.
    pub(super) fn set_client(&self, client: &Peer<RoleServer>) {
        let _known = self.client.set(client.clone());
    }

    /// Sends a form to the client and returns the answer.
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
        let message = subject::question_text(question);
        if message.len() > LONGEST_MESSAGE {
            return Answer::unanswered("it is too long to be shown, so nobody could look at it");
        }
        let choices = choices(question);
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

impl Approver for FormApprover {
    fn ask<'a>(&'a self, question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(self.permission(question))
    }

    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        Box::pin(self.form(question))
    }
}

/// A choice in the form: its id, its label, and the option it stands for.
type FormChoice<'a> = (String, String, QuestionOption<'a>);

/// Returns the choices: allow once, allow always with each readable rule, reject. The form has no default, so
/// that a client that accepts defaults allows nothing.
fn choices(question: &Question) -> Vec<FormChoice<'_>> {
    question.options().into_iter().filter_map(choice).collect()
}

fn choice(option: QuestionOption<'_>) -> Option<FormChoice<'_>> {
    let id = match option {
        QuestionOption::AllowOnce => "allow-once".to_owned(),
        QuestionOption::AllowAlways { number, rule } if is_readable(rule) => {
            format!("allow-always-{number}")
        }
        QuestionOption::RejectOnce => "reject".to_owned(),
        QuestionOption::AllowAlways { .. } | QuestionOption::RejectAlways(_) => return None,
    };
    Some((id, option.label(rule_text), option))
}

/// Whether the form shows the rule in full; otherwise it is not offered.
fn is_readable(rule: &Rule) -> bool {
    rule_text(&rule.text) == *rule.text
}

fn rule_text(text: &str) -> String {
    clean_line(text, LONGEST_RULE)
}

fn schema(choices: &[FormChoice<'_>]) -> Value {
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

fn read(answer: &ElicitResult, choices: &[FormChoice<'_>]) -> Answer {
    let content = answer.content.as_ref().unwrap_or(&Value::Null);
    match answer.action {
        ElicitationAction::Decline => Answer::reject(),
        ElicitationAction::Cancel => Answer::Cancelled,
        ElicitationAction::Accept => {
            let chosen = content["answer"].as_str();
            let choice = choices.iter().find(|(id, _, _)| Some(&**id) == chosen);
            match choice {
                Some((_, _, option)) => option.answer(content["reason"].as_str().map(Arc::from)),
                None => Answer::unanswered("the client chose what was not offered"),
            }
        }
        _ => Answer::unanswered("the client's answer is not known"),
    }
}
