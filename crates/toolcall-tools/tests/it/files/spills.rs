//! Spills: stored, capped, read back by their own session, pruned.
//! It asserts nothing about where the state directory is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempDir;
use toolcall::{CallId, Completeness, HostError, Spill};
use toolcall_tools::local::{FilePart, Spills};

fn dir() -> TempDir {
    TempDir::with_prefix("state ä%").unwrap()
}

/// Decodes the URI as any other program would.
fn path_of(spill: &Spill) -> PathBuf {
    let path = spill.uri.strip_prefix("file://").unwrap();
    assert!(path.is_ascii() && !path.contains(' '));
    let decoded = percent_encoding::percent_decode_str(path);
    PathBuf::from(decoded.decode_utf8().unwrap().into_owned())
}

#[test]
fn output_is_kept_in_a_file_of_its_own() {
    let dir = dir();
    let spills = Spills::new(&dir.path().join("deep/spills"), Spills::DEFAULT_CAP).unwrap();
    let (one, two) = (CallId::new("../../one"), CallId::new("two/\0"));
    spills.keep(&one, b"ab").unwrap();
    spills.keep(&two, b"other").unwrap();
    let spill = spills.keep(&one, b"\xffc").unwrap();
    assert_eq!((spill.bytes, spill.completeness), (4, Completeness::Whole));
    let path = path_of(&spill);
    assert_eq!(fs::read(&path).unwrap(), b"ab\xffc");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    let parent = path.parent().unwrap();
    assert_eq!(parent, dir.path().join("deep/spills"));
    assert_eq!(fs::metadata(parent).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(parent).unwrap().count(), 2);
}

#[test]
fn a_spill_ends_at_its_cap_and_says_so() {
    let dir = dir();
    let spills = Spills::new(dir.path(), 5).unwrap();
    let call = CallId::new("call");
    let keep = |bytes| {
        let spill = spills.keep(&call, bytes).unwrap();
        (
            fs::read(path_of(&spill)).unwrap(),
            spill.bytes,
            spill.completeness,
        )
    };
    assert_eq!(keep(b"abc"), (b"abc".to_vec(), 3, Completeness::Whole));
    assert_eq!(keep(b"de"), (b"abcde".to_vec(), 5, Completeness::Whole));
    assert_eq!(keep(b"f"), (b"abcde".to_vec(), 5, Completeness::Capped));
    assert_eq!(keep(b""), (b"abcde".to_vec(), 5, Completeness::Capped));
}

#[test]
fn a_session_reads_its_own_spills_only() {
    let dir = dir();
    let (mine, theirs) = (
        Spills::new(dir.path(), 100).unwrap(),
        Spills::new(dir.path(), 100).unwrap(),
    );
    let path = path_of(&mine.keep(&CallId::new("call"), b"0123456789").unwrap());
    let read = |from, limit| mine.read_spill(&path, from, limit).unwrap();
    let portion = |bytes: &[u8]| FilePart {
        bytes: bytes.into(),
        size: 10,
    };
    assert_eq!(read(0, 4), portion(b"0123"));
    assert_eq!(read(8, 4), portion(b"89"));
    assert_eq!(read(99, 4), portion(b""));
    let missing = |path: &Path| Err(HostError::Missing(path.to_owned()));
    assert_eq!(theirs.read_spill(&path, 0, 4), missing(&path));
    for other in ["../x", "x.spill", ""] {
        let other = dir.path().join(other);
        assert_eq!(mine.read_spill(&other, 0, 4), missing(&other));
    }
}

#[test]
fn a_spill_that_became_a_link_is_not_followed() {
    let dir = dir();
    let spills = Spills::new(dir.path(), 100).unwrap();
    let call = CallId::new("call");
    let path = path_of(&spills.keep(&call, b"x").unwrap());
    let target = dir.path().join("target");
    fs::write(&target, "CANARY").unwrap();
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("target", &path).unwrap();
    spills.keep(&call, b"y").unwrap_err();
    spills.read_spill(&path, 0, 10).unwrap_err();
    assert_eq!(fs::read(&target).unwrap(), b"CANARY");
}

#[test]
fn spills_outlive_their_session_until_they_are_pruned() {
    let dir = dir();
    let gone = Spills::new(dir.path(), 100).unwrap();
    let old = path_of(&gone.keep(&CallId::new("call"), b"old").unwrap());
    drop(gone);
    let spills = Spills::new(dir.path(), 100).unwrap();
    let own = path_of(&spills.keep(&CallId::new("call"), b"own").unwrap());
    let foreign = dir.path().join("foreign");
    fs::write(&foreign, "x").unwrap();
    assert_eq!(spills.prune(SystemTime::UNIX_EPOCH).unwrap(), 0);
    assert_eq!(fs::read(&old).unwrap(), b"old");
    let later = fs::metadata(&own).unwrap().modified().unwrap() + std::time::Duration::from_secs(1);
    assert_eq!(spills.prune(later).unwrap(), 1);
    assert!(!old.exists() && own.exists() && foreign.exists());
}
