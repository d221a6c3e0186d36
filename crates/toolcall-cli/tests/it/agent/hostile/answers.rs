//! Cases about answers: invalid, repeated, late or missing ones, and which questions are asked.
//! Each checks the messages and the files.

use serde_json::{Value, json};
use toolcall_testkit::client::{option_of_kind, select};

use super::scripted_session::{
    SILENT, ScriptedSession, agent_lines, questions, running, turn, turn_of,
};
use crate::agent::cases::{ALWAYS, NO};
use crate::agent::client::{ClientFeatures, TestClient};
use crate::agent::home::AgentHome;
use crate::agent::linter::call_statuses;
use crate::recorder::Recorder;

const REFUSED: &str = "pending failed";

/// Answers the question with these messages, and checks that nothing was written.
fn check_refused(case: &Value, replies: impl FnOnce(&Value) -> Vec<Value>) {
    let mut session = ScriptedSession::open(SILENT, &[turn_of(case)]);
    let (id, question) = session.asked();
    for reply in replies(&question) {
        session.client.recorder.send(&reply);
    }
    session.client.answer_of(id);
    let (home, recording) = session.end();
    let calls = call_statuses(&recording.frames);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].1, REFUSED);
    assert_eq!(home.text("a"), None);
}

fn error(question: &Value, code: i32) -> Value {
    json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": code, "message": "no"}})
}

/// A client that does not know the request answers nothing.
pub(super) fn a_client_without_permission_requests_allows_nothing(case: &Value) {
    check_refused(case, |question| vec![error(question, -32601)]);
}

pub(super) fn an_unknown_option_is_no_yes(case: &Value) {
    check_refused(case, |question| vec![select(question, "yolo")]);
}

pub(super) fn an_error_is_no_yes(case: &Value) {
    check_refused(case, |question| vec![error(question, -32603)]);
}

pub(super) fn the_first_answer_counts(case: &Value) {
    check_refused(case, |question| {
        let kinds = ["reject_once", "allow_once"];
        let ids = kinds.map(|kind| option_of_kind(question, kind).unwrap());
        ids.map(|id| select(question, id)).to_vec()
    });
}

pub(super) fn no_always_for_what_runs_anything(case: &Value) {
    let mut session = ScriptedSession::open(NO, &[turn_of(case)]);
    let (id, question) = session.asked();
    assert_eq!(
        option_of_kind(&question, "allow_always"),
        None,
        "{question}"
    );
    session.client.answer_of(id);
    session.end();
}

pub(super) fn always_covers_no_other_program(case: &Value) {
    let turns = [running("env FOO=1 make"), turn_of(case)];
    let mut session = ScriptedSession::open(ALWAYS, &turns);
    session.client.prompt("go");
    session.client.prompt("go");
    let (_, recording) = session.end();
    assert_eq!(questions(&recording.frames).len(), 2);
}

pub(super) fn a_swapped_script_does_not_run(case: &Value) {
    let home = AgentHome::new();
    executable(&home, "#!/bin/sh\necho good\n");
    let mut session = ScriptedSession::on(home, SILENT, &[turn_of(case)]);
    let (id, question) = session.asked();
    executable(&session.home, "#!/bin/sh\ntouch evil\n");
    let yes = option_of_kind(&question, "allow_once").unwrap();
    session.client.recorder.send(&select(&question, yes));
    session.client.answer_of(id);
    let (home, recording) = session.end();
    assert!(call_statuses(&recording.frames)[0].1.ends_with("failed"));
    assert_eq!(home.text("evil"), None);
}

