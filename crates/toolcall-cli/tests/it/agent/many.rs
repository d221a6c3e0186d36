//! Two hundred sessions at once on one connection, each of which runs calls.
//! Nothing is timed: what is running is known from gates that keep commands waiting.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::agent::cases::YES;
use crate::agent::client::{Client, Offer};
use crate::agent::linter::{judge, lives};
use crate::agent::stage::Stage;
use crate::recorder::Recorder;

const SESSIONS: usize = 200;

/// A command that runs until its gate is opened, beside a file that is written and one that is read.
const TURN: &str = "
- - calls:
      - {tool: run_command, input: {command: cat gate}}
      - {tool: write_file, input: {path: new.txt, content: one more}}
      - {tool: read_file, input: {path: there.txt}}
";

#[test]
fn two_hundred_sessions_run_calls_at_once() {
    let stage = Stage::new();
    let script = stage.write("script.yaml", TURN);
    let model = format!("script:{}", script.display());
    let agent = stage.agent(&["--mode", "allow-all", "--model", &model]);
    let mut client = Client::greet(Recorder::start(agent), Offer::Nothing, YES);
    let prompts = (0..SESSIONS).map(|number| begin(&mut client, &stage, number));
    let mut open: BTreeSet<u64> = prompts.collect();
    let gates = open_gates(&stage);
    while !open.is_empty() {
        let answer = client.until(|message| message.get("result").is_some());
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        open.retain(|id| answer["id"] != *id);
    }
    gates.join().unwrap();
    stage.settle(Some(client.recorder.id()));
    check(client, &stage);
}

/// Whoever opens a gate for writing waits until the command reads from it, so all of them run before one ends.
/// Meanwhile somebody has to listen to the agent.
fn open_gates(stage: &Stage) -> JoinHandle<()> {
    let gates: Vec<_> = (0..SESSIONS)
        .map(|number| project(stage, number).join("gate"))
        .collect();
    std::thread::spawn(move || {
        let open = |gate| File::options().write(true).open(gate).unwrap();
        let gates: Vec<File> = gates.into_iter().map(open).collect();
        drop(gates);
    })
}

fn check(client: Client, stage: &Stage) {
    let recording = client.recorder.end();
    stage.settle(None);
    assert_eq!(judge(&recording.frames), Vec::<String>::new());
    let all = lives(&recording.frames);
    assert_eq!(all.len(), 3 * SESSIONS);
    for (name, life) in all {
        assert_eq!(life, "pending in_progress completed", "{name}");
    }
    for number in 0..SESSIONS {
        let written = std::fs::read_to_string(project(stage, number).join("new.txt"));
        assert_eq!(written.unwrap(), "one more");
    }
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
}

/// Opens a session in a folder of its own and prompts it.
fn begin(client: &mut Client, stage: &Stage, number: usize) -> u64 {
    let folder = project(stage, number);
    furnish(&folder);
    client.open(&folder, json!([]));
    let prompt: Value = json!([{"type": "text", "text": "go"}]);
    let params = json!({"sessionId": client.session, "prompt": prompt});
    client.request("session/prompt", params)
}

/// A file to read, and a gate that keeps a command waiting.
fn furnish(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("there.txt"), "one\n").unwrap();
    let made = Command::new("mkfifo").arg(folder.join("gate")).status();
    assert!(made.unwrap().success());
}

fn project(stage: &Stage, number: usize) -> std::path::PathBuf {
    stage.path(&format!("projects/{number}"))
}
