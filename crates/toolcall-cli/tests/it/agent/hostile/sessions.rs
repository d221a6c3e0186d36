//! Cases about sessions, turns and calls: ids, cancellation and order.
//! Each runs against the real program.

use serde_json::{Value, json};

use super::scripted_session::{SILENT, ScriptedSession, running, turn};
use crate::agent::cases::YES;
use crate::agent::client::{ClientFeatures, TestClient};
use crate::agent::home::AgentHome;
use crate::agent::linter::call_statuses;
use crate::recorder::{RecordedLine, Recorder};

/// Loads a session and returns the answer.
fn loaded(home: &AgentHome, session: &Value, cwd: &std::path::Path) -> Value {
    let agent = Recorder::start(home.agent(&[]));
    let mut client = TestClient::initialize(agent, ClientFeatures::Nothing, SILENT);
    let params = json!({"sessionId": session, "cwd": cwd, "mcpServers": []});
    let answer = client.ask("session/load", params);
    let recording = client.recorder.end();
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
    answer
}

pub(super) fn an_id_is_no_path(case: &Value) {
    let home = AgentHome::new();
    let id = &case["input"]["acp"][0]["params"]["sessionId"];
    let answer = loaded(&home, id, &home.project());
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    for path in ["etc/x", "home/etc/x", "home/state/etc/x"] {
        assert!(!home.path(path).exists());
    }
}

pub(super) fn a_session_stays_in_its_directory(_: &Value) {
    let read = turn("read_file", json!({"path": "hello.txt"}));
    let mut session = ScriptedSession::open(YES, &[read]);
    session.client.prompt("go");
    let id = session.client.session.clone();
    let (home, _) = session.end();
    let answer = loaded(&home, &id, &home.path("outside"));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = loaded(&home, &id, &home.project());
    assert!(answer["result"].is_object(), "{answer}");
}

pub(super) fn ids_of_calls_are_never_used_twice(_: &Value) {
    let again = json!([
        {"call": {"id": "same", "tool": "read_file", "input": {"path": "hello.txt"}}},
        {"call": {"id": "same", "tool": "read_file", "input": {"path": "src/main.py"}}},
    ]);
    let mut session = ScriptedSession::open(YES, &[again.clone(), again]);
    session.client.prompt("go");
    session.client.prompt("go");
    let (_, recording) = session.end();
    // The linter reports an id that is announced twice.
    assert_eq!(call_statuses(&recording.frames).len(), 4);
}

pub(super) fn no_update_follows_the_answer(_: &Value) {
    let noisy = running("sh -c 'for i in 1 2 3 4 5; do seq 1 5000; done'");
    let mut session = ScriptedSession::open(YES, &[noisy.clone(), noisy]);
    session.client.prompt("go");
    let first = session.begin();
    session
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    session.client.cancel();
    session.client.answer_of(first);
    // The linter checks everything until the agent ends.
    session.end();
}

pub(super) fn ten_thousand_cancels_are_one(_: &Value) {
    let mut session =
        ScriptedSession::open(YES, &[running("sleep 600"), running("touch after.txt")]);
    let id = session.begin();
    session
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    let params = json!({"sessionId": session.client.session});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
    for _ in 0..10_000 {
        session.client.recorder.send(&cancel);
    }
    let answer = session.client.answer_of(id);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    // Late cancellations must not end the next turn, so another request is answered first.
    let params = json!({"cwd": session.home.project(), "mcpServers": []});
    session.client.ask("session/new", params);
    assert_eq!(session.client.prompt("go"), "end_turn");
    let (home, _) = session.end();
    assert_eq!(home.text("after.txt").as_deref(), Some(""));
}

pub(super) fn cancelling_nothing_is_nothing(_: &Value) {
    let mut session = ScriptedSession::open(YES, &[running("touch after.txt")]);
    let params = json!({"sessionId": "nobody"});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
    session.client.recorder.send(&cancel);
    assert_eq!(session.client.prompt("go"), "end_turn");
    session.end();
}

pub(super) fn turns_never_interleave(_: &Value) {
    let mut session =
        ScriptedSession::open(YES, &[running("sleep 600"), running("touch after.txt")]);
    let first = session.begin();
    session
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    session.client.cancel();
    let second = session.begin();
    let answer = session.client.answer_of(first);
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    let answer = session.client.answer_of(second);
    let is_refused = answer["error"]["code"].is_i64();
    assert!(
        is_refused || answer["result"]["stopReason"] == "end_turn",
        "{answer}"
    );
    let recording = session.client.recorder.end();
    session.home.wait_for_processes(None);
    // Every call of the first turn ends before the first call of the second is announced.
    let call_statuses = call_statuses(&recording.frames);
    let has_ended =
        |statuses: &String| statuses.ends_with("completed") || statuses.ends_with("failed");
    assert!(
        call_statuses
            .iter()
            .all(|(_, statuses)| has_ended(statuses)),
        "{call_statuses:?}"
    );
    let messages: Vec<Value> = recording.frames.iter().map(RecordedLine::message).collect();
    let answered = messages
        .iter()
        .position(|message| message["id"] == first && message.get("result").is_some());
    let announced = messages
        .iter()
        .rposition(|message| message["params"]["update"]["sessionUpdate"] == "tool_call");
    assert!(
        is_refused || announced > answered,
        "the turns interleave: {messages:#?}"
    );
}
