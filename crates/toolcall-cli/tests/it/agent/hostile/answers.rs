//! Cases about answers: what is no yes, what comes twice, too late or never, and what is asked at all.
//! Each is judged by what was told and what is on the disk.

use serde_json::{Value, json};
use toolcall_testkit::client::{option_of_kind, select};

use super::scene::{SILENT, Scene, questions, running, said, turn, turn_of};
use crate::agent::cases::{ALWAYS, NO};
use crate::agent::client::{Client, Offer};
use crate::agent::linter::lives;
use crate::agent::stage::Stage;
use crate::recorder::Recorder;

const REFUSED: &str = "pending failed";

/// Asks, answers with these messages, and sees that nothing was written.
fn no_yes(case: &Value, replies: impl FnOnce(&Value) -> Vec<Value>) {
    let mut scene = Scene::open(SILENT, &[turn_of(case)]);
    let (id, question) = scene.asked();
    for reply in replies(&question) {
        scene.client.recorder.send(&reply);
    }
    scene.client.answer_of(id);
    let (stage, recording) = scene.end();
    let calls = lives(&recording.frames);
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].1, REFUSED);
    assert_eq!(stage.text("a"), None);
}

fn error(question: &Value, code: i32) -> Value {
    json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": code, "message": "no"}})
}

/// A client that does not know the request: there is nobody to ask.
pub(super) fn nobody_can_be_asked(case: &Value) {
    no_yes(case, |question| vec![error(question, -32601)]);
}

pub(super) fn an_unknown_option_is_no_yes(case: &Value) {
    no_yes(case, |question| vec![select(question, "yolo")]);
}

pub(super) fn an_error_is_no_yes(case: &Value) {
    no_yes(case, |question| vec![error(question, -32603)]);
}

pub(super) fn the_first_answer_counts(case: &Value) {
    no_yes(case, |question| {
        let kinds = ["reject_once", "allow_once"];
        let ids = kinds.map(|kind| option_of_kind(question, kind).unwrap());
        ids.map(|id| select(question, id)).to_vec()
    });
}

pub(super) fn no_always_for_what_runs_anything(case: &Value) {
    let mut scene = Scene::open(NO, &[turn_of(case)]);
    let (id, question) = scene.asked();
    assert_eq!(
        option_of_kind(&question, "allow_always"),
        None,
        "{question}"
    );
    scene.client.answer_of(id);
    scene.end();
}

pub(super) fn always_covers_no_other_program(case: &Value) {
    let turns = [running("env FOO=1 make"), turn_of(case)];
    let mut scene = Scene::open(ALWAYS, &turns);
    scene.client.prompt("go");
    scene.client.prompt("go");
    let (_, recording) = scene.end();
    assert_eq!(questions(&recording.frames).len(), 2);
}

pub(super) fn a_swapped_script_does_not_run(case: &Value) {
    let stage = Stage::new();
    executable(&stage, "#!/bin/sh\necho good\n");
    let mut scene = Scene::on(stage, SILENT, &[turn_of(case)]);
    let (id, question) = scene.asked();
    executable(&scene.stage, "#!/bin/sh\ntouch evil\n");
    let yes = option_of_kind(&question, "allow_once").unwrap();
    scene.client.recorder.send(&select(&question, yes));
    scene.client.answer_of(id);
    let (stage, recording) = scene.end();
    assert!(lives(&recording.frames)[0].1.ends_with("failed"));
    assert_eq!(stage.text("evil"), None);
}

