//! A disk that is full in the middle of a write, played by the system's limit on file sizes.
//! The limit holds for a whole process, so this test starts itself again under it.

#![cfg(unix)]

use std::fs;
use std::process::Command;

use toolcall::FileEdit;
use toolcall_tools::local::{Durability, Files};

const MARK: &str = "TOOLCALL_LIMITED";

/// The shell sets the limit and has its signal ignored, so that writing fails instead.
#[test]
fn a_full_disk_leaves_the_old_file_and_nothing_else() {
    if std::env::var_os(MARK).is_some() {
        return write_too_much();
    }
    let own = std::env::current_exe().unwrap();
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"";
    // Read through pipes: a log file of ours would be held to the limit, too.
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(own)
        .args(["full_disk::", "--nocapture"])
        .env(MARK, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

fn write_too_much() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let files = Files::open(std::slice::from_ref(&root)).unwrap();
    let files = files.with_durability(Durability::Cached);
    let (old, new) = (root.join("a"), root.join("deep/new"));
    fs::write(&old, "old").unwrap();
    let much = "x".repeat(1_000_000);
    for edit in [
        FileEdit::modified(&old, "old", &*much),
        FileEdit::added(&new, &*much),
    ] {
        let error = files.apply(&edit).unwrap_err().to_string();
        assert!(error.contains("File too large"), "{error}");
    }
    assert_eq!(fs::read_to_string(&old).unwrap(), "old");
    let names: Vec<_> = fs::read_dir(&root)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    assert_eq!(names, [old]);
}
