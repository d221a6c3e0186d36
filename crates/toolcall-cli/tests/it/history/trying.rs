//! Exports, and the rules of today tried on them.
//! Nothing is run again.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::history::ground::{day, read};
use crate::place::Place;

/// Everything that differs from run to run, taken out.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        let bare = word.trim_end();
        let is_id = |id: &str| id.len() >= 8 && id.chars().all(|c| c.is_ascii_hexdigit());
        let head = bare.split('/').next().unwrap_or_default();
        match is_id(head) {
            true => plain.push_str(&word.replacen(head, "ID", 1)),
            false => plain.push_str(word),
        }
    }
    plain
}

/// What `toolcall policy try` says of an export that is handed to it.
fn try_again(place: &Place, export: &str, args: &[&str]) -> String {
    let args = [&["policy", "try", "-"], args].concat();
    let mut command = place.toolcall(&args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(export.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let here = place.path().canonicalize().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.replace(here.to_str().unwrap(), "…")
}

/// An export as it is, folders and all.
fn export(place: &Place, sessions: &[&str]) -> String {
    let file = "export.jsonl";
    place.printed(&[&["history", "export", "--out", file], sessions].concat());
    read(place, file).unwrap()
}

fn check_try(place: &Place, export: &str, args: &[&str], expected: Expect) {
    expected.assert_eq(&plain(&try_again(place, export, args)));
}

#[test]
fn recorded_calls_are_judged_again() {
    let place = day();
    let (code, ..) = place.run(&["call", "read_file", "--json", r#"{"path": 7}"#]);
    assert_eq!(code, Some(1));
    let export = export(&place, &[]);
    check_try(
        &place,
        &export,
        &[],
        expect![[r#"
            5 calls judged again: 5 as before, 0 differently

            1 call cannot be judged
              ID/call-1 read_file
                      cannot be judged: it ended before it was decided on
        "#]],
    );
    check_try(
        &place,
        &export,
        &["--mode", "read-only"],
        expect![[r#"
            5 calls judged again: 4 as before, 1 differently
                  1  ask → deny

            ask   → deny  ID/call-1 edit_file: Edit a.txt
                      no rule covers writing in the roots in mode read-only. It was asked
                      then, and the answer was yes

            1 call cannot be judged
              ID/call-1 read_file
                      cannot be judged: it ended before it was decided on
        "#]],
    );
    let policy = place.write(
        "new.toml",
        "[[allow]]\nwrite = './*'\n[[ask]]\nrun = 'printf'\n",
    );
    let told = try_again(
        &place,
        &export,
        &["--policy", policy.to_str().unwrap(), "--json"],
    );
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["judged"], &told["different"]),
        (&json!(5), &json!(2))
    );
    assert_eq!(
        told["changes"],
        json!([
            {"was": "allow", "would": "ask", "calls": 1},
            {"was": "ask", "would": "allow", "calls": 1},
        ])
    );
    assert_eq!(told["unjudged"].as_array().unwrap().len(), 1);
}

#[test]
fn a_broken_policy_judges_nothing() {
    let place = day();
    let export = export(&place, &[]);
    place.write("home/.config/toolcall/policy.toml", "[[allow]]\nrun = 7\n");
    place.write("project/export.jsonl", &export);
    let (code, text, complaint) = place.run(&["policy", "try", "export.jsonl"]);
    assert_eq!((code, &*text), (Some(1), ""));
    assert!(
        complaint.contains("see `toolcall policy check`"),
        "{complaint}"
    );
}

#[test]
fn what_was_not_kept_is_not_judged() {
    let place = Place::new();
    let secret = format!("command=printf ghp_{}", "a1B2".repeat(9));
    place.printed(&["call", "run_command", &secret, "--yes"]);
    let export = export(&place, &["last"]);
    assert!(export.contains("[redacted]"), "{export}");
    let told = try_again(&place, &export, &["--json"]);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["judged"], 0);
    assert_eq!(
        told["unjudged"][0]["why"],
        "a secret was left out of what it touched"
    );
    // As a history without contents would have it.
    let bare = export.replace(r#""text":"printf [redacted]""#, r#""text":"""#);
    assert_ne!(bare, export);
    let text = try_again(&place, &bare, &[]);
    assert!(
        text.contains("cannot be judged: its input was not kept"),
        "{text}"
    );
    let (code, _, complaint) = place.run(&["policy", "try", "a.txt"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("line 1 of `a.txt` is none that `toolcall history export` writes"),
        "{complaint}"
    );
}

#[test]
fn a_reader_of_an_export_that_went_away_is_no_error() {
    let place = day();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = place.toolcall(&["history", "export"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
    let output = child.unwrap().wait_with_output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), &*complaint), (Some(0), ""));
}

#[test]
fn an_export_goes_into_a_file_of_its_owner() {
    let place = day();
    let told = place.json(&["history", "export", "last", "--out", "calls.jsonl"]);
    let file = place.path().join("project/calls.jsonl");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let lines = read(&place, "calls.jsonl").unwrap();
    assert_eq!(told["records"], lines.lines().count());
    assert_eq!(
        place.printed(&["history", "export", "last"]),
        lines.replace(place.path().canonicalize().unwrap().to_str().unwrap(), "…")
    );
}
