//! Cases about memory, pipes and signals: too much input, a client that does not read, and killed agents.
//! Memory is the agent's peak, as the kernel reports it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolcall_testkit::process::Process;
use toolcall_testkit::wait_for;

use super::scripted_session::{SILENT, ScriptedSession, running};
use crate::agent::cases::YES;
use crate::agent::client::{ClientFeatures, TestClient};
use crate::agent::home::AgentHome;
use crate::recorder::{Recorder, TIMEOUT};

const MIB: u64 = 1024 * 1024;

/// The most memory that a peer may make the agent use.
const MAX_MEMORY: u64 = 128 * MIB;

pub(super) fn a_line_without_end_is_bounded(_: &Value) {
    let home = AgentHome::new();
    let mut agent = home
        .agent(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = agent.stdin.take().unwrap();
    let piece = vec![b'x'; MIB as usize];
    let begun = input.write_all(br#"{"jsonrpc":"2.0","#);
    // The agent may close the connection; then writing fails.
    let written = begun.is_ok() && (0..200).all(|_| input.write_all(&piece).is_ok());
    let taken = Process::new(agent.id()).peak_memory();
    drop(input);
    let output = agent.wait_with_output().unwrap();
    assert!(taken < MAX_MEMORY, "{} MiB", taken / MIB);
    let output_text = String::from_utf8(output.stdout).unwrap();
    let refused = output_text
        .lines()
        .filter(|line| line.contains("\"error\""))
        .count();
    assert!(refused == 1 || !written, "one error is sent: {output_text}");
}

pub(super) fn a_client_that_does_not_read_is_bounded(_: &Value) {
    let much = running("sh -c 'yes 0123456789abcdef | head -c 268435456; touch done.txt'");
    let mut session = ScriptedSession::open(YES, &[much]);
    let (id, _) = session.asked();
    // Nothing is read until the command has finished.
    wait_for(TIMEOUT, || session.home.text("done.txt"));
    let answer = session.client.answer_of(id);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let taken = Process::new(session.client.recorder.id()).peak_memory();
    assert!(taken < MAX_MEMORY, "{} MiB", taken / MIB);
    session.end();
}

pub(super) fn both_may_write_before_they_read(_: &Value) {
    let home = AgentHome::new();
    let recorder = Recorder::start(home.agent(&[]));
    let mut client = TestClient::initialize(recorder, ClientFeatures::Nothing, SILENT);
    // More than both pipes hold, in both directions, before anything is read.
    let padding = "x".repeat(1024);
    let ids: Vec<u64> = (0..512)
        .map(|_| client.request("_nobody/knows", json!({"padding": padding})))
        .collect();
    for id in ids {
        let answer = client.answer_of(id);
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    let recording = client.recorder.end();
    assert_eq!((recording.code, &*recording.complaints), (Some(0), ""));
}

pub(super) fn no_signal_leaves_a_process(_: &Value) {
    for signal in ["TERM", "KILL"] {
        let mut session = ScriptedSession::open(
            YES,
            &[running("sh -c 'sleep 601 & setsid sleep 602 & sleep 603'")],
        );
        session.begin();
        session
            .client
            .until(|message| message["params"]["update"]["status"] == "in_progress");
        let id = session.client.recorder.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &id])
            .status();
        assert!(sent.unwrap().success());
        let recording = session.client.recorder.end();
        assert_eq!(recording.complaints, "", "{signal}");
        session.home.wait_for_processes(None);
    }
}
