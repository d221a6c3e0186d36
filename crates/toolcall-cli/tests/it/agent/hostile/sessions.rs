//! Cases about sessions, turns and their calls: what ids are, what is cancelled, and what comes after what.
//! Each session is one of the real program.

use serde_json::{Value, json};

use super::scene::{SILENT, Scene, running, turn};
use crate::agent::cases::YES;
use crate::agent::client::{Client, Offer};
use crate::agent::linter::lives;
use crate::agent::stage::Stage;
use crate::recorder::{Frame, Recorder};

/// Loads a session; the answer.
fn loaded(stage: &Stage, session: &Value, cwd: &std::path::Path) -> Value {
    let agent = Recorder::start(stage.agent(&[]));
    let mut client = Client::greet(agent, Offer::Nothing, SILENT);
    let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let answer = client.ask("session/load", params);
    let recording = client.recorder.end();
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
    answer
}

pub(super) fn an_id_is_no_path(case: &Value) {
    let stage = Stage::new();
    let id = &case["input"]["acp"][0]["params"]["sessionId"];
    let answer = loaded(&stage, id, &stage.project());
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    for place in ["etc/x", "home/etc/x", "home/state/etc/x"] {
        assert!(!stage.path(place).exists());
    }
}

pub(super) fn a_session_stays_in_its_folder(_: &Value) {
    let read = turn("read_file", json!({"path": "hello.txt"}));
    let mut scene = Scene::open(YES, &[read]);
    scene.client.prompt("go");
    let session = scene.client.session.clone();
    let (stage, _) = scene.end();
    let answer = loaded(&stage, &session, &stage.path("outside"));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = loaded(&stage, &session, &stage.project());
    assert!(answer["result"].is_object(), "{answer}");
}

pub(super) fn ids_of_calls_are_never_used_twice(_: &Value) {
    let again = json!([
        {"call": {"id": "same", "tool": "read_file", "input": {"path": "hello.txt"}}},
        {"call": {"id": "same", "tool": "read_file", "input": {"path": "src/main.py"}}},
    ]);
    let mut scene = Scene::open(YES, &[again.clone(), again]);
    scene.client.prompt("go");
    scene.client.prompt("go");
    let (_, recording) = scene.end();
    // The linter takes an id that is announced twice for a fault.
    assert_eq!(lives(&recording.frames).len(), 4);
}

pub(super) fn nothing_is_told_after_the_answer(_: &Value) {
    let noisy = running("sh -c 'for i in 1 2 3 4 5; do seq 1 5000; done'");
    let mut scene = Scene::open(YES, &[noisy.clone(), noisy]);
    scene.client.prompt("go");
    let first = scene.begin();
    scene
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    scene.client.cancel();
    scene.client.answer_of(first);
    // The linter hears everything to the end of the agent.
    scene.end();
}

pub(super) fn ten_thousand_cancels_are_one(_: &Value) {
    let mut scene = Scene::open(YES, &[running("sleep 600"), running("touch after.txt")]);
    let id = scene.begin();
    scene
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    let params = json!({"sessionId": scene.client.session});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
    for _ in 0..10_000 {
        scene.client.recorder.send(&cancel);
    }
    let answer = scene.client.answer_of(id);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    // Cancels that came late must not end the next turn: it is asked for after an answer to something else.
    let session = json!({"cwd": scene.stage.project(), "mcpServers": []});
    scene.client.ask("session/new", session);
    assert_eq!(scene.client.prompt("go"), "end_turn");
    let (stage, _) = scene.end();
    assert_eq!(stage.text("after.txt").as_deref(), Some(""));
}

pub(super) fn cancelling_nothing_is_nothing(_: &Value) {
    let mut scene = Scene::open(YES, &[running("touch after.txt")]);
    let params = json!({"sessionId": "nobody"});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
    scene.client.recorder.send(&cancel);
    assert_eq!(scene.client.prompt("go"), "end_turn");
    scene.end();
}

pub(super) fn turns_never_interleave(_: &Value) {
    let mut scene = Scene::open(YES, &[running("sleep 600"), running("touch after.txt")]);
    let first = scene.begin();
    scene
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    scene.client.cancel();
    let second = scene.begin();
    let answer = scene.client.answer_of(first);
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    let answer = scene.client.answer_of(second);
    let is_refused = answer["error"]["code"].is_i64();
    assert!(
        is_refused || answer["result"]["stopReason"] == "end_turn",
        "{answer}"
    );
    let recording = scene.client.recorder.end();
    scene.stage.settle(None);
    // Every call of the first turn has ended before the first of the second is told of.
    let lives = lives(&recording.frames);
    let has_ended = |life: &String| life.ends_with("completed") || life.ends_with("failed");
    assert!(lives.iter().all(|(_, life)| has_ended(life)), "{lives:?}");
    let messages: Vec<Value> = recording.frames.iter().map(Frame::message).collect();
    let answered = messages
        .iter()
        .position(|message| message["id"] == first && message.get("result").is_some());
    let told = messages
        .iter()
        .rposition(|message| message["params"]["update"]["sessionUpdate"] == "tool_call");
    assert!(
        is_refused || told > answered,
        "the turns interleave: {messages:#?}"
    );
}
