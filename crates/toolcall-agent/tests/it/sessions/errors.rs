//! What goes wrong reaches the person as words; turns end and sessions live on.
//! Nothing here is about calls that fail: those are told as calls.

use serde_json::json;
use toolcall_agent::model::Delta;

use crate::sessions::stage::{Stage, calls, says};

#[tokio::test]
async fn what_is_wrong_with_the_model_is_said() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    stage.puppet.will_fail("the key is not valid; set another");
    let heard = editor.prompt(&session, "hello").await;
    assert_eq!(heard.answer["result"], json!({"stopReason": "end_turn"}));
    assert_eq!(
        heard.text(),
        "I will\n\n**This went wrong:** the key is not valid; set another"
    );
    stage.puppet.will([says("hello")]);
    assert_eq!(editor.prompt(&session, "again").await.text(), "hello");
    editor.leave().await;
}

#[tokio::test]
async fn a_model_that_mixes_up_its_calls_is_stopped() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let [began, ..] = calls("m1", "read_file", json!({}));
    let astray = Delta::CallComplete { id: "m2".into() };
    stage.puppet.will([began.clone(), began]).will([astray]);
    let heard = editor.prompt(&session, "one").await;
    assert!(
        heard.text().contains("two things under one id, `m1`"),
        "{}",
        heard.text()
    );
    let heard = editor.prompt(&session, "two").await;
    assert!(
        heard.text().contains("did not begin, `m2`"),
        "{}",
        heard.text()
    );
    editor.leave().await;
}

#[tokio::test]
async fn a_server_that_cannot_be_used_is_told_of_once() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let servers = json!([
        {"name": "gone", "command": "/nowhere/server", "args": [], "env": []},
        {"type": "sse", "name": "old", "url": "http://127.0.0.1:9/", "headers": []},
    ]);
    let opened = editor
        .ask(
            "session/new",
            json!({"cwd": stage.cwd(), "mcpServers": servers}),
        )
        .await;
    let session = opened.answer["result"]["sessionId"]
        .as_str()
        .expect("a session")
        .to_owned();
    stage.puppet.will([says("yes")]).will([says("no")]);
    let words = editor.prompt(&session, "one").await.text();
    assert!(
        words.contains("the server `gone` cannot be used"),
        "{words}"
    );
    assert!(words.contains("reached by `sse` is left out"), "{words}");
    assert!(words.ends_with("yes"), "{words}");
    assert_eq!(editor.prompt(&session, "two").await.text(), "no");
    editor.leave().await;
}

#[tokio::test]
async fn a_history_that_cannot_be_written_is_said_and_calls_go_on() {
    let stage = Stage::default();
    // A folder is in its place.
    std::fs::create_dir_all(stage.history().join("in the way")).expect("a folder");
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let input = json!({"path": "a.txt"});
    stage
        .puppet
        .will(calls("m1", "read_file", input))
        .will([says("done")]);
    let heard = editor.prompt(&session, "read").await;
    assert!(
        heard.text().contains("is not kept in the history"),
        "{}",
        heard.text()
    );
    let end = heard
        .updates("tool_call_update")
        .pop()
        .cloned()
        .expect("an end");
    assert_eq!(end["status"], "completed");
    editor.leave().await;
}

#[tokio::test]
async fn a_model_that_goes_in_circles_is_stopped() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    for round in 0..200 {
        let input = json!({"path": "a.txt", "line": 1, "limit": round + 1});
        stage.puppet.will(calls("m1", "read_file", input));
    }
    let heard = editor.prompt(&session, "for ever").await;
    assert_eq!(
        heard.answer["result"],
        json!({"stopReason": "max_turn_requests"})
    );
    editor.leave().await;
}
