//! A history that is verified, forgotten, damaged, too new, unwritable or not wanted.
//! None of it stops a call.

use std::fs;

use rusqlite::Connection;
use serde_json::json;

use crate::history::ground::{database, day, search};
use crate::place::Place;

#[test]
fn a_whole_history_is_verified_and_a_changed_record_named() {
    let place = day();
    let text = place.printed(&["history", "verify"]);
    assert!(
        text.contains(" records of 5 sessions are as they were written"),
        "{text}"
    );
    let id = place.json(&["history"])[4]["session"]
        .as_str()
        .unwrap()
        .to_owned();
    let db = Connection::open(database(&place)).unwrap();
    let sql =
        "UPDATE records SET body = replace(body, 'a.txt', 'b.txt') WHERE session = 1 AND seq = 2";
    assert_eq!(db.execute(sql, []).unwrap(), 1);
    drop(db);
    let (code, text, _) = place.run(&["history", "verify"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains(&format!("record 2 of `{id}` was changed")),
        "{text}"
    );
    let told = place.json(&["history", "verify"]);
    assert_eq!(told["whole"], false);
}

#[test]
fn sessions_are_forgotten_and_the_rest_stays_whole() {
    let place = day();
    let told = place.json(&["history", "forget", "last"]);
    assert_eq!((&told["sessions"], &told["calls"]), (&json!(1), &json!(1)));
    assert_eq!(search(&place, &["--status", "failed"]), [""; 0]);
    assert_eq!(
        place.json(&["history", "prune", "--older-than", "30d"])["sessions"],
        0
    );
    assert_eq!(place.json(&["history", "verify"])["whole"], true);
    assert_eq!(place.json(&["history"]).as_array().unwrap().len(), 4);
    let text = place.printed(&["history", "prune", "--older-than", "0s"]);
    assert_eq!(text, "forgot 4 sessions with 4 calls\n");
    let text = place.printed(&["history"]);
    assert_eq!(
        text,
        "nothing was recorded yet; `toolcall call` records every call\n"
    );
    let bytes = fs::read(database(&place)).unwrap();
    assert!(!bytes.windows(5).any(|bytes| bytes == b"hello"));
}

#[test]
fn a_damaged_history_is_set_aside_and_the_call_goes_on() {
    let place = day();
    for beside in ["-wal", "-shm"] {
        let _may_be_gone = fs::remove_file(format!("{}{beside}", database(&place).display()));
    }
    fs::write(database(&place), "no database".repeat(1000)).unwrap();
    let (code, _, complaint) = place.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("warning: the history was damaged") && complaint.contains(".damaged-1`"),
        "{complaint}"
    );
    assert_eq!(place.json(&["history"]).as_array().unwrap().len(), 1);
    assert_eq!(
        fs::read(database(&place).with_file_name("history.db.damaged-1"))
            .unwrap()
            .len(),
        11_000
    );
    let text = place.printed(&["history", "verify"]);
    assert!(text.contains("a damaged history was set aside"), "{text}");
}

#[test]
fn what_a_newer_version_wrote_is_left_alone_and_the_call_goes_on() {
    let place = day();
    let db = Connection::open(database(&place)).unwrap();
    db.pragma_update(None, "user_version", 99).unwrap();
    drop(db);
    let (code, _, complaint) = place.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.starts_with(
            "warning: what happens is not kept in the history: the history has version 99"
        ),
        "{complaint}"
    );
    let (code, _, complaint) = place.run(&["history"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("use a newer one"), "{complaint}");
}

#[test]
fn a_history_that_cannot_be_written_stops_no_call() {
    let place = Place::new();
    // Where a folder is, no file can be.
    fs::create_dir_all(database(&place)).unwrap();
    let (code, text, complaint) = place.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0), "{complaint}");
    assert!(text.contains("one\n"), "{text}");
    assert!(
        complaint.starts_with("warning: what happens is not kept in the history: "),
        "{complaint}"
    );
}

#[test]
fn nothing_is_kept_where_nobody_wants_it() {
    let place = Place::new();
    place.printed(&["call", "read_file", "path=a.txt", "--no-history"]);
    place.printed(&["tools"]);
    place.printed(&["policy", "list"]);
    place.printed(&["policy", "explain", "make"]);
    place.printed(&["mcp", "list"]);
    assert_eq!(place.json(&["history"]), json!([]));
    assert!(!database(&place).exists());
    for task in [
        &["show", "last"][..],
        &["call", "last"],
        &["export"],
        &["verify"],
    ] {
        let (code, _, complaint) = place.run(&[&["history"], task].concat());
        assert_eq!(code, Some(1));
        assert_eq!(
            complaint,
            "error: nothing was recorded yet; `toolcall call` records every call\n"
        );
    }
}
