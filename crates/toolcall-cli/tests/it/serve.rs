//! `toolcall mcp serve` as another agent starts it: lines in, lines out, and nothing left behind.
//! It must not need a person, a network or a setting of whoever runs the tests.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// No answer takes so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, and the lines to and from it.
struct Served {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Served {
    fn begin(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("a.txt"), "one\n").expect("a file");
        let mut process = Command::new(env!("CARGO_BIN_EXE_toolcall"))
            .args(["mcp", "serve"])
            .args(arguments)
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut served = Self {
            process,
            input,
            output,
            folder,
        };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        let answer = served.ask(1, "initialize", hello);
        assert_eq!(answer["serverInfo"]["name"], "toolcall");
        assert_eq!(answer["protocolVersion"], "2025-06-18");
        served.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        served
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open pipe");
        writeln!(input, "{message}").expect("a reader");
    }

    fn send(&mut self, id: u64, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(id, method, params);
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"].clone()
    }

    fn call(&mut self, id: u64, tool: &str, input: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": input}))
    }

    /// Hangs up and waits for the end.
    fn end(mut self) {
        self.input = None;
        let ended = within(PATIENCE, || self.process.try_wait().expect("a status"));
        assert!(ended.success(), "{ended}");
    }
}

/// Looks until there is something.
fn within<T>(limit: Duration, look: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    let mut looking = std::iter::repeat_with(look);
    loop {
        if let Some(found) = looking.next().flatten() {
            return found;
        }
        assert!(began.elapsed() < limit, "it never came");
        std::thread::yield_now();
    }
}

#[test]
fn tools_are_listed_and_called_and_nobody_is_passed_over() {
    let mut served = Served::begin(&[]);
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
    let kept = std::fs::read_to_string(served.folder.path().join("a.txt"));
    assert_eq!(kept.expect("a file"), "one\n");
    served.end();
}

#[test]
fn the_end_of_the_input_leaves_no_process() {
    let mut served = Served::begin(&["--mode", "allow-all"]);
    let (began, marker) = (served.folder.path().join("began"), std::process::id());
    let command = format!("touch began && sleep 8{marker}");
    served.send(
        2,
        "tools/call",
        json!({"name": "run_command", "arguments": {"command": command}}),
    );
    within(PATIENCE, || began.exists().then_some(()));
    let sleeping = format!("8{marker}");
    within(PATIENCE, || runs(&sleeping).then_some(()));
    served.end();
    assert!(!runs(&sleeping), "the command still runs");
}

/// Whether a program with this argument runs.
fn runs(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .map(|process| process.path())
        .any(|process| sleeps(&process, argument))
}

fn sleeps(process: &Path, argument: &str) -> bool {
    let words = std::fs::read(process.join("cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0);
    words
        .next()
        .is_some_and(|program| program.ends_with(b"sleep"))
        && words.any(|word| word == argument.as_bytes())
}
