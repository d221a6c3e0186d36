//! Runs `toolcall tools` and `toolcall call` in a temporary home and project, and checks their output.
//! No network is used, and nothing outside of those directories is changed.

#![cfg(unix)]

use std::io::pipe;
use std::process::Stdio;

use serde_json::Value;
use toolcall_acp::lint::{Direction, Frame, lint};

use crate::home::{CliHome, ended};

const ESCAPE: char = '\u{1b}';

/// Creates a home whose project has a file of two lines.
fn new_home() -> CliHome {
    let home = CliHome::new();
    home.write("project/a.txt", "one\ntwo\n");
    home
}

const TOOLS: [&str; 14] = [
    "read_file",
    "write_file",
    "edit_file",
    "delete_file",
    "move_file",
    "list_directory",
    "find_path",
    "search_files",
    "run_command",
    "command_output",
    "stop_command",
    "fetch",
    "thinking",
    "todo_write",
];

#[test]
fn every_tool_is_listed() {
    let home = new_home();
    let text = home.printed(&["tools"]);
    let heads = text.lines().filter(|line| !line.starts_with(' '));
    let names = heads.map(|line| line.split(' ').next().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), TOOLS);
    assert!(!text.contains(ESCAPE), "{text}");
}

#[test]
fn tools_are_listed_as_json() {
    let text = new_home().printed(&["tools", "--json"]);
    let tools: Vec<Value> = serde_json::from_str(&text).unwrap();
    let names: Vec<&str> = tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    for tool in &tools {
        for key in ["description", "kind", "origin"] {
            let is_present = tool[key].as_str().is_some_and(|text| !text.is_empty());
            assert!(is_present, "{key} of {tool}");
        }
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
    }
}

#[test]
fn one_tool_is_shown_in_full() {
    let home = new_home();
    let text = home.printed(&["tools", "edit_file"]);
    let (_, schema) = text.split_once("\n{").unwrap();
    let schema: Value = serde_json::from_str(&format!("{{{schema}")).unwrap();
    assert_eq!(schema["required"], serde_json::json!(["path", "edits"]));
    let by_alias = home.printed(&["tools", "grep"]);
    assert!(
        by_alias.contains("also: grep, search_in_files"),
        "{by_alias}"
    );
}

#[test]
fn an_unknown_tool_is_explained() {
    let (code, text, complaint) = new_home().run(&["tools", "edit_fil"]);
    assert_eq!((code, &*text), (Some(1), ""));
    let near = "there is no tool `edit_fil`; did you mean `edit_file`";
    assert!(complaint.contains(near), "{complaint}");
}

#[test]
fn there_is_no_advice_for_the_built_in_tools() {
    let home = new_home();
    assert_eq!(home.printed(&["tools", "--lint"]), "14 tools, no advice\n");
    assert_eq!(home.printed(&["tools", "--lint", "--json"]), "[]\n");
}

