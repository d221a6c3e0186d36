//! Exports, and `toolcall policy try` on them.
//! No call runs again.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::history::fixture::{read, recorded_calls};
use crate::home::CliHome;

/// Replaces everything that differs from run to run.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        let bare = word.trim_end();
        let is_id = |id: &str| id.len() >= 8 && id.chars().all(|c| c.is_ascii_hexdigit());
        let head = bare.split('/').next().unwrap_or_default();
        if is_id(head) {
            plain.push_str(&word.replacen(head, "ID", 1));
        } else {
            plain.push_str(word);
        }
    }
    plain
}

/// Returns the output of `toolcall policy try` for an export on standard input.
fn try_again(home: &CliHome, export: &str, args: &[&str]) -> String {
    let args = [&["policy", "try", "-"], args].concat();
    let mut command = home.toolcall(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(export.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let here = home.path().canonicalize().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace(here.to_str().unwrap(), "…")
}

/// Returns an export unchanged, with its directories.
fn export(home: &CliHome, sessions: &[&str]) -> String {
    let file = "export.jsonl";
    home.printed(&[&["history", "export", "--out", file], sessions].concat());
    read(home, file).unwrap()
}

fn check_try(home: &CliHome, export: &str, args: &[&str], expected: Expect) {
    expected.assert_eq(&plain(&try_again(home, export, args)));
}

#[test]
fn recorded_calls_are_evaluated_again() {
    let home = recorded_calls();
    let (code, ..) = home.run(&["call", "read_file", "--json", r#"{"path": 7}"#]);
    assert_eq!(code, Some(1));
    let export = export(&home, &[]);
    check_try(
        &home,
        &export,
        &[],
        expect![[r#"
            5 calls evaluated again: 5 with the same result, 0 with another

            1 call cannot be evaluated
              ID/call-1 read_file
                      cannot be evaluated: it ended before it was decided on
        "#]],
    );
    check_try(
        &home,
        &export,
        &["--mode", "read-only"],
        expect![[r#"
            5 calls evaluated again: 4 with the same result, 1 with another
                  1  ask → deny

            ask   → deny  ID/call-1 edit_file: Edit a.txt
                      mode `read-only` denies writing inside the workspace, whatever rules
                      say. You were asked then, and answered yes

            1 call cannot be evaluated
              ID/call-1 read_file
                      cannot be evaluated: it ended before it was decided on
        "#]],
    );
    let policy = home.write(
        "new.toml",
        "[[allow]]\nwrite = './*'\n[[ask]]\nrun = 'printf'\n",
    );
    let output = try_again(
        &home,
        &export,
        &["--policy", policy.to_str().unwrap(), "--json"],
    );
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(
        (&output["judged"], &output["different"]),
        (&json!(5), &json!(2))
    );
    assert_eq!(
        output["changes"],
        json!([
            {"was": "allow", "would": "ask", "calls": 1},
            {"was": "ask", "would": "allow", "calls": 1},
        ])
    );
    assert_eq!(output["unjudged"].as_array().unwrap().len(), 1);
}

#[test]
fn a_broken_policy_evaluates_nothing() {
    let home = recorded_calls();
    let export = export(&home, &[]);
    home.write("home/.config/toolcall/policy.toml", "[[allow]]\nrun = 7\n");
    home.write("project/export.jsonl", &export);
    let (code, text, complaint) = home.run(&["policy", "try", "export.jsonl"]);
    assert_eq!((code, &*text), (Some(1), ""));
    assert!(
        complaint.contains("see `toolcall policy check`"),
        "{complaint}"
    );
}

#[test]
fn calls_without_their_input_are_not_evaluated() {
    let home = CliHome::new();
    let secret = format!("command=printf ghp_{}", "a1B2".repeat(9));
    home.printed(&["call", "run_command", &secret, "--yes"]);
    let export = export(&home, &["last"]);
    assert!(export.contains("[redacted]"), "{export}");
    let output = try_again(&home, &export, &["--json"]);
    let output: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(output["judged"], 0);
    assert_eq!(
        output["unjudged"][0]["why"],
        "a secret was left out of what it touched"
    );
    // As in a history without contents.
    let bare = export.replace(r#""text":"printf [redacted]""#, r#""text":"""#);
    assert_ne!(bare, export);
    let text = try_again(&home, &bare, &[]);
    assert!(
        text.contains("cannot be evaluated: its input was not recorded"),
        "{text}"
    );
    let (code, _, complaint) = home.run(&["policy", "try", "a.txt"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("line 1 of `a.txt` was not written by `toolcall history export`"),
        "{complaint}"
    );
}

#[test]
fn a_closed_pipe_is_not_an_error_for_an_export() {
    let home = recorded_calls();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = home.toolcall(&["history", "export"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*complaint), (Some(0), ""));
}

#[test]
fn an_export_file_is_private() {
    let home = recorded_calls();
    let output = home.json(&["history", "export", "last", "--out", "calls.jsonl"]);
    let file = home.path().join("project/calls.jsonl");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let lines = read(&home, "calls.jsonl").unwrap();
    assert_eq!(output["records"], lines.lines().count());
    assert_eq!(
        home.printed(&["history", "export", "last"]),
        lines.replace(home.path().canonicalize().unwrap().to_str().unwrap(), "…")
    );
}
