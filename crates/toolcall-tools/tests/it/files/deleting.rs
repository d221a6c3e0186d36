//! Deleting to the trash: directories, and files that are not text.
//! Nothing is deleted that differs from what the edit shows, or that cannot be stored.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use toolcall::{FileBody, FileEdit, HostError};
use toolcall_testkit::dir::names;
use toolcall_tools::local::{Files, Trash};

use crate::ground::{Ground, message, read};

/// Files with a trash next to the root.
fn with_trash(fixture: &Ground) -> (Files, PathBuf) {
    let place = fixture.at("/w/bin");
    let trash = Trash::open(&place, Trash::DEFAULT_CAP).unwrap();
    (fixture.files().with_trash(trash), place)
}

/// Deletes what is at a path, with its current content as the expected one.
fn delete(files: &Files, path: &Path) -> PathBuf {
    let before = files.inspect(path).unwrap();
    let applied = files.apply(&FileEdit::deleted(path, before)).unwrap();
    applied.kept.unwrap()
}

#[test]
fn a_folder_is_put_away_with_everything_in_it() {
    let fixture = Ground::new();
    fixture.write("d/a", "1");
    fixture.write("d/e/b", "23");
    fixture.link("d/l", fixture.at("/w/outside"));
    let (files, trash) = with_trash(&fixture);
    let before = files.inspect(&fixture.path("d")).unwrap();
    let link = fixture.at("/w/outside").as_os_str().len() as u64;
    assert_eq!(
        before.summary(),
        format!("a folder, 3 files, {} bytes", 3 + link)
    );
    let kept = delete(&files, &fixture.path("d"));
    assert!(kept.starts_with(&trash));
    assert_eq!(names(&fixture.root()), [""; 0]);
    assert_eq!(read(&kept.join("e/b")), "23");
    assert_eq!(read(&fixture.at("/w/outside/canary")), "CANARY");
}

#[test]
fn what_is_no_text_is_put_away() {
    let fixture = Ground::new();
    let (files, _) = with_trash(&fixture);
    for bytes in [&b"\xff\xff"[..], b"much"] {
        let path = fixture.path("f");
        fs::write(&path, bytes).unwrap();
        let files = if bytes.is_ascii() {
            // Larger than the read limit.
            &with_trash(&fixture).0.with_read_limit(2)
        } else {
            &files
        };
        let kept = delete(files, &path);
        assert_eq!(fs::read(kept).unwrap(), bytes);
        assert_eq!(names(&fixture.root()), [""; 0]);
    }
}

#[test]
fn what_changed_since_it_was_shown_stays() {
    let fixture = Ground::new();
    let (files, trash) = with_trash(&fixture);
    fs::write(fixture.path("f"), b"\xff1").unwrap();
    fixture.write("d/e/b", "23");
    let shown = ["f", "d"].map(|name| {
        let path = fixture.path(name);
        let before = files.inspect(&path).unwrap();
        FileEdit::deleted(path, before)
    });
    // The same size, other content.
    fs::write(fixture.path("f"), b"\xff2").unwrap();
    fixture.write("d/e/new", "");
    for edit in shown {
        let changed = HostError::Changed(edit.path.clone());
        assert_eq!(files.apply(&edit), Err(changed));
    }
    assert_eq!(names(&fixture.root()), ["d", "f"]);
    assert_eq!(names(&trash), [""; 0]);
}

#[test]
fn without_a_place_to_keep_it_nothing_is_destroyed() {
    let fixture = Ground::new();
    fixture.write("d/a", "1");
    let files = fixture.files();
    let path = fixture.path("d");
    let edit = FileEdit::deleted(&path, files.inspect(&path).unwrap());
    assert!(message(files.apply(&edit)).contains("no place to keep it"));
    assert_eq!(read(&path.join("a")), "1");
}

#[test]
fn a_folder_is_known_by_what_is_in_it() {
    let fixture = Ground::new();
    let path = fixture.path("d");
    fixture.write("d/a", "1");
    let files = fixture.files();
    let before = files.inspect(&path).unwrap();
    assert_eq!(files.inspect(&path).unwrap(), before);
    fs::rename(fixture.path("d/a"), fixture.path("d/b")).unwrap();
    assert_ne!(files.inspect(&path).unwrap(), before);
    let missing = fixture.path("missing");
    assert_eq!(
        files.inspect(&missing),
        Err(HostError::Missing(missing.clone()))
    );
    let pretended = FileBody::Folder {
        files: 0,
        bytes: 0,
        digest: None,
    };
    fixture.write("f", "text");
    let edit = FileEdit::deleted(fixture.path("f"), pretended);
    assert!(message(files.apply(&edit)).contains("is not a folder"));
    assert_eq!(read(&fixture.path("f")), "text");
}

#[test]
fn old_things_are_pruned() {
    let fixture = Ground::new();
    fixture.write("d/a", "1");
    let (files, place) = with_trash(&fixture);
    delete(&files, &fixture.path("d"));
    let trash = Trash::open(&place, Trash::DEFAULT_CAP).unwrap();
    let now = SystemTime::now();
    assert_eq!(trash.prune(now - Duration::from_secs(60)).unwrap(), 0);
    assert_eq!(trash.prune(now + Duration::from_secs(60)).unwrap(), 1);
    assert_eq!(names(&place), [""; 0]);
}

/// A resolved path leads through no symlink; one that does was changed since.
#[test]
fn what_was_swapped_for_a_link_is_refused() {
    let fixture = Ground::new();
    fixture.write("real/f", "real");
    fixture.link("link", "real");
    let path = fixture.path("link/f");
    let files = fixture.files().refusing_symlinks();
    let place = files.resolve(&path).unwrap();
    assert_eq!(place, fixture.path("real/f"));
    let changed = Err(HostError::Changed(path.clone()));
    assert_eq!(files.read(&path), changed);
    assert_eq!(files.inspect(&path), changed);
    let edit = FileEdit::modified(&path, "real", "new");
    assert_eq!(files.apply(&edit).map(drop), changed.map(drop));
    assert_eq!(read(&place), "real");
    files
        .apply(&FileEdit::modified(&place, "real", "new"))
        .unwrap();
    assert_eq!(read(&place), "new");
}