/// The exit code tells how a call ended, and the text why.
#[test]
fn exit_codes_tell_the_endings() {
    for (args, code, said) in [
        (&["read_file", "path=a.txt"][..], 0, "one\ntwo\n"),
        (&["read_file", "path=b.txt"], 1, "b.txt` does not exist"),
        (&["nosuch"], 1, "there is no tool `nosuch`"),
        (
            &["read_file", "--json", r#"{"path": 7}"#],
            1,
            "must be string, not number",
        ),
        (
            &["write_file", "path=b.txt", "content=x"],
            3,
            "add --yes to allow it",
        ),
        (
            &["write_file", "path=b.txt", "content=x", "--yes"],
            0,
            "created `b.txt`",
        ),
        (
            &["run_command", "command=exit 7", "--yes"],
            1,
            "exit code 7",
        ),
        (
            &["run_command", "command=sleep 1000", "timeout=1", "--yes"],
            124,
            "timed out",
        ),
    ] {
        let home = new_home();
        let (ended, text, complaint) = home.run(&[&["call"], args].concat());
        assert_eq!((ended, &*complaint), (Some(code), ""), "{args:?}: {text}");
        // Long lines are wrapped, and indented below their call.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&said), "{args:?}: {text}");
        let is_written = home.has("b.txt");
        assert_eq!(is_written, args.contains(&"content=x") && code == 0);
    }
}

#[test]
fn invalid_arguments_are_explained() {
    for (args, code, said) in [
        (&["call"][..], 2, "<TOOL>"),
        (
            &["call", "read_file", "a.txt"],
            2,
            "`a.txt` is not `key=value`",
        ),
        (
            &["call", "read_file", "--json", "{"],
            2,
            "`--json` takes one JSON object",
        ),
        (
            &["call", "read_file", "path=a", "--json", "{}"],
            2,
            "cannot be used with",
        ),
        (
            &["call", "read_file", "path=a", "--cwd", "nowhere"],
            1,
            "`nowhere` is not a directory",
        ),
    ] {
        let (ended, text, complaint) = new_home().run(args);
        assert_eq!((ended, &*text), (Some(code), ""), "{args:?}: {complaint}");
        assert!(complaint.contains(said), "{args:?}: {complaint}");
    }
}

#[test]
fn values_and_json_make_the_same_call() {
    let home = new_home();
    let result = |args: &[&str]| {
        let text = home.printed(&[&["call", "read_file"], args].concat());
        let lines = text.lines().filter(|line| !line.starts_with(' '));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let by_values = result(&["path=a.txt", "line=2", "limit=1"]);
    let by_json = result(&["--json", r#"{"path": "a.txt", "line": 2, "limit": 1}"#]);
    assert_eq!(by_values, ["two", "`a.txt`: line 2 of 2, 8 bytes in all"]);
    assert_eq!(by_json, by_values);
    let elsewhere = home.at("project");
    let mut command = home.toolcall(&["call", "read_file", "path=a.txt", "--cwd"]);
    command.arg(elsewhere).current_dir("/");
    assert_eq!(ended(command.output().unwrap()).0, Some(0));
}

#[test]
fn events_are_lines_of_json_and_nothing_else() {
    let home = new_home();
    let text = home.printed(&[
        "call",
        "write_file",
        "path=b",
        "content=x",
        "--yes",
        "--events",
    ]);
    let event = |line: &str| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["event"].as_str().unwrap().to_owned()
    };
    let events: Vec<String> = text.lines().map(event).collect();
    let expected = [
        "announced",
        "prepared",
        "asked",
        "decided",
        "started",
        "finished",
    ];
    assert_eq!(events, expected);
}

#[test]
fn the_wire_is_what_an_editor_would_see() {
    for (consent, ending, code) in [(&["--yes"][..], "completed", 0), (&[], "failed", 3)] {
        let args = ["call", "write_file", "path=b.txt", "content=x", "--wire"];
        let output = new_home().toolcall(&[&args, consent].concat()).output();
        let (status, text, complaint) = ended(output.unwrap());
        assert_eq!((status, &*complaint), (Some(code), ""), "{text}");
        let messages: Vec<(Direction, Value)> = text.lines().map(message).collect();
        let frames = messages.iter().map(|(direction, message)| Frame {
            direction: *direction,
            message,
        });
        assert_eq!(lint(frames), []);
        assert!(text.contains("session/request_permission"), "{text}");
        let updates = messages
            .iter()
            .map(|(_, message)| &message["params"]["update"]);
        assert_eq!(
            updates.filter(|update| update["status"] == ending).count(),
            1
        );
    }
}

fn message(line: &str) -> (Direction, Value) {
    let (direction, text) = match (line.strip_prefix("agent  "), line.strip_prefix("client ")) {
        (Some(text), _) => (Direction::FromAgent, text),
        (_, Some(text)) => (Direction::FromClient, text),
        (None, None) => panic!("`{line}` has no sender"),
    };
    (direction, serde_json::from_str(text).unwrap())
}

/// Every run is its own session.
#[test]
fn long_output_of_another_session_is_not_read() {
    let home = new_home();
    let args = [
        "call",
        "run_command",
        "command=seq 50000",
        "--yes",
        "--wire",
    ];
    let (_, text, _) = ended(home.toolcall(&args).output().unwrap());
    let updates = text.lines().map(message).map(|(_, message)| message);
    let mut addresses = updates.filter_map(|message| {
        let content = message["params"]["update"]["content"].as_array()?.clone();
        let mut uris = content.iter().filter_map(|c| c["content"]["uri"].as_str());
        uris.next().map(str::to_owned)
    });
    let address = addresses.next_back().unwrap();
    let path = format!("path={address}");
    let (code, text, _) = home.run(&["call", "read_file", &path, "--yes"]);
    assert_eq!(code, Some(1), "{text}");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("outside the folders of this session"),
        "{text}"
    );
}

#[test]
fn no_color_is_respected() {
    let home = new_home();
    for args in [&["tools"][..], &["call", "read_file", "path=a.txt"]] {
        let mut forced = home.toolcall(args);
        forced.env("CLICOLOR_FORCE", "1");
        assert!(ended(forced.output().unwrap()).1.contains(ESCAPE));
        let mut plain = home.toolcall(args);
        plain.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
        assert!(!ended(plain.output().unwrap()).1.contains(ESCAPE));
    }
}

/// The call ends as usual; only its output is lost.
#[test]
fn a_closed_pipe_is_not_an_error() {
    let home = new_home();
    for args in [
        &["tools"][..],
        &["tools", "--json"],
        &["call", "read_file", "path=a.txt"],
        &["call", "read_file", "path=a.txt", "--events"],
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let mut command = home.toolcall(args);
        command.stdout(writer).stderr(Stdio::piped());
        let output = command.spawn().unwrap().wait_with_output().unwrap();
        let (code, _, complaint) = ended(output);
        assert_eq!((code, &*complaint), (Some(0), ""), "{args:?}");
    }
}
