//! Cases about the history: edits to it grant nothing, and its SQLite is new enough.
//! The database is edited as anybody with access could.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;

use super::scripted_session::{TurnOutcome, outcome, running};
use crate::agent::home::AgentHome;

pub(super) fn an_edited_history_grants_nothing(_: &Value) {
    let command = running("touch x");
    let (before, home) = outcome(AgentHome::new(), command.clone());
    assert_eq!(before, TurnOutcome::Asked);
    let file = database(&home.path("home")).expect("a history");
    let changed = Connection::open(file)
        .unwrap()
        .execute(
            "UPDATE records SET body = replace(replace(body, 'deny', 'allow'), 'once', 'always')",
            [],
        )
        .unwrap();
    assert!(changed > 0);
    let verified = home.program(&["history", "verify"]).output().unwrap();
    assert!(
        !verified.status.success(),
        "the edit is not detected: {verified:?}"
    );
    let (after, home) = outcome(home, command);
    assert_eq!(after, TurnOutcome::Asked);
    assert_eq!(home.text("x"), None);
}

/// Earlier versions could lose written data.
const NEW_ENOUGH: i32 = 3_051_003;

pub(super) fn sqlite_is_new_enough(_: &Value) {
    let version = rusqlite::version_number();
    assert!(version >= NEW_ENOUGH, "{version}");
}

/// Finds the database in this directory.
fn database(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        let head = fs::read(&path).unwrap_or_default();
        if path.is_dir() {
            return database(&path);
        }
        head.starts_with(b"SQLite format 3").then_some(path)
    })
}
