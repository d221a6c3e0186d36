//! Sessions that are kept: listed, told again, gone on with, forgotten.
//! What is told again is compared with what was told at first.

use serde_json::{Value, json};
use toolcall::SessionId;
use toolcall_agent::model::Message;
use toolcall_history::{History, HistoryConfig, SessionEvent, SessionFacts};

use toolcall_testkit::client::Exchange;

use crate::sessions::stage::{Stage, calls, says};

/// What is left of each call when everything was told: its last state, by its id.
fn calls_of(heard: &Exchange) -> Vec<Value> {
    let mut calls: Vec<Value> = Vec::new();
    for line in &heard.before {
        let update = &line["params"]["update"];
        match update["sessionUpdate"].as_str() {
            Some("tool_call") => calls.push(update.clone()),
            Some("tool_call_update") => {
                let call = calls
                    .iter_mut()
                    .find(|call| call["toolCallId"] == update["toolCallId"]);
                let call = call
                    .and_then(Value::as_object_mut)
                    .expect("it was announced");
                let changed = update.as_object().expect("an object").clone();
                call.extend(
                    changed
                        .into_iter()
                        .filter(|(key, _)| key != "sessionUpdate"),
                );
            }
            _ => {}
        }
    }
    calls
}

#[tokio::test]
async fn a_session_that_is_loaded_is_told_again_before_the_answer() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let edit = json!({"path": "a.txt", "edits": [{"type": "replace", "oldText": "one", "newText": "two"}]});
    let answer = std::iter::once(says("I mend it.")).chain(calls("m1", "edit_file", edit));
    stage.puppet.will(answer).will([says("Mended.")]);
    let lived = editor.prompt(&session, "Mend it").await;
    let known = stage.puppet.heard();
    editor.leave().await;

    let mut editor = stage.connect().await;
    let wish = json!({"sessionId": session, "cwd": stage.cwd(), "mcpServers": []});
    let again = editor.ask("session/load", wish).await;
    assert!(
        again.answer["result"]["modes"].is_object(),
        "{:?}",
        again.answer
    );
    assert_eq!(
        again.updates("user_message_chunk")[0]["content"]["text"],
        "Mend it"
    );
    assert_eq!(again.text(), lived.text());
    assert_eq!(calls_of(&again), calls_of(&lived));
    assert_eq!(
        editor.next().await["params"]["update"]["sessionUpdate"],
        "available_commands_update"
    );

    // The model knows what was said and done, and no id is used again: others may go on, too.
    stage
        .puppet
        .will(calls("m2", "read_file", json!({"path": "a.txt"})))
        .will([says("two")]);
    let next = editor.prompt(&session, "Read it").await;
    let id = next.updates("tool_call")[0]["toolCallId"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert!(id.starts_with("call-") && id.len() > "call-2".len(), "{id}");
    let heard = stage.puppet.heard();
    assert_eq!(heard[..known.len()], known[..]);
    assert!(matches!(&heard[known.len()], Message::Model(reply) if reply.text == "Mended."));
    editor.leave().await;
}

#[tokio::test]
async fn a_session_that_is_resumed_is_not_told_again() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    stage.puppet.will([says("yes")]).will([says("no")]);
    editor.prompt(&session, "one").await;
    let closed = editor
        .ask("session/close", json!({"sessionId": session}))
        .await;
    assert_eq!(closed.answer["result"], json!({}));
    let wish = json!({"sessionId": session, "cwd": stage.cwd()});
    let resumed = editor.ask("session/resume", wish).await;
    assert!(resumed.before.is_empty());
    editor.prompt(&session, "two").await;
    assert_eq!(stage.puppet.heard().len(), 3);
    editor.leave().await;
}

#[tokio::test]
async fn a_session_belongs_to_its_folder_and_must_be_there() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    let elsewhere = tempfile::TempDir::new().expect("a folder");
    for (id, cwd, code) in [
        (session.as_str(), elsewhere.path(), -32602),
        ("../../etc/x", stage.cwd().as_path(), -32002),
        (session.as_str(), std::path::Path::new("relative"), -32602),
    ] {
        let wish = json!({"sessionId": id, "cwd": cwd, "mcpServers": []});
        let refused = editor.ask("session/load", wish).await;
        assert_eq!(
            refused.answer["error"]["code"], code,
            "{:?}",
            refused.answer
        );
    }
    let nowhere = json!({"cwd": stage.cwd().join("a.txt"), "mcpServers": []});
    assert_eq!(
        editor.ask("session/new", nowhere).await.answer["error"]["code"],
        -32602
    );
    editor.leave().await;
}

