//! Two hundred sessions at once on one connection, each of which runs calls.
//! Nothing is timed: named pipes keep the commands running until all of them have started.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::agent::cases::YES;
use crate::agent::client::{ClientFeatures, TestClient};
use crate::agent::home::AgentHome;
use crate::agent::linter::{call_statuses, lint_recording};
use crate::recorder::Recorder;

const SESSIONS: usize = 200;

/// A command that runs until its pipe is opened, a file that is written and one that is read.
const TURN: &str = "
- - calls:
      - {tool: run_command, input: {command: cat gate}}
      - {tool: write_file, input: {path: new.txt, content: one more}}
      - {tool: read_file, input: {path: there.txt}}
";

#[test]
fn two_hundred_sessions_run_calls_at_once() {
    let home = AgentHome::new();
    let script = home.write("script.yaml", TURN);
    let model = format!("script:{}", script.display());
    let agent = home.agent(&["--mode", "allow-all", "--model", &model]);
    let mut client = TestClient::initialize(Recorder::start(agent), ClientFeatures::Nothing, YES);
    let prompts = (0..SESSIONS).map(|number| begin(&mut client, &home, number));
    let mut open: BTreeSet<u64> = prompts.collect();
    let gates = open_gates(&home);
    while !open.is_empty() {
        let answer = client.until(|message| message.get("result").is_some());
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
        open.retain(|id| answer["id"] != *id);
    }
    gates.join().unwrap();
    home.wait_for_processes(Some(client.recorder.id()));
    check(client, &home);
}

/// Opens all pipes for writing. That blocks until the command reads, so all commands run before one ends.
/// A thread does it, since the agent's output must be read meanwhile.
fn open_gates(home: &AgentHome) -> JoinHandle<()> {
    let gates: Vec<_> = (0..SESSIONS)
        .map(|number| project(home, number).join("gate"))
        .collect();
    std::thread::spawn(move || {
        let open = |gate| File::options().write(true).open(gate).unwrap();
        let gates: Vec<File> = gates.into_iter().map(open).collect();
        drop(gates);
    })
}

fn check(client: TestClient, home: &AgentHome) {
    let recording = client.recorder.end();
    home.wait_for_processes(None);
    assert_eq!(lint_recording(&recording.frames), Vec::<String>::new());
    let all = call_statuses(&recording.frames);
    assert_eq!(all.len(), 3 * SESSIONS);
    for (name, statuses) in all {
        assert_eq!(statuses, "pending in_progress completed", "{name}");
    }
    for number in 0..SESSIONS {
        let written = std::fs::read_to_string(project(home, number).join("new.txt"));
        assert_eq!(written.unwrap(), "one more");
    }
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
}

/// Opens a session in its own directory and prompts it.
fn begin(client: &mut TestClient, home: &AgentHome, number: usize) -> u64 {
    let directory = project(home, number);
    create_files(&directory);
    client.open(&directory, json!([]));
    let prompt: Value = json!([{"type": "text", "text": "go"}]);
    let params = json!({"sessionId": client.session, "prompt": prompt});
    client.request("session/prompt", params)
}

/// Creates a file to read, and a pipe that blocks a command.
fn create_files(directory: &Path) {
    std::fs::create_dir_all(directory).unwrap();
    std::fs::write(directory.join("there.txt"), "one\n").unwrap();
    let made = Command::new("mkfifo").arg(directory.join("gate")).status();
    assert!(made.unwrap().success());
}

fn project(home: &AgentHome, number: usize) -> std::path::PathBuf {
    home.path(&format!("projects/{number}"))
}
