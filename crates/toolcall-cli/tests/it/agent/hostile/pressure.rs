//! Cases about memory, pipes and signals: more than fits, nobody who reads, and an end without a word.
//! Memory is that of the agent's own process, from the kernel.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolcall_testkit::process::Process;
use toolcall_testkit::wait_for;

use super::scene::{SILENT, Scene, running};
use crate::agent::cases::YES;
use crate::agent::client::{Client, Offer};
use crate::agent::stage::Stage;
use crate::recorder::{PATIENCE, Recorder};

const MIB: u64 = 1024 * 1024;

/// What no peer may make the agent take.
const MOST: u64 = 128 * MIB;

pub(super) fn a_line_without_end_is_bounded(_: &Value) {
    let stage = Stage::new();
    let mut agent = stage
        .agent(&[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = agent.stdin.take().unwrap();
    let piece = vec![b'x'; MIB as usize];
    let begun = input.write_all(br#"{"jsonrpc":"2.0","#);
    // An agent may close the connection instead of reading on; then there is nothing more to write.
    let written = begun.is_ok() && (0..200).all(|_| input.write_all(&piece).is_ok());
    let taken = Process::new(agent.id()).peak_memory();
    drop(input);
    let output = agent.wait_with_output().unwrap();
    assert!(taken < MOST, "{} MiB", taken / MIB);
    let said = String::from_utf8(output.stdout).unwrap();
    let refused = said
        .lines()
        .filter(|line| line.contains("\"error\""))
        .count();
    assert!(refused == 1 || !written, "it is told once: {said}");
}

pub(super) fn a_client_that_does_not_read_is_bounded(_: &Value) {
    let much = running("sh -c 'yes 0123456789abcdef | head -c 268435456; touch done.txt'");
    let mut scene = Scene::open(YES, &[much]);
    let (id, _) = scene.asked();
    // Nobody reads until the command is through.
    wait_for(PATIENCE, || scene.stage.text("done.txt"));
    let answer = scene.client.answer_of(id);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let taken = Process::new(scene.client.recorder.id()).peak_memory();
    assert!(taken < MOST, "{} MiB", taken / MIB);
    scene.end();
}

pub(super) fn both_may_write_before_they_read(_: &Value) {
    let stage = Stage::new();
    let recorder = Recorder::start(stage.agent(&[]));
    let mut client = Client::greet(recorder, Offer::Nothing, SILENT);
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
        let mut scene = Scene::open(
            YES,
            &[running("sh -c 'sleep 601 & setsid sleep 602 & sleep 603'")],
        );
        scene.begin();
        scene
            .client
            .until(|message| message["params"]["update"]["status"] == "in_progress");
        let id = scene.client.recorder.id().to_string();
        let sent = Command::new("kill")
            .args([&format!("-{signal}"), &id])
            .status();
        assert!(sent.unwrap().success());
        let recording = scene.client.recorder.end();
        assert_eq!(recording.complaints, "", "{signal}");
        scene.stage.settle(None);
    }
}
