//! Golden tests of forms: filled in, declined, not shown, withdrawn.
//! The call stays in progress whatever the answer is.

use serde_json::{Value, json};
use toolcall::*;

use crate::golden::harness::{ClientReplies, Story};
use crate::golden::script::{cancel, silent};
use crate::golden::tools::{call, tool, tools};

/// Creates a tool whose server asks for the destination and the means of travel.
fn booking() -> CustomTool {
    tool("book", |_, scope| async move {
        scope.progress(Progress::at(1.0).of(2.0).saying("looking for trains"));
        let schema = json!({
            "type": "object",
            "properties": {
                "to": {"type": "string", "title": "Destination", "minLength": 2},
                "seat": {"type": "string", "oneOf": [
                    {"const": "w", "title": "Window"}, {"const": "a", "title": "Aisle"}]},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["bike", "dog"]}},
                "people": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1},
            },
            "required": ["to"],
        });
        let form = Form::read("trains", "Where do you want to go?", &schema);
        let form = form.map_err(|error| ToolError::new(error.to_string()))?;
        match scope.elicit(form).await {
            FormAnswer::Accepted(values) => {
                let to = values.into_map()["to"].clone();
                Ok(format!("booked to {to}"))
            }
            FormAnswer::Declined { .. } => Ok("booked nothing".to_owned()),
            FormAnswer::Cancelled => Err(ToolError::new("the form was put aside")),
        }
    })
}

fn shows_form(line: &Value) -> bool {
    line["method"] == "elicitation/create"
}

fn story() -> Story {
    Story::new(tools([booking()])).engine(|engine| engine.policy(AllowAll))
}

async fn check_answer(answer: Value, name: &str) {
    let client = move |line: &Value, out: &mut ClientReplies| {
        if shows_form(line) {
            out.answer(line, answer.clone());
        }
    };
    let story = story().offering(json!({"elicitation": {"form": {}}}));
    let wire = story.play(client, |prompt| async move {
        prompt.call(call("book")).await;
    });
    wire.await.check(name);
}

#[tokio::test(start_paused = true)]
async fn a_form_is_filled_in() {
    let content = json!({"to": "Rome", "seat": "w", "extras": ["dog"], "people": 2});
    check_answer(json!({"action": "accept", "content": content}), "form").await;
}

#[tokio::test(start_paused = true)]
async fn a_form_is_declined() {
    check_answer(json!({"action": "decline"}), "form_declined").await;
}

#[tokio::test(start_paused = true)]
async fn a_form_filled_in_wrongly_is_declined() {
    let content = json!({"to": "R", "seat": "x"});
    check_answer(
        json!({"action": "accept", "content": content}),
        "form_unfit",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_shows_no_forms_is_not_asked() {
    let story = story().offering(json!({"elicitation": {"url": {}}}));
    let wire = story.play(silent, |prompt| async move {
        prompt.call(call("book")).await;
    });
    wire.await.check("form_not_shown");
}

#[tokio::test(start_paused = true)]
async fn a_form_is_withdrawn_when_the_turn_is_cancelled() {
    let client = |line: &Value, out: &mut ClientReplies| {
        if shows_form(line) {
            cancel(out);
        }
    };
    let story = story().offering(json!({"elicitation": {"form": {}}}));
    let wire = story.play(client, |prompt| async move {
        prompt.call(call("book")).await;
    });
    wire.await.check("form_withdrawn");
}
