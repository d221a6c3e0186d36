//! Forms of servers: the running call carries them to the user, and nothing else answers them.
//! No form asks for a secret, and no URL is opened.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Value, json};
use toolcall::{
    AllowAll, Answer, Approver, BoxFuture, FormAnswer, FormQuestion, FormValues, Question,
};

use super::fake::{FakeServer, settings, tool, with_engine};

/// Fills in every form with the same value, and records the forms.
#[derive(Clone, Default)]
struct ScriptedUser {
    seen: Arc<Mutex<Vec<String>>>,
}

impl Approver for ScriptedUser {
    fn ask<'a>(&'a self, _question: &'a Arc<Question>) -> BoxFuture<'a, Answer> {
        Box::pin(async { Answer::reject() })
    }

    fn fill<'a>(&'a self, question: &'a Arc<FormQuestion>) -> BoxFuture<'a, FormAnswer> {
        let form = &question.form;
        self.seen
            .lock()
            .push(format!("{}: {}", form.by(), form.message()));
        let values = form
            .fields()
            .iter()
            .map(|field| (field.name.to_string(), json!("Ada")));
        let answer = FormAnswer::Accepted(FormValues::new(values.collect()));
        Box::pin(std::future::ready(answer))
    }
}

/// Returns a server that sends this form before it answers, and answers with the user's reply.
fn asking(params: Value) -> FakeServer {
    FakeServer::new(move |_, mut connection| {
        let params = params.clone();
        async move {
            connection.begin(json!([tool("work")])).await;
            let call = connection.call().await;
            let request = json!({"jsonrpc": "2.0", "id": "e", "method": "elicitation/create", "params": params});
            connection.send(request).await;
            let answer = connection.receive().await.expect("an answer");
            connection
                .answer_text(&call, &answer["result"].to_string())
                .await;
            connection.echo().await;
        }
    })
}

fn form(field: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": "string"}}});
    json!({"mode": "form", "message": "Who are you?", "requestedSchema": schema})
}

/// Returns the reply that the server got, and the forms that the user saw.
async fn elicit(params: Value) -> (String, Vec<String>) {
    let (fake, user) = (asking(params), ScriptedUser::default());
    let approver = user.clone();
    let session = with_engine(vec![(settings("fake"), fake)], |engine| {
        engine.policy(AllowAll).approver(approver)
    });
    session.servers.start();
    session.servers.settled().await;
    let said = session.result_text("work").await;
    let seen = user.seen.lock().clone();
    (said, seen)
}

#[tokio::test]
async fn a_form_is_carried_to_the_user_and_back() {
    let (said, seen) = elicit(form("name")).await;
    assert_eq!(seen, ["fake: Who are you?"]);
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(
        answer,
        json!({"action": "accept", "content": {"name": "Ada"}})
    );
}

#[tokio::test]
async fn no_form_for_a_secret_or_a_url_reaches_the_user() {
    let url = json!({"mode": "url", "message": "Open", "url": "https://example.com", "elicitationId": "1"});
    for params in [form("password"), form("api_key"), url] {
        let (said, seen) = elicit(params).await;
        let answer: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((&answer["action"], seen), (&json!("decline"), Vec::new()));
    }
}
