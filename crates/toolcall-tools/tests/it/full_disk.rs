//! A disk that is full in the middle of a write, simulated by the system's limit on file sizes.
//! The limit applies to a process, so this test starts itself again with it.

#![cfg(unix)]

use toolcall::FileEdit;
use toolcall_testkit::dir::{TestDir, names};
use toolcall_testkit::process::{again_with_file_limit, role};
use toolcall_tools::local::{FileDurability, Files};

#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    if role().is_some() {
        return write_too_much();
    }
    let test = "full_disk::a_full_disk_leaves_the_old_file_and_nothing_else";
    let output = again_with_file_limit(test, 8).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

fn write_too_much() {
    let dir = TestDir::with(&[("a", "old")]);
    let root = dir.path().to_owned();
    let files = Files::open(std::slice::from_ref(&root)).unwrap();
    let files = files.with_durability(FileDurability::Cached);
    let (old, new) = (root.join("a"), root.join("deep/new"));
    let much = "x".repeat(1_000_000);
    for edit in [
        FileEdit::modified(&old, "old", &*much),
        FileEdit::added(&new, &*much),
    ] {
        let error = files.apply(&edit).unwrap_err().to_string();
        assert!(error.contains("File too large"), "{error}");
    }
    assert_eq!(dir.read("a").as_deref(), Some("old"));
    assert_eq!(names(&root), ["a"]);
}
