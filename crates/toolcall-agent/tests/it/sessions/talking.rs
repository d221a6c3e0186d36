//! Prompts and what comes of them: words, calls, results, order, cancelling.
//! What the model hears next is compared as a whole.

use serde_json::json;
use toolcall::{Content, ModelResult};
use toolcall_agent::model::{Delta, MadeCall, Message, Reply, Usage};

use crate::sessions::stage::{Stage, calls, says, texts};

#[tokio::test]
async fn a_model_calls_a_tool_and_hears_what_came_of_it() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let input = json!({"path": "a.txt"});
    let answer = std::iter::once(says("I look.")).chain(calls("m1", "read_file", input.clone()));
    stage.puppet.will(answer).will([says("It says one.")]);
    let heard = editor.prompt(&session, "What is in a.txt?").await;
    assert_eq!(heard.answer["result"], json!({"stopReason": "end_turn"}));
    assert_eq!(heard.text(), "I look.It says one.");
    let sorts = [
        "session_info_update",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "tool_call_update",
        "agent_message_chunk",
    ];
    assert_eq!(heard.kinds(), sorts);
    let read = ["one\n", "`a.txt`: line 1 of 1, 4 bytes in all"];
    let expected = [
        Message::Person(vec![Content::text("What is in a.txt?")]),
        Message::Model(Reply {
            thoughts: String::new(),
            text: "I look.".to_owned(),
            calls: vec![MadeCall {
                id: "m1".into(),
                tool: "read_file".into(),
                input: input.to_string().into(),
            }],
        }),
        Message::Results(vec![ModelResult {
            id: "m1".into(),
            content: read.map(Content::text).to_vec(),
            is_error: false,
        }]),
    ];
    assert_eq!(stage.puppet.heard(), expected);
    editor.leave().await;
}

#[tokio::test]
async fn a_session_is_called_by_what_was_said_first() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    stage.puppet.will([says("yes")]).will([says("no")]);
    let first = editor
        .prompt(&session, "\n  Mend the door \nand more")
        .await;
    assert_eq!(
        first.updates("session_info_update")[0]["title"],
        "Mend the door"
    );
    let second = editor.prompt(&session, "And the window").await;
    assert!(second.updates("session_info_update").is_empty());
    editor.leave().await;
}

#[tokio::test]
async fn a_prompt_waits_for_the_one_before() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let slow = calls("m1", "read_file", json!({"path": "a.txt"}));
    stage
        .puppet
        .will(slow)
        .will([says("first")])
        .will([says("second")]);
    let first = editor.send_prompt(&session, "one").await;
    let second = editor.send_prompt(&session, "two").await;
    let heard = editor.finish(first).await;
    assert_eq!(heard.text(), "first");
    assert_eq!(editor.finish(second).await.text(), "second");
    let said: Vec<_> = stage.puppet.heard().iter().flat_map(texts).collect();
    assert_eq!(said, ["one", "two"]);
    editor.leave().await;
}

#[tokio::test]
async fn what_is_cancelled_is_answered_so_and_the_next_prompt_is_not() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    // It says something, then thinks for ever.
    stage
        .puppet
        .will(calls("m1", "read_file", json!({"path": "a.txt"})));
    let thinking = editor.send_prompt(&session, "think").await;
    while editor.next().await["params"]["update"]["status"] != "completed" {}
    editor
        .notify("session/cancel", json!({"sessionId": session}))
        .await;
    let heard = editor.finish(thinking).await;
    assert_eq!(heard.answer["result"], json!({"stopReason": "cancelled"}));
    stage.puppet.will([says("here")]);
    let next = editor.prompt(&session, "go on").await;
    assert_eq!(next.answer["result"], json!({"stopReason": "end_turn"}));
    let said: Vec<_> = stage.puppet.heard().iter().flat_map(texts).collect();
    assert_eq!(said, ["think", "go on"]);
    editor.leave().await;
}

#[tokio::test]
async fn the_model_hears_that_its_calls_were_broken_off() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    stage
        .puppet
        .will(calls("m1", "run_command", json!({"command": "sleep 1000"})));
    let running = editor.send_prompt(&session, "wait").await;
    loop {
        let message = editor.next().await;
        if message["method"] == "session/request_permission" {
            break;
        }
    }
    editor
        .notify("session/cancel", json!({"sessionId": session}))
        .await;
    assert_eq!(
        editor.finish(running).await.answer["result"]["stopReason"],
        "cancelled"
    );
    stage.puppet.will([says("here")]);
    editor.prompt(&session, "go on").await;
    let heard = stage.puppet.heard();
    let Message::Results(results) = &heard[2] else {
        panic!("{heard:?}");
    };
    assert_eq!((&*results[0].id, results[0].is_error), ("m1", true));
    editor.leave().await;
}

#[tokio::test]
async fn only_a_few_prompts_may_wait() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let mut prompts = Vec::new();
    for _ in 0..6 {
        prompts.push(editor.send_prompt(&session, "think").await);
    }
    let last = prompts.pop().expect("a prompt");
    assert_eq!(editor.finish(last).await.answer["error"]["code"], -32600);
    editor
        .notify("session/cancel", json!({"sessionId": session}))
        .await;
    for _ in &prompts {
        let answer = loop {
            let message = editor.next().await;
            if message["id"].is_number() {
                break message;
            }
        };
        assert_eq!(answer["result"]["stopReason"], "cancelled");
    }
    editor.leave().await;
}

