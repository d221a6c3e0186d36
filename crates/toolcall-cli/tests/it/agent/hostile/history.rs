//! Cases about the history: what somebody writes into it grants nothing, and what it is kept with.
//! The file is edited as anybody could who has it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;

use super::scene::{Fate, fate, running};
use crate::agent::stage::Stage;

pub(super) fn an_edited_history_grants_nothing(_: &Value) {
    let command = running("touch x");
    let (before, stage) = fate(Stage::new(), command.clone());
    assert_eq!(before, Fate::Asked);
    let file = database(&stage.path("home")).expect("a history");
    let changed = Connection::open(file)
        .unwrap()
        .execute(
            "UPDATE records SET body = replace(replace(body, 'deny', 'allow'), 'once', 'always')",
            [],
        )
        .unwrap();
    assert!(changed > 0);
    let verified = stage.program(&["history", "verify"]).output().unwrap();
    assert!(
        !verified.status.success(),
        "the edit goes unseen: {verified:?}"
    );
    let (after, stage) = fate(stage, command);
    assert_eq!(after, Fate::Asked);
    assert_eq!(stage.text("x"), None);
}

/// Versions before this one could lose what was written.
const NEW_ENOUGH: i32 = 3_051_003;

pub(super) fn sqlite_is_new_enough(_: &Value) {
    let version = rusqlite::version_number();
    assert!(version >= NEW_ENOUGH, "{version}");
}

/// The database below this folder.
fn database(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        let head = fs::read(&path).unwrap_or_default();
        match path.is_dir() {
            true => database(&path),
            false => head.starts_with(b"SQLite format 3").then_some(path),
        }
    })
}
