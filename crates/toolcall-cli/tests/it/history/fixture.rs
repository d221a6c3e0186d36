//! Makes a few calls and reads their history.
//! It checks nothing; the tests do.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::home::CliHome;

pub(crate) const STATE: &str = "home/.local/state/toolcall";

pub(crate) fn database(home: &CliHome) -> PathBuf {
    home.path().join(STATE).join("history.db")
}

pub(crate) fn edit(home: &CliHome, old: &str, new: &str) {
    let edits = json!([{"type": "replace", "oldText": old, "newText": new}]);
    let input = json!({"path": "a.txt", "edits": edits}).to_string();
    home.printed(&["call", "edit_file", "--json", &input, "--yes"]);
}

pub(crate) fn read(home: &CliHome, name: &str) -> Option<String> {
    fs::read_to_string(home.path().join("project").join(name)).ok()
}

/// Makes a read, an edit, a command, a denied command and a failing read.
pub(crate) fn recorded_calls() -> CliHome {
    let home = CliHome::new();
    home.write(
        "home/.config/toolcall/policy.toml",
        "[[allow]]\nrun = 'printf'\n[[deny]]\nrun = 'rm'\nbecause = 'nothing is deleted here'\n",
    );
    home.printed(&["call", "read_file", "path=a.txt"]);
    edit(&home, "one", "two");
    home.printed(&["call", "run_command", "command=printf hello"]);
    let (code, ..) = home.run(&["call", "run_command", "command=rm -rf ."]);
    assert_eq!(code, Some(3));
    let (code, ..) = home.run(&["call", "read_file", "path=missing.txt"]);
    assert_eq!(code, Some(1));
    home
}

pub(crate) fn search(home: &CliHome, filters: &[&str]) -> Vec<String> {
    let found = home.json(&[&["history", "search"], filters].concat());
    let calls = found.as_array().unwrap().iter();
    calls
        .map(|call| format!("{} {}", call["tool"], call["status"]).replace('"', ""))
        .collect()
}

pub(crate) fn check_width(text: &str) {
    let wide = text.lines().filter(|line| line.chars().count() > 80);
    assert_eq!(wide.collect::<Vec<_>>(), [""; 0]);
}
