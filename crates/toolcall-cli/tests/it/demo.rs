//! Runs the demo with only `PATH` in its environment, and checks its output.
//! No test here sleeps.

use std::collections::BTreeMap;
use std::io::pipe;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use toolcall_acp::lint::{Direction, Frame, lint};
use toolcall_testkit::dir::isolated;

use crate::PROGRAM;

const ESCAPE: char = '\u{1b}';

fn toolcall(args: &[&str]) -> Command {
    isolated(PROGRAM, args)
}

fn run(mut command: Command) -> (Output, String) {
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text)
}

/// Returns the output of a successful run.
fn printed(args: &[&str]) -> String {
    let (output, text) = run(toolcall(args));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*complaint), (Some(0), ""));
    text
}

/// The lines of `demo --json`.
fn lines() -> Vec<Value> {
    let text = printed(&["demo", "--json"]);
    let lines = text.lines().map(serde_json::from_str);
    lines.map(Result::unwrap).collect()
}

/// The events of `demo --json`, by call.
fn events() -> BTreeMap<String, Vec<Value>> {
    let mut calls: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in lines().into_iter().filter(|line| line["event"] != "plan") {
        let call = event["call"].as_str().unwrap().to_owned();
        calls.entry(call).or_default().push(event);
    }
    calls
}

fn names(events: &[Value]) -> Vec<&str> {
    let name = events.iter().map(|event| event["event"].as_str());
    name.map(Option::unwrap).collect()
}

#[test]
fn the_demo_is_plain_text_without_a_terminal() {
    let text = printed(&["demo"]);
    assert!(!text.contains(ESCAPE), "{text}");
    assert!(text.contains("no terminal to ask at, so the demo answers: yes, this once"));
    let wide: Vec<&str> = text.lines().filter(|l| l.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0]);
}

#[test]
fn the_demo_shows_diffs_reasons_and_near_names() {
    let text = printed(&["demo", "--yes"]);
    for shown in [
        "          -     echo \"Hi $1\"\n          +     echo \"Hello, $1!\"\n",
        "answered by --yes: Always allow in this session: write = \"./README.md\"\n",
        "          not allowed: `rm` is never run",
        "`oldText` is not in the file. The nearest is",
        "`/path` must be string, not number",
        "there is no tool `read_files`; did you mean `read_file`",
        "████████████████████ 100%  4 of 4 files",
        "          ✓ Greet properly\n          ▸ Count the words\n",
        "│ output     test parts ... ok\n",
        "│ output     no change so far\n",
    ] {
        assert!(text.contains(shown), "`{shown}` is not in:\n{text}");
    }
}

#[test]
fn the_demo_ends_with_its_timeline_and_its_figures() {
    let text = printed(&["demo"]);
    let (_, end) = text.split_once("\n  call    ending       title").unwrap();
    assert!(!text.contains("went wrong"), "{text}");
    for shown in [
        "\n  call-1  ✓ completed  Search \"TODO\"",
        "\n  call-8  ✗ denied     cd src && rm -rf .",
        "\n  call-9  ■ cancelled  sh watch.sh",
        "\n  call-14 ✗ failed     Calling read_files",
        "█ running",
        "\nedit_file        4 ████████  75 %",
        "\nrun_command      3 ██████    33 %",
        "\n  the tools:                  toolcall tools\n",
    ] {
        assert!(end.contains(shown), "`{shown}` is not in:\n{end}");
    }
}

#[test]
fn every_call_is_announced_first_and_ends_once_at_last() {
    for (call, events) in events() {
        let names = names(&events);
        let finished = names.iter().filter(|name| **name == "finished").count();
        assert_eq!(names.first(), Some(&"announced"), "{call}: {names:?}");
        assert_eq!(names.last(), Some(&"finished"), "{call}: {names:?}");
        assert_eq!(finished, 1, "{call}: {names:?}");
    }
}

#[test]
fn nothing_starts_undecided() {
    for (call, events) in events() {
        let names = names(&events);
        let index = |wanted| names.iter().position(|name| *name == wanted);
        if let Some(started) = index("started") {
            let decided = index("decided");
            assert!(decided.is_some_and(|at| at < started), "{call}: {names:?}");
        }
    }
}