#[tokio::test]
async fn sessions_are_listed_a_page_at_a_time_and_forgotten() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let mut opened = Vec::new();
    for _ in 0..51 {
        opened.push(editor.open().await);
    }
    stage.puppet.will([says("yes")]);
    editor.prompt(&opened[0], "Mend the door").await;
    let first = editor
        .ask("session/list", json!({"cwd": stage.cwd()}))
        .await
        .answer;
    let sessions = first["result"]["sessions"]
        .as_array()
        .expect("sessions")
        .clone();
    assert_eq!(sessions.len(), 50);
    assert_eq!(sessions[0]["title"], "Mend the door");
    assert_eq!(sessions[0]["cwd"], json!(stage.cwd()));
    let after = json!({"cursor": first["result"]["nextCursor"]});
    let second = editor.ask("session/list", after).await.answer;
    assert_eq!(
        second["result"]["sessions"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(second["result"]["nextCursor"], Value::Null);
    let elsewhere = editor.ask("session/list", json!({"cwd": "/"})).await.answer;
    assert_eq!(elsewhere["result"]["sessions"], json!([]));
    let bad = editor
        .ask("session/list", json!({"cursor": "x"}))
        .await
        .answer;
    assert_eq!(bad["error"]["code"], -32602);

    let gone = editor
        .ask("session/delete", json!({"sessionId": opened[0]}))
        .await
        .answer;
    assert_eq!(gone["result"], json!({}));
    let left = editor.ask("session/list", json!({})).await.answer;
    assert_eq!(
        left["result"]["sessions"].as_array().map(Vec::len),
        Some(50)
    );
    let wish = json!({"sessionId": opened[0], "cwd": stage.cwd(), "mcpServers": []});
    assert_eq!(
        editor.ask("session/load", wish).await.answer["error"]["code"],
        -32002
    );
    editor.leave().await;
}

#[tokio::test]
async fn without_a_history_sessions_are_not_kept_and_nothing_says_so() {
    let stage = Stage::default();
    let mut editor = stage.connect_forgetful().await;
    let session = editor.open().await;
    stage.puppet.will([says("yes")]);
    assert_eq!(editor.prompt(&session, "one").await.text(), "yes");
    let listed = editor.ask("session/list", json!({})).await.answer;
    assert_eq!(listed["error"]["code"], -32602);
    editor.leave().await;
    assert!(!stage.history().exists());
}

#[tokio::test]
async fn a_session_that_is_deleted_while_it_is_loaded_stays_deleted() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    for _ in 0..5 {
        let session = editor.open().await;
        stage.puppet.will([says("yes")]);
        editor.prompt(&session, "one").await;
        editor
            .ask("session/close", json!({"sessionId": session}))
            .await;
        let wish = json!({"sessionId": session, "cwd": stage.cwd(), "mcpServers": []});
        let loading = editor.begin("session/load", wish).await;
        let deleting = editor
            .begin("session/delete", json!({"sessionId": session}))
            .await;
        let (mut loaded, mut deleted) = (false, false);
        while !(loaded && deleted) {
            let message = editor.next().await;
            loaded |= message["id"] == loading;
            deleted |= message["id"] == deleting;
        }
        // Whichever came first, the one that was deleted last is gone.
        editor
            .ask("session/delete", json!({"sessionId": session}))
            .await;
        let listed = editor.ask("session/list", json!({})).await.answer;
        assert_eq!(listed["result"]["sessions"], json!([]));
    }
    editor.leave().await;
}

#[tokio::test]
async fn sessions_of_others_are_neither_loaded_nor_forgotten() {
    let stage = Stage::default();
    let other = SessionId::new("other");
    let facts = SessionFacts {
        agent: "somebody else".into(),
        cwd: stage.cwd(),
        ..SessionFacts::default()
    };
    let history = History::open(stage.history(), HistoryConfig::default()).expect("a history");
    drop(history.record(&other, SessionEvent::Opened(facts)));
    let mut editor = stage.connect().await;
    let wish = json!({"sessionId": "other", "cwd": stage.cwd(), "mcpServers": []});
    assert_eq!(
        editor.ask("session/load", wish).await.answer["error"]["code"],
        -32002
    );
    editor
        .ask("session/delete", json!({"sessionId": "other"}))
        .await;
    editor.leave().await;
    let kept = history
        .archive()
        .expect("an archive")
        .sessions()
        .expect("sessions");
    assert_eq!(
        kept.iter().map(|line| line.id.clone()).collect::<Vec<_>>(),
        [other]
    );
}

#[tokio::test]
async fn commands_are_not_what_a_session_is_about() {
    let stage = Stage::default();
    let mut editor = stage.connect().await;
    let session = editor.open().await;
    editor.prompt(&session, "/model").await;
    stage.puppet.will([says("yes")]);
    let heard = editor.prompt(&session, "Mend the door").await;
    assert_eq!(
        heard.updates("session_info_update")[0]["title"],
        "Mend the door"
    );
    let listed = editor.ask("session/list", json!({})).await.answer;
    assert_eq!(listed["result"]["sessions"][0]["title"], "Mend the door");
    let far = json!({"cursor": u64::MAX.to_string()});
    let listed = editor.ask("session/list", far).await.answer;
    assert_eq!(listed["result"], json!({"sessions": []}));
    editor.leave().await;
}