#[tokio::test]
async fn a_request_that_is_withdrawn_is_answered_as_the_protocol_says() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let thinking = editor.send_prompt(&session, "think").await;
    assert_eq!(
        editor.next().await["params"]["update"]["sessionUpdate"],
        "session_info_update"
    );
    editor
        .notify("$/cancel_request", json!({"requestId": thinking}))
        .await;
    let heard = editor.finish(thinking).await;
    assert_eq!(heard.answer["error"]["code"], -32800);
    editor.leave().await;
}

#[tokio::test]
async fn images_resources_and_links_reach_the_model() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    stage.puppet.will([says("I see.")]);
    let prompt = json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "two"}},
        {"type": "resource_link", "uri": "file:///c.txt", "name": "c.txt"},
    ]);
    let params = json!({"sessionId": session, "prompt": prompt});
    assert_eq!(editor.ask("session/prompt", params).await.text(), "I see.");
    let Some(Message::Person(said)) = stage.puppet.heard().first().cloned() else {
        panic!("the person said something");
    };
    let sorts = said.iter().map(|content| match content {
        Content::Text(text) => format!("text {text}"),
        Content::Image(blob) => format!("image {} {}", blob.mime, blob.base64),
        Content::Resource(resource) => format!("resource {}", resource.uri),
        Content::Link(link) => format!("link {}", link.uri),
        other => format!("{other:?}"),
    });
    let expected = [
        "text Look",
        "image image/png AAAA",
        "resource file:///b.txt",
        "link file:///c.txt",
    ];
    assert_eq!(sorts.collect::<Vec<_>>(), expected);
    editor.leave().await;
}

#[tokio::test]
async fn an_input_that_is_written_bit_by_bit_is_shown_as_it_grows() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let id: std::sync::Arc<str> = "m1".into();
    let bit = |text: &str| Delta::CallGrew {
        id: id.clone(),
        text: text.to_owned(),
    };
    let began = Delta::CallBegan {
        id: id.clone(),
        tool: "read_file".into(),
    };
    let complete = Delta::CallComplete { id: id.clone() };
    let bits = [
        began,
        bit("{\"path\""),
        bit(": \"a"),
        bit(".txt\"}"),
        complete,
    ];
    stage.puppet.will(bits).will([says("done")]);
    let heard = editor.prompt(&session, "read").await;
    let announced = heard.updates("tool_call");
    assert_eq!(announced.len(), 1);
    assert_eq!(announced[0]["name"], "read_file");
    let ends = heard.updates("tool_call_update");
    assert_eq!(
        ends.last().map(|end| &end["status"]),
        Some(&json!("completed"))
    );
    editor.leave().await;
}

#[tokio::test]
async fn only_clients_that_take_it_are_told_of_usage() {
    for (client, told) in [("Zed", 1), ("editor", 0)] {
        let stage = Stage::default();
        let mut editor = stage.connect_as(client).await;
        let session = editor.open().await;
        let usage = Usage {
            used: 10,
            window: 100,
        };
        stage.puppet.will([Delta::Used(usage), says("so much")]);
        let heard = editor.prompt(&session, "how much?").await;
        assert_eq!(heard.updates("usage_update").len(), told, "{client}");
        editor.leave().await;
    }
}

#[tokio::test]
async fn sessions_do_not_wait_for_each_other() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let (one, two) = (editor.open().await, editor.open().await);
    // The first one thinks for ever.
    let thinking = editor.send_prompt(&one, "think").await;
    assert_eq!(
        editor.next().await["params"]["update"]["sessionUpdate"],
        "session_info_update"
    );
    stage.puppet.will([says("at once")]);
    assert_eq!(editor.prompt(&two, "quick").await.text(), "at once");
    editor
        .notify("session/cancel", json!({"sessionId": one}))
        .await;
    assert_eq!(
        editor.finish(thinking).await.answer["result"]["stopReason"],
        "cancelled"
    );
    editor.leave().await;
}

#[tokio::test]
async fn a_session_may_work_in_several_folders() {
    let stage = Stage::default();
    let more = tempfile::TempDir::new().expect("a folder");
    let more = more.path().canonicalize().expect("a folder");
    std::fs::write(more.join("b.txt"), "two\n").expect("a file");
    let mut editor = stage.connect().await;
    let wish = json!({"cwd": stage.cwd(), "additionalDirectories": [more], "mcpServers": []});
    let opened = editor.ask("session/new", wish).await;
    let session = opened.answer["result"]["sessionId"]
        .as_str()
        .expect("a session");
    let path = json!({"path": more.join("b.txt")});
    stage
        .puppet
        .will(calls("m1", "read_file", path))
        .will([says("done")]);
    let heard = editor.prompt(session, "read the other").await;
    let asked = heard
        .before
        .iter()
        .filter(|line| line["method"] == "session/request_permission");
    assert_eq!(asked.count(), 0);
    let end = heard.updates("tool_call_update").pop().cloned();
    assert_eq!(
        end.map(|end| end["status"].clone()),
        Some(json!("completed"))
    );
    editor.leave().await;
}
