//! `toolcall mcp serve`, as another agent starts it: requests, answers, and no processes left behind.
//! The tests need no user, no network and no settings.

#![cfg(target_os = "linux")]

use serde_json::{Value, json};
use toolcall_testkit::client::request;
use toolcall_testkit::process::Process;
use toolcall_testkit::wait_for;

use crate::home::CliHome;
use crate::recorder::{Recorder, TIMEOUT};

/// A running server, and the lines to and from it.
struct TestServer {
    recorder: Recorder,
    home: CliHome,
}

impl TestServer {
    fn start(arguments: &[&str]) -> Self {
        let home = CliHome::new();
        let server = home.toolcall(&[&["mcp", "serve"], arguments].concat());
        let recorder = Recorder::start(server);
        let mut served = Self { recorder, home };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = served.ask(1, "initialize", hello);
        assert_eq!(answer["serverInfo"]["name"], "toolcall");
        assert_eq!(answer["protocolVersion"], "2025-06-18");
        let greeted = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        served.recorder.send(&greeted);
        served
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.recorder.send(&request(id, method, params));
        let answer = self.recorder.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, id: u64, tool: &str, input: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": input}))
    }

    /// Closes the input and waits for the end.
    fn end(self) -> CliHome {
        assert_eq!(self.recorder.end().code, Some(0));
        self.home
    }
}

#[test]
fn tools_are_listed_and_called_and_questions_are_not_skipped() {
    let mut served = TestServer::start(&[]);
    let listed = served.ask(2, "tools/list", json!({}));
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(names.contains(&"read_file") && names.contains(&"run_command"));
    let read = served.call(3, "read_file", json!({"path": "a.txt"}));
    assert_eq!(read["content"][0]["text"], "one\n");
    let refused = served.call(
        4,
        "write_file",
        json!({"path": "a.txt", "content": "two\n"}),
    );
    assert_eq!(refused["isError"], true);
    let why = refused["content"][0]["text"].as_str().expect("a text");
    assert!(
        why.contains("shows no forms") && why.contains("toolcall policy"),
        "{why}"
    );
    let home = served.end();
    assert_eq!(home.read("project/a.txt").as_deref(), Some("one\n"));
}

#[test]
fn the_end_of_the_input_leaves_no_process() {
    let mut served = TestServer::start(&["--mode", "allow-all"]);
    let sleeping = format!("8{}", std::process::id());
    let command = format!("touch began && sleep {sleeping}");
    let params = json!({"name": "run_command", "arguments": {"command": command}});
    served.recorder.send(&request(2, "tools/call", params));
    wait_for(TIMEOUT, || served.home.has("began").then_some(()));
    wait_for(TIMEOUT, || sleeps(&sleeping).then_some(()));
    let _home = served.end();
    assert!(!sleeps(&sleeping), "the command still runs");
}

/// Returns whether a `sleep` with this argument runs.
fn sleeps(argument: &str) -> bool {
    Process::all().any(|process| match process.words().as_slice() {
        [program, words @ ..] => program.ends_with("sleep") && words.contains(&argument.to_owned()),
        [] => false,
    })
}