fn executable(home: &AgentHome, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = home.write("project/run.sh", text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(super) fn cancelled_right_after_a_yes(case: &Value) {
    let mut session = ScriptedSession::open(SILENT, &[turn_of(case)]);
    let (id, question) = session.asked();
    let yes = option_of_kind(&question, "allow_once").unwrap();
    session.client.recorder.send(&select(&question, yes));
    let params = json!({"sessionId": session.client.session});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
    session.client.recorder.send(&cancel);
    let answer = session.client.answer_of(id);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (home, recording) = session.end();
    let statuses = &call_statuses(&recording.frames)[0].1;
    let began = statuses.contains("in_progress");
    assert!(
        began || home.text("M").is_none(),
        "it ran and was not reported: {statuses}"
    );
}

pub(super) fn an_open_question_blocks_no_other_session(case: &Value) {
    let read = turn("read_file", json!({"path": "hello.txt"}));
    let when = |word: &str, turn: &Value| {
        let mut steps = turn.as_array().unwrap().clone();
        steps.insert(0, json!({"when": word}));
        Value::from(steps)
    };
    let turns = [when("go", &turn_of(case)), when("read", &read)];
    let mut session = ScriptedSession::open(SILENT, &turns);
    let (waiting, _) = session.asked();
    let first = session.client.session.clone();
    session.client.open(&session.home.project(), json!([]));
    assert_eq!(session.client.prompt("read"), "end_turn");
    session.client.session = first;
    session.client.cancel();
    let answer = session.client.answer_of(waiting);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (home, recording) = session.end();
    let statuses: Vec<String> = call_statuses(&recording.frames)
        .into_iter()
        .map(|(_, statuses)| statuses)
        .collect();
    assert_eq!(statuses, [REFUSED, "pending in_progress completed"]);
    assert_eq!(home.text("a"), None);
}

/// A server with one tool that accepts any input.
const SERVER: &str = r#"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"post","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"send","description":"Sends a letter","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"sent"}]}}\n' "$id" ;;
    *'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    esac
done
"#;

pub(super) fn every_argument_is_shown(case: &Value) {
    let home = AgentHome::new();
    let args = &case["input"]["args"];
    let script = json!([turn("send", args.clone())]).to_string();
    let script = home.write("script.yaml", &script);
    let model = format!("script:{}", script.display());
    let agent = home.agent(&["--model", &model]);
    let mut client = TestClient::initialize(Recorder::start(agent), ClientFeatures::Nothing, NO);
    let server = json!({"name": "post", "command": "/bin/sh", "args": ["-c", SERVER], "env": []});
    client.open(&home.project(), json!([server]));
    client.prompt("go");
    let recording = client.recorder.end();
    home.wait_for_processes(None);
    let asked = questions(&recording.frames);
    let shown = asked
        .first()
        .unwrap_or_else(|| panic!("no question: {}", agent_lines(&recording)));
    let shown = &shown["params"]["toolCall"];
    assert_eq!(shown["rawInput"], *args);
    let content = shown["content"].to_string();
    for part in ["to", "bcc", "evil", "pad"] {
        assert!(content.contains(part), "`{part}` is not in {content}");
    }
}

pub(super) fn flags_of_the_model_are_refused(case: &Value) {
    let home = AgentHome::new();
    home.write(super::scripted_session::POLICY, "[[allow]]\nrun = 'ls'\n");
    let mut session = ScriptedSession::on(home, NO, &[turn_of(case)]);
    session.client.prompt("go");
    let (_, recording) = session.end();
    assert_eq!(questions(&recording.frames).len(), 0);
    assert_eq!(call_statuses(&recording.frames)[0].1, REFUSED);
    assert!(agent_lines(&recording).contains("dangerouslyDisableSandbox"));
}

pub(super) fn a_model_raises_no_mode(_: &Value) {
    let steps = json!([
        {"call": {"tool": "switch_mode", "input": {"mode": "allow-all"}}},
        {"call": {"tool": "run_command", "input": {"command": "touch evil"}}},
    ]);
    let mut session = ScriptedSession::open(NO, &[steps]);
    session.client.prompt("go");
    let (home, recording) = session.end();
    let statuses: Vec<String> = call_statuses(&recording.frames)
        .into_iter()
        .map(|(_, statuses)| statuses)
        .collect();
    assert_eq!(statuses, [REFUSED, REFUSED]);
    assert_eq!(questions(&recording.frames).len(), 2);
    assert!(!agent_lines(&recording).contains("current_mode_update"));
    assert_eq!(home.text("evil"), None);
}