#[test]
fn the_endings_are_those_of_the_story() {
    let calls = events();
    let ending = |number: usize| {
        let last = calls[&format!("call-{number}")].last().unwrap();
        format!("{} {}", last["tool"], last["ending"]).replace('"', "")
    };
    let endings: Vec<String> = (1..=calls.len()).map(ending).collect();
    assert_eq!(
        endings,
        [
            "search_files completed",
            "read_file completed",
            "read_file completed",
            "edit_file completed",
            "edit_file completed",
            "edit_file completed",
            "run_command completed",
            "run_command denied",
            "run_command cancelled",
            "todo_write completed",
            "count_words completed",
            "edit_file failed",
            "read_file failed",
            "read_files failed",
        ]
    );
}

#[test]
fn the_plan_is_shown() {
    let mut plans: Vec<Value> = lines();
    plans.retain(|line| line["event"] == "plan");
    let steps: Vec<&Value> = plans.iter().map(|plan| &plan["steps"]).collect();
    let expected = serde_json::json!([
        {"content": "Greet properly", "status": "completed"},
        {"content": "Count the words", "status": "in_progress"},
    ]);
    assert_eq!(steps, [&expected]);
}

#[test]
fn the_title_follows_the_input_that_is_written() {
    let calls = events();
    let titles: Vec<&str> = calls["call-6"]
        .iter()
        .filter_map(|event| event["title"].as_str())
        .collect();
    assert_eq!(titles.first(), Some(&"Calling edit_file"));
    assert_eq!(titles.last(), Some(&"Edit README.md"));
}

/// The messages of `demo --wire --json`, with who sent them.
fn recording() -> Vec<(String, Value)> {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        (line["dir"].as_str().unwrap().to_owned(), line["msg"].take())
    };
    printed(&["demo", "--wire", "--json"])
        .lines()
        .map(line)
        .collect()
}

#[test]
fn the_wire_is_what_an_editor_would_see() {
    let recording = recording();
    let frames = recording.iter().map(|(from, message)| Frame {
        direction: match from.as_str() {
            "a2c" => Direction::FromAgent,
            _ => Direction::FromClient,
        },
        message,
    });
    assert_eq!(lint(frames), []);
    let updates = recording
        .iter()
        .map(|(_, message)| &message["params"]["update"]);
    let ends = |update: &&Value| update["status"] == "completed" || update["status"] == "failed";
    assert_eq!(updates.filter(ends).count(), 14);
    let methods = recording.iter().map(|(_, message)| &message["method"]);
    let stops = methods.filter(|method| *method == "_toolcall/cancel");
    assert_eq!(stops.count(), 1);
    let (from, last) = recording.last().unwrap();
    assert_eq!(
        (from.as_str(), &last["result"]["stopReason"]),
        ("a2c", &Value::from("end_turn"))
    );
}

#[test]
fn the_wire_as_text_says_who_sent_each_line() {
    let text = printed(&["demo", "--wire"]);
    let is_marked = |line: &str| line.starts_with("agent  {") || line.starts_with("client {");
    assert!(text.lines().all(is_marked), "{text}");
    assert!(text.contains("session/request_permission"));
}

#[test]
fn no_color_is_respected() {
    let mut forced = toolcall(&["demo"]);
    forced.env("CLICOLOR_FORCE", "1");
    assert!(run(forced).1.contains(ESCAPE));
    let mut plain = toolcall(&["demo"]);
    plain.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    assert!(!run(plain).1.contains(ESCAPE));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for args in [&["demo"][..], &["demo", "--json"], &["completions", "bash"]] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = toolcall(args);
        let output = command
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        let ended = (output.status.code(), &*complaint);
        assert_eq!(ended, (Some(0), ""), "{args:?}");
    }
}

#[test]
fn the_demo_leaves_nothing_behind() {
    let temp = tempfile::tempdir().unwrap();
    for args in [&["demo"][..], &["demo", "--json"], &["demo", "--wire"]] {
        let mut command = toolcall(args);
        command.env("TMPDIR", temp.path());
        let (output, _) = run(command);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(temp.path().read_dir().unwrap().count(), 0, "{args:?}");
    }
}

#[test]
fn help_has_examples() {
    for args in [
        &["--help"][..],
        &["demo", "--help"],
        &["tools", "--help"],
        &["call", "--help"],
        &["completions", "-h"],
    ] {
        let text = printed(args);
        assert!(text.contains("Examples:\n"), "{args:?}: {text}");
    }
}

#[test]
fn a_misspelt_command_is_explained() {
    let (output, _) = run(toolcall(&["dmeo"]));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint.contains("'demo'"), "{complaint}");
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for word in ["toolcall", "demo", "tools", "call", "json"] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}
