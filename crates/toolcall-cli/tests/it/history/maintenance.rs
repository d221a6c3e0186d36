//! A history that is verified, deleted, damaged, too new, unwritable or disabled.
//! None of that stops a call.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::history::fixture::{database, recorded_calls, search};
use crate::home::CliHome;

#[test]
fn a_whole_history_is_verified_and_a_changed_record_named() {
    let home = recorded_calls();
    let text = home.printed(&["history", "verify"]);
    assert!(
        text.contains(" records in 5 sessions, all unchanged"),
        "{text}"
    );
    let id = home.json(&["history"])[4]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let db = Connection::open(database(&home)).unwrap();
    let sql =
        "UPDATE records SET body = replace(body, 'a.txt', 'b.txt') WHERE session = 1 AND seq = 2";
    assert_eq!(db.execute(sql, []).unwrap(), 1);
    drop(db);
    let (code, text, _) = home.run(&["history", "verify"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains(&format!("record 2 of `{id}` was changed")),
        "{text}"
    );
    let output = home.json(&["history", "verify"]);
    assert_eq!(output["whole"], false);
}

#[test]
fn sessions_are_deleted_and_the_rest_stays_intact() {
    let home = recorded_calls();
    let output = home.json(&["history", "forget", "last"]);
    assert_eq!(
        (&output["sessions"], &output["calls"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(search(&home, &["--status", "failed"]), [""; 0]);
    assert_eq!(
        home.json(&["history", "prune", "--older-than", "30d"])["sessions"],
        0
    );
    assert_eq!(home.json(&["history", "verify"])["whole"], true);
    assert_eq!(home.json(&["history"]).as_array().unwrap().len(), 4);
    let text = home.printed(&["history", "prune", "--older-than", "0s"]);
    assert_eq!(text, "deleted 4 sessions with 4 calls\n");
    let text = home.printed(&["history"]);
    assert_eq!(
        text,
        "no calls are recorded yet; `toolcall call` records every call\n"
    );
    let bytes = fs::read(database(&home)).unwrap();
    assert!(!bytes.windows(5).any(|bytes| bytes == b"hello"));
}

#[test]
fn a_damaged_history_is_set_aside_and_the_call_goes_on() {
    let home = recorded_calls();
    for beside in ["-wal", "-shm"] {
        let _may_be_gone = fs::remove_file(format!("{}{beside}", database(&home).display()));
    }
    fs::write(database(&home), "no database".repeat(1000)).unwrap();
    let (code, _, complaint) = home.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("warning: the history was damaged") && complaint.contains(".damaged-1`"),
        "{complaint}"
    );
    assert_eq!(home.json(&["history"]).as_array().unwrap().len(), 1);
    assert_eq!(
        fs::read(database(&home).with_file_name("history.db.damaged-1"))
            .unwrap()
            .len(),
        11_000
    );
    let text = home.printed(&["history", "verify"]);
    assert!(text.contains("a damaged history was set aside"), "{text}");
}

#[test]
fn a_newer_history_is_not_changed_and_the_call_goes_on() {
    let home = recorded_calls();
    let db = Connection::open(database(&home)).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let (code, _, complaint) = home.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.starts_with(
            "warning: calls are not recorded in the history: the history has version 99"
        ),
        "{complaint}"
    );
    let (code, _, complaint) = home.run(&["history"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("use a newer program"), "{complaint}");
}

#[test]
fn a_history_that_cannot_be_written_stops_no_call() {
    let home = CliHome::new();
    // A directory in place of the file.
    fs::create_dir_all(database(&home)).unwrap();
    let (code, text, complaint) = home.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(text.contains("one\n"), "{text}");
    assert!(
        complaint.starts_with("warning: calls are not recorded in the history: "),
        "{complaint}"
    );
}

#[test]
fn nothing_is_recorded_with_no_history() {
    let home = CliHome::new();
    home.printed(&["call", "read_file", "path=a.txt", "--no-history"]);
    home.printed(&["tools"]);
    home.printed(&["policy", "list"]);
    home.printed(&["policy", "explain", "make"]);
    home.printed(&["mcp", "list"]);
    assert_eq!(home.json(&["history"]), json!([]));
    assert!(!database(&home).exists());
    for task in [
        &["show", "last"][..],
        &["call", "last"],
        &["export"],
        &["verify"],
    ] {
        let (code, _, complaint) = home.run(&[&["history"], task].concat());
        assert_eq!(code, Some(1));
        assert_eq!(
            complaint,
            "error: no calls are recorded yet; `toolcall call` records every call\n"
        );
    }
}
