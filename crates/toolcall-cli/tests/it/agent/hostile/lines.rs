//! Cases about single lines: ids, envelopes and text that are not what they should be.
//! After each the connection goes on.

use serde_json::{Value, json};

use super::scene::{SILENT, Scene, running};
use crate::agent::cases::YES;
use crate::agent::client::{Client, Offer};
use crate::agent::stage::Stage;
use crate::recorder::Recorder;

/// A greeted agent; its calls and turns do not matter.
fn greeted(stage: &Stage) -> Client {
    Client::greet(Recorder::start(stage.agent(&[])), Offer::Nothing, SILENT)
}

/// Says a line and hears the answer; then a session is opened, as if nothing had been.
fn answered(line: &str) -> Value {
    let stage = Stage::new();
    let mut client = greeted(&stage);
    client.recorder.send_line(line);
    let answer = client.recorder.hear();
    let opened = client.open(&stage.project(), json!([]));
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

/// The message of a case, as it would be sent.
fn as_line(case: &Value) -> String {
    let mut message = case["input"]["acp"][0].clone();
    message["jsonrpc"] = json!("2.0");
    message.to_string()
}

pub(super) fn an_id_in_flight_is_not_used_twice(_: &Value) {
    let mut scene = Scene::open(YES, &[running("sleep 600")]);
    let first = scene.begin();
    scene
        .client
        .until(|message| message["params"]["update"]["status"] == "in_progress");
    let prompt = json!([{"type": "text", "text": "go"}]);
    let params = json!({"sessionId": scene.client.session, "prompt": prompt});
    let second =
        json!({"jsonrpc": "2.0", "id": first, "method": "session/prompt", "params": params});
    scene.client.recorder.send(&second);
    let refused = scene.client.until(|message| message.get("error").is_some());
    assert_eq!(refused["error"]["code"], -32600, "{refused}");
    scene.client.cancel();
    let answer = scene
        .client
        .until(|message| message.get("result").is_some());
    assert_eq!(answer["id"], first);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let recording = scene.client.recorder.end();
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
    scene.stage.settle(None);
}

pub(super) fn nothing_goes_before_the_greeting(case: &Value) {
    let stage = Stage::new();
    let mut recorder = Recorder::start(stage.agent(&[]));
    let mut message = case["input"]["acp"][0].clone();
    message["jsonrpc"] = json!("2.0");
    message["params"] = json!({"cwd": stage.project(), "mcpServers": []});
    recorder.send(&message);
    let answer = recorder.hear();
    assert!(answer["error"]["code"].is_i64(), "{answer}");
    recorder.end();
}

pub(super) fn a_version_of_the_future_is_answered_with_ours(case: &Value) {
    let stage = Stage::new();
    let mut recorder = Recorder::start(stage.agent(&[]));
    let params = &case["input"]["acp"][0]["params"];
    recorder.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}));
    let answer = recorder.hear();
    assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
    recorder.end();
}