fn executable(stage: &Stage, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = stage.write("project/run.sh", text);
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

pub(super) fn cancelled_right_after_a_yes(case: &Value) {
    let mut scene = Scene::open(SILENT, &[turn_of(case)]);
    let (id, question) = scene.asked();
    let yes = option_of_kind(&question, "allow_once").unwrap();
    scene.client.recorder.send(&select(&question, yes));
    let params = json!({"sessionId": scene.client.session});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
    scene.client.recorder.send(&cancel);
    let answer = scene.client.answer_of(id);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (stage, recording) = scene.end();
    let life = &lives(&recording.frames)[0].1;
    let began = life.contains("in_progress");
    assert!(
        began || stage.text("M").is_none(),
        "it ran and was not reported: {life}"
    );
}

pub(super) fn a_question_that_waits_holds_up_nobody(case: &Value) {
    let read = turn("read_file", json!({"path": "hello.txt"}));
    let when = |word: &str, turn: &Value| {
        let mut steps = turn.as_array().unwrap().clone();
        steps.insert(0, json!({"when": word}));
        Value::from(steps)
    };
    let turns = [when("go", &turn_of(case)), when("read", &read)];
    let mut scene = Scene::open(SILENT, &turns);
    let (waiting, _) = scene.asked();
    let first = scene.client.session.clone();
    scene.client.open(&scene.stage.project(), json!([]));
    assert_eq!(scene.client.prompt("read"), "end_turn");
    scene.client.session = first;
    scene.client.cancel();
    let answer = scene.client.answer_of(waiting);
    assert_eq!(answer["result"]["stopReason"], "cancelled");
    let (stage, recording) = scene.end();
    let fates: Vec<String> = lives(&recording.frames)
        .into_iter()
        .map(|(_, life)| life)
        .collect();
    assert_eq!(fates, [REFUSED, "pending in_progress completed"]);
    assert_eq!(stage.text("a"), None);
}

/// A server with one tool, which takes anything.
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
    let stage = Stage::new();
    let args = &case["input"]["args"];
    let script = json!([turn("send", args.clone())]).to_string();
    let script = stage.write("script.yaml", &script);
    let model = format!("script:{}", script.display());
    let agent = stage.agent(&["--model", &model]);
    let mut client = Client::greet(Recorder::start(agent), Offer::Nothing, NO);
    let server = json!({"name": "post", "command": "/bin/sh", "args": ["-c", SERVER], "env": []});
    client.open(&stage.project(), json!([server]));
    client.prompt("go");
    let recording = client.recorder.end();
    stage.settle(None);
    let asked = questions(&recording.frames);
    let shown = asked
        .first()
        .unwrap_or_else(|| panic!("no question: {}", said(&recording)));
    let shown = &shown["params"]["toolCall"];
    assert_eq!(shown["rawInput"], *args);
    let content = shown["content"].to_string();
    for part in ["to", "bcc", "evil", "pad"] {
        assert!(content.contains(part), "`{part}` is not in {content}");
    }
}

pub(super) fn flags_of_the_model_are_refused(case: &Value) {
    let stage = Stage::new();
    stage.write(super::scene::POLICY, "[[allow]]\nrun = 'ls'\n");
    let mut scene = Scene::on(stage, NO, &[turn_of(case)]);
    scene.client.prompt("go");
    let (_, recording) = scene.end();
    assert_eq!(questions(&recording.frames).len(), 0);
    assert_eq!(lives(&recording.frames)[0].1, REFUSED);
    assert!(said(&recording).contains("dangerouslyDisableSandbox"));
}

pub(super) fn a_model_raises_no_mode(_: &Value) {
    let steps = json!([
        {"call": {"tool": "switch_mode", "input": {"mode": "allow-all"}}},
        {"call": {"tool": "run_command", "input": {"command": "touch evil"}}},
    ]);
    let mut scene = Scene::open(NO, &[steps]);
    scene.client.prompt("go");
    let (stage, recording) = scene.end();
    let fates: Vec<String> = lives(&recording.frames)
        .into_iter()
        .map(|(_, life)| life)
        .collect();
    assert_eq!(fates, [REFUSED, REFUSED]);
    assert_eq!(questions(&recording.frames).len(), 2);
    assert!(!said(&recording).contains("current_mode_update"));
    assert_eq!(stage.text("evil"), None);
}
