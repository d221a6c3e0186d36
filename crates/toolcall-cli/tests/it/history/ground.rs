//! A few calls that were made, and what is read back of them.
//! It makes and reads; what should be there is said by the tests.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::place::Place;

pub(crate) const STATE: &str = "home/.local/state/toolcall";

pub(crate) fn database(place: &Place) -> PathBuf {
    place.path().join(STATE).join("history.db")
}

pub(crate) fn edit(place: &Place, old: &str, new: &str) {
    let edits = json!([{"type": "replace", "oldText": old, "newText": new}]);
    let input = json!({"path": "a.txt", "edits": edits}).to_string();
    place.printed(&["call", "edit_file", "--json", &input, "--yes"]);
}

pub(crate) fn read(place: &Place, name: &str) -> Option<String> {
    fs::read_to_string(place.path().join("project").join(name)).ok()
}

/// Two reads, an edit, a command that is denied, and a call that fails.
pub(crate) fn day() -> Place {
    let place = Place::new();
    place.write(
        "home/.config/toolcall/policy.toml",
        "[[allow]]\nrun = 'printf'\n[[deny]]\nrun = 'rm'\nbecause = 'nothing is deleted here'\n",
    );
    place.printed(&["call", "read_file", "path=a.txt"]);
    edit(&place, "one", "two");
    place.printed(&["call", "run_command", "command=printf hello"]);
    let (code, ..) = place.run(&["call", "run_command", "command=rm -rf ."]);
    assert_eq!(code, Some(3));
    let (code, ..) = place.run(&["call", "read_file", "path=missing.txt"]);
    assert_eq!(code, Some(1));
    place
}

pub(crate) fn search(place: &Place, filters: &[&str]) -> Vec<String> {
    let told = place.json(&[&["history", "search"], filters].concat());
    let calls = told.as_array().unwrap().iter();
    calls
        .map(|call| format!("{} {}", call["tool"], call["status"]).replace('"', ""))
        .collect()
}

pub(crate) fn check_width(text: &str) {
    let wide = text.lines().filter(|line| line.chars().count() > 80);
    assert_eq!(wide.collect::<Vec<_>>(), [""; 0]);
}
