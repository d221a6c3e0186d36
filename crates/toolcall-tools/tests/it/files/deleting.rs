//! What is put away instead of being destroyed: folders, and files that are not text.
//! Nothing is deleted that is not as it was shown, and nothing that cannot be kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use toolcall::{FileBody, FileEdit, HostError};
use toolcall_testkit::dir::names;
use toolcall_tools::local::{Files, Trash};

use crate::ground::{Ground, message, read};

/// Files whose deleted things go to a bin beside the root.
fn with_bin(ground: &Ground) -> (Files, PathBuf) {
    let place = ground.at("/w/bin");
    let bin = Trash::open(&place, Trash::DEFAULT_CAP).unwrap();
    (ground.files().with_bin(bin), place)
}

/// Deletes what is there as it is there now.
fn delete(files: &Files, path: &Path) -> PathBuf {
    let before = files.inspect(path).unwrap();
    let applied = files.apply(&FileEdit::deleted(path, before)).unwrap();
    applied.kept.unwrap()
}

#[test]
fn a_folder_is_put_away_with_everything_in_it() {
    let ground = Ground::new();
    ground.write("d/a", "1");
    ground.write("d/e/b", "23");
    ground.link("d/l", ground.at("/w/outside"));
    let (files, bin) = with_bin(&ground);
    let before = files.inspect(&ground.path("d")).unwrap();
    let link = ground.at("/w/outside").as_os_str().len() as u64;
    assert_eq!(
        before.summary(),
        format!("a folder, 3 files, {} bytes", 3 + link)
    );
    let kept = delete(&files, &ground.path("d"));
    assert!(kept.starts_with(&bin));
    assert_eq!(names(&ground.root()), [""; 0]);
    assert_eq!(read(&kept.join("e/b")), "23");
    assert_eq!(read(&ground.at("/w/outside/canary")), "CANARY");
}

#[test]
fn what_is_no_text_is_put_away() {
    let ground = Ground::new();
    let (files, _) = with_bin(&ground);
    for bytes in [&b"\xff\xff"[..], b"much"] {
        let path = ground.path("f");
        fs::write(&path, bytes).unwrap();
        let files = match bytes.is_ascii() {
            // Too large to be read at once.
            true => &with_bin(&ground).0.with_read_limit(2),
            false => &files,
        };
        let kept = delete(files, &path);
        assert_eq!(fs::read(kept).unwrap(), bytes);
        assert_eq!(names(&ground.root()), [""; 0]);
    }
}

#[test]
fn what_changed_since_it_was_shown_stays() {
    let ground = Ground::new();
    let (files, bin) = with_bin(&ground);
    fs::write(ground.path("f"), b"\xff1").unwrap();
    ground.write("d/e/b", "23");
    let shown = ["f", "d"].map(|name| {
        let path = ground.path(name);
        let before = files.inspect(&path).unwrap();
        FileEdit::deleted(path, before)
    });
    // Of the same size.
    fs::write(ground.path("f"), b"\xff2").unwrap();
    ground.write("d/e/new", "");
    for edit in shown {
        let changed = HostError::Changed(edit.path.clone());
        assert_eq!(files.apply(&edit), Err(changed));
    }
    assert_eq!(names(&ground.root()), ["d", "f"]);
    assert_eq!(names(&bin), [""; 0]);
}

#[test]
fn without_a_place_to_keep_it_nothing_is_destroyed() {
    let ground = Ground::new();
    ground.write("d/a", "1");
    let files = ground.files();
    let path = ground.path("d");
    let edit = FileEdit::deleted(&path, files.inspect(&path).unwrap());
    assert!(message(files.apply(&edit)).contains("no place to keep it"));
    assert_eq!(read(&path.join("a")), "1");
}

#[test]
fn a_folder_is_known_by_what_is_in_it() {
    let ground = Ground::new();
    let path = ground.path("d");
    ground.write("d/a", "1");
    let files = ground.files();
    let before = files.inspect(&path).unwrap();
    assert_eq!(files.inspect(&path).unwrap(), before);
    fs::rename(ground.path("d/a"), ground.path("d/b")).unwrap();
    assert_ne!(files.inspect(&path).unwrap(), before);
    let missing = ground.path("missing");
    assert_eq!(
        files.inspect(&missing),
        Err(HostError::Missing(missing.clone()))
    );
    let pretended = FileBody::Folder {
        files: 0,
        bytes: 0,
        digest: None,
    };
    ground.write("f", "text");
    let edit = FileEdit::deleted(ground.path("f"), pretended);
    assert!(message(files.apply(&edit)).contains("is not a folder"));
    assert_eq!(read(&ground.path("f")), "text");
}

#[test]
fn old_things_are_pruned() {
    let ground = Ground::new();
    ground.write("d/a", "1");
    let (files, place) = with_bin(&ground);
    delete(&files, &ground.path("d"));
    let bin = Trash::open(&place, Trash::DEFAULT_CAP).unwrap();
    let now = SystemTime::now();
    assert_eq!(bin.prune(now - Duration::from_secs(60)).unwrap(), 0);
    assert_eq!(bin.prune(now + Duration::from_secs(60)).unwrap(), 1);
    assert_eq!(names(&place), [""; 0]);
}

/// A path that was judged leads through no link; one that does by now leads elsewhere.
#[test]
fn what_was_swapped_for_a_link_is_refused() {
    let ground = Ground::new();
    ground.write("real/f", "real");
    ground.link("link", "real");
    let path = ground.path("link/f");
    let files = ground.files().refusing_links();
    let place = files.resolve(&path).unwrap();
    assert_eq!(place, ground.path("real/f"));
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
