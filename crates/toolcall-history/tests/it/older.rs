//! A history of an earlier version of the program: it opens, verifies, folds and undoes as it did then.
//! The files in `tests/fixtures` never change; that version exported `history.jsonl`.

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use toolcall::{CallId, FileBody, MemoryHost, SessionId, replay};
use toolcall_history::{ExportLine, ExportScope};

use crate::setup::TestHistory;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn older() -> TestHistory {
    let files = TestHistory::default();
    let undo = files.path.with_extension("db.undo");
    fs::create_dir_all(&undo).expect("a directory");
    fs::copy(fixture("history.db"), &files.path).expect("a history");
    for file in fs::read_dir(fixture("history.db.undo")).expect("a directory") {
        let file = file.expect("an entry");
        fs::copy(file.path(), undo.join(file.file_name())).expect("a file");
    }
    files.open().flush().expect("it can be written");
    files
}

fn session() -> SessionId {
    SessionId::new("12e0dd8c4c7f")
}

#[test]
fn an_older_history_verifies_and_exports_what_it_exported_then() {
    let files = older();
    let archive = files.archive();
    let verified = archive.verify().expect("nothing was changed");
    assert_eq!((verified.sessions, verified.records), (1, 138));
    let mut exported = Vec::new();
    let lines = archive.export(&ExportScope::Everything, &mut exported);
    assert_eq!(lines.expect("an export"), 138);
    let then = fs::read_to_string(fixture("history.jsonl")).expect("an export");
    assert_eq!(String::from_utf8(exported).expect("text"), then);
    for line in then.lines() {
        ExportLine::read(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    }
}

#[test]
fn an_older_history_folds_to_the_same_calls() {
    let files = older();
    let archive = files.archive();
    let records = archive.records(&session()).expect("records");
    let calls = replay(&records);
    let lines = calls.iter().map(|call| {
        let ending = call.ending().map(|ending| ending.name());
        format!(
            "{} {:?} {}: {ending:?}",
            call.id(),
            call.kind(),
            call.title()
        )
    });
    expect![[r#"
        call-1 Read List .: Some("completed")
        call-2 Read Read src/lib.rs (lines 1–20): Some("completed")
        call-3 Read Read long.txt: Some("completed")
        call-4 Search Search "adds" in src: Some("completed")
        call-5 Search Find "**/*.rs": Some("completed")
        call-6 Think Plan: 3 steps: Some("completed")
        call-7 Edit Edit src/lib.rs: Some("completed")
        call-8 Edit Create notes.md: Some("completed")
        call-9 Move Move notes.md to docs.md: Some("completed")
        call-10 Delete Delete old.txt: Some("completed")
        call-11 Execute printf 'a\nb\n' | sort -r > sorted.txt 2>&1 && cat < sorted.txt >> all.txt || false; cat all.txt: Some("completed")
        call-12 Execute echo $(date +%Y) | wc -l: Some("completed")
        call-13 Execute printf '\377\376': Some("completed")
        call-14 Execute sh -c 'kill -9 $$': Some("failed")
        call-15 Execute cat missing.txt: Some("failed")
        call-16 Execute echo [redacted]: Some("completed")
        call-17 Execute seq 1 2000: Some("completed")
        call-18 Execute rm -rf src: Some("denied")
        call-19 Fetch Fetch https://example.invalid/: Some("failed")
        call-20 Other Calling no_such_tool: Some("failed")
        call-21 Read Calling read_file: Some("failed")
        call-22 Execute sleep 60: Some("cancelled")"#]].assert_eq(&lines.collect::<Vec<_>>().join("\n"));
    for call in calls {
        let call_history = archive.call(&session(), call.id()).expect("a call");
        assert_eq!(replay(&call_history.records), [call]);
    }
}

#[tokio::test]
async fn an_edit_of_an_older_history_is_undone() {
    let now = "//! It sums.\npub fn sums(a: u8, b: u8) -> u8 {\n    a + b\n}\n";
    let host = MemoryHost::default().with_file("/project/src/lib.rs", now);
    let files = older();
    let content = files
        .archive()
        .undo_content(&session(), &CallId::new("call-7"));
    let undone = content
        .expect("it is stored")
        .restore(&host)
        .await
        .expect("it is undone");
    assert_eq!(undone.restored, [PathBuf::from("/project/src/lib.rs")]);
    let before = now.replace("sum", "add");
    assert_eq!(
        host.file("/project/src/lib.rs"),
        Some(FileBody::Text(before.into()))
    );
}
