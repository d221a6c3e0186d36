//! Cases about single lines: invalid ids, envelopes and text.
//! The connection works after each of them.

use serde_json::{Value, json};

use super::scripted_session::{SILENT, ScriptedSession, running};
use crate::agent::cases::YES;
use crate::agent::client::{ClientFeatures, TestClient};
use crate::agent::home::AgentHome;
use crate::recorder::Recorder;

/// Returns a client of an initialized agent.
fn initialized(home: &AgentHome) -> TestClient {
    TestClient::initialize(
        Recorder::start(home.agent(&[])),
        ClientFeatures::Nothing,
        SILENT,
    )
}

/// Sends a line and returns the answer; then checks that a session can be opened.
fn answered(line: &str) -> Value {
    let home = AgentHome::new();
    let mut client = initialized(&home);
    client.recorder.send_line(line);
    let answer = client.recorder.receive();
    let opened = client.open(&home.project(), json!([]));
    assert!(opened["result"]["sessionId"].is_string(), "{opened}");
    let recording = client.recorder.end();
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
    answer
}

pub(super) fn half_a_character_is_an_error(case: &Value) {
    let bytes = case["input"]["bytes"].as_str().unwrap();
    let line = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{bytes}}}"#);
    let answer = answered(&line);
    assert!(answer["error"]["code"].is_i64(), "{answer}");
}

pub(super) fn a_request_without_an_id_is_refused(case: &Value) {
    let answer = answered(&as_line(case));
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&Value::Null, &json!(-32600)),
        "{answer}"
    );
}

pub(super) fn a_fraction_is_refused_or_echoed(case: &Value) {
    let answer = answered(&as_line(case));
    let is_refused = answer["id"].is_null() && answer["error"]["code"] == -32600;
    let is_echoed = answer["id"] == case["input"]["acp"][0]["id"];
    assert!(is_refused || is_echoed, "{answer}");
}

pub(super) fn a_request_that_is_an_answer_is_refused(case: &Value) {
    let answer = answered(&as_line(case));
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
}

/// Returns the message of a case as a line.
fn as_line(case: &Value) -> String {
    let mut message = case["input"]["acp"][0].clone();
    message["jsonrpc"] = json!("2.0");
    message.to_string()
}

pub(super) fn an_id_in_flight_is_not_used_twice(_: &Value) {
    let mut session = ScriptedSession::open(YES, &[running("sleep 600")]);
    let first = session.begin();
    session
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    let prompt = json!([{"type": "text", "text": "go"}]);
    let params = json!({"sessionId": session.client.session, "prompt": prompt});
    let second =
        json!({"jsonrpc": "2.0", "id": first, "method": "session/prompt", "params": params});
    session.client.recorder.send(&second);
    let refused = session
        .client
        .until(|message| message.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    session.client.cancel();
    let answer = session
        .client
        .until(|message| message.get("result").is_some());
    assert_eq!(answer["id"], first);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let recording = session.client.recorder.end();
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
    session.home.wait_for_processes(None);
}

pub(super) fn nothing_is_accepted_before_initialize(case: &Value) {
    let home = AgentHome::new();
    let mut recorder = Recorder::start(home.agent(&[]));
    let mut message = case["input"]["acp"][0].clone();
    message["jsonrpc"] = json!("2.0");
    message["params"] = json!({"cwd": home.project(), "mcpServers": []});
    recorder.send(&message);
    let answer = recorder.receive();
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    recorder.end();
}

pub(super) fn a_version_of_the_future_is_answered_with_ours(case: &Value) {
    let home = AgentHome::new();
    let mut recorder = Recorder::start(home.agent(&[]));
    let params = &case["input"]["acp"][0]["params"];
    recorder.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    let answer = recorder.receive();
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    recorder.end();
}
