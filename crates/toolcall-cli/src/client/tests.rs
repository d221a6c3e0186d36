//! The client against a scripted agent.
//! Every line that the client sends is compared.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};

use super::*;
use crate::approver::{AnswerMode, Commentary};
use crate::screen;

/// Checks what a client shows and sends when it gets these messages before the answer to its prompt.
async fn check(answer_mode: AnswerMode, messages: Vec<Value>, expected: Expect) {
    let (near, far) = duplex(64 * 1024);
    let agent = tokio::spawn(async move {
        let (reader, mut writer) = split(near);
        let mut lines = BufReader::new(reader).lines();
        let answer =
            |id: u64| json!({"id": id, "result": {"sessionId": "s", "stopReason": "end_turn"}});
        let mut replies = vec![vec![answer(0)], vec![answer(1)], messages].into_iter();
        let mut received = Vec::new();
        while let Some(line) = lines.next_line().await.expect("a pipe") {
            received.push(line);
            for message in replies.next().unwrap_or_else(|| vec![answer(2)]) {
                let line = format!("{message}\n");
                writer.write_all(line.as_bytes()).await.expect("a pipe");
            }
        }
        received
    });
    let (screen, output) = screen::open().expect("a screen");
    let task = ClientTask {
        cwd: "/w".into(),
        prompt: "Go on.".to_owned(),
        should_stop: |call| call.output().text().contains("enough"),
        output_mode: CommandOutputMode::Terminal,
        pace: Pace::Immediate,
    };
    let approver = ScreenApprover::new(
        answer_mode,
        Commentary::Hidden,
        screen.clone(),
        Pace::Immediate,
    );
    let mut seen = RecordedEvents::default();
    let client = Client::new(far, task, approver, &mut seen, screen).expect("a client");
    assert_eq!(client.run().await.expect("an answer"), ClientExit::Answered);
    let sent = agent.await.expect("an agent");
    output.finish().expect("a screen");
    let log = [&seen.0[..], &sent[3..]].concat().join("\n") + "\n";
    expected.assert_eq(&log);
}

/// A viewer that records the names of events.
#[derive(Default)]
struct RecordedEvents(Vec<String>);

impl Viewer for &mut RecordedEvents {
    fn event(&mut self, call: &ToolCall, event: &Event) {
        self.0.push(format!("{} {}", event.name(), call.title()));
    }

    fn message(&mut self, text: &str) {
        self.0.push(format!("said {text}"));
    }

    fn plan(&mut self, plan: &Plan) {
        self.0.push(format!("planned {}", plan.entries.len()));
    }
}

fn update(update: Value) -> Value {
    json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
}

fn announced() -> Value {
    update(
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "kind": "execute",
        "status": "pending", "rawInput": {"command": "ls"}}),
    )
}

fn question() -> Value {
    let kinds = ["allow_once", "allow_always", "reject_once", "reject_always"];
    let options =
        kinds.map(|kind| json!({"optionId": format!("my-{kind}"), "name": kind, "kind": kind}));
    let call = json!({"toolCallId": "c", "title": "ls", "status": "pending"});
    json!({"id": "q", "method": "session/request_permission",
        "params": {"sessionId": "s", "toolCall": call, "options": options}})
}

#[tokio::test]
async fn a_yes_is_the_option_that_allows_once() {
    check(
        AnswerMode::Yes("for a test"),
        vec![announced(), question()],
        expect![[r#"
            announced ls
            asked ls
            decided ls
            {"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"selected","optionId":"my-allow_once"}}}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn without_a_user_nothing_is_chosen() {
    check(
        AnswerMode::No("nobody is here"),
        vec![announced(), question()],
        expect![[r#"
            announced ls
            asked ls
            {"jsonrpc":"2.0","id":"q","error":{"code":-32000,"message":"nobody is here"}}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_question_without_a_fitting_option_is_not_answered_with_another() {
    let mut question = question();
    question["params"]["options"] = json!([{"optionId": "x", "name": "x", "kind": "reject_once"}]);
    check(
        AnswerMode::Yes("for a test"),
        vec![announced(), question],
        expect![[r#"
            announced ls
            asked ls
            {"jsonrpc":"2.0","id":"q","result":{"outcome":{"outcome":"cancelled"}}}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn a_call_that_printed_enough_is_stopped_once() {
    let printed = |text: &str| {
        update(
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "c",
            "status": "in_progress", "_meta": {"terminal_output": {"data": text}}}),
        )
    };
    let plan = update(json!({"sessionUpdate": "plan", "entries": [
        {"content": "a", "status": "pending", "priority": "low"}]}));
    let said = update(json!({"sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "hello"}}));
    check(
        AnswerMode::No("nobody is asked"),
        vec![
            said,
            announced(),
            plan,
            printed("a little\n"),
            printed("enough\n"),
            printed("more\n"),
        ],
        expect![[r#"
            said hello
            announced ls
            planned 1
            decided ls
            started ls
            printed ls
            printed ls
            printed ls
            {"jsonrpc":"2.0","id":3,"method":"_toolcall/cancel","params":{"sessionId":"s","toolCallId":"c"}}
        "#]],
    )
    .await;
}

#[test]
fn every_choice_is_an_option_of_the_request() {
    let (mut calls, mut seen) = (Calls::default(), RecordedEvents::default());
    let report = &announced()["params"]["update"];
    let id = calls.apply_update(report, &mut &mut seen).expect("a call");
    let request = PermissionRequest::parse(&question(), calls.get(&id).expect("a call"));
    assert_eq!(request.offers(), ["allow_always", "reject_always"]);
    let no = |reason: Option<&str>| UserChoice::No {
        reason: reason.map(str::to_owned),
    };
    let mut answers = String::new();
    for choice in [
        UserChoice::Yes,
        UserChoice::Offer(0),
        no(None),
        no(Some("not on a Friday")),
        UserChoice::Offer(1),
        UserChoice::Offer(2),
    ] {
        let (answer, decision) = request.answer(&choice);
        let effect = decision.map(|decision| decision.effect);
        answers += &format!("{} {effect:?}\n", answer["result"]);
    }
    expect![[r#"
        {"outcome":{"outcome":"selected","optionId":"my-allow_once"}} Some(Allow)
        {"outcome":{"outcome":"selected","optionId":"my-allow_always"}} Some(Allow)
        {"outcome":{"outcome":"selected","optionId":"my-reject_once"}} Some(Deny)
        {"outcome":{"outcome":"selected","optionId":"my-reject_once"},"_meta":{"toolcall/reason":"not on a Friday"}} Some(Deny)
        {"outcome":{"outcome":"selected","optionId":"my-reject_always"}} Some(Deny)
        {"outcome":{"outcome":"cancelled"}} None
    "#]].assert_eq(&answers);
}
