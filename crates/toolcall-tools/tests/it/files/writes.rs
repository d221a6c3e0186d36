//! Changes to files: the result on the disk, and which changes are refused.
//! Every failure must leave everything as it was.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use toolcall::{FileBody, FileChange, FileEdit, HostError};
use toolcall_testkit::dir::names;
use toolcall_tools::local::{FileDurability, Files};

use crate::ground::{Ground, message, open, read, text};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_file_gets_its_folders_and_the_usual_rights() {
    let fixture = Ground::new();
    let usual = fixture.write("usual", "");
    let path = fixture.path("a/b/new");
    let edit = FileEdit::added(&path, "\u{feff}x\r\n");
    fixture.files().apply(&edit).unwrap();
    assert_eq!(read(&path), "\u{feff}x\r\n");
    assert_eq!(mode(&path), mode(&usual));
    assert_eq!(names(&fixture.path("a/b")), ["new"]);
}

#[test]
fn a_change_on_the_disk_is_the_same_change() {
    let fixture = Ground::new();
    let files = Files::open(&[fixture.root()]).unwrap();
    let files = files.with_durability(FileDurability::Synced);
    let path = fixture.path("a/f");
    files.apply(&FileEdit::added(&path, "1")).unwrap();
    files.apply(&FileEdit::modified(&path, "1", "2")).unwrap();
    let to = fixture.path("g");
    files.apply(&FileEdit::moved(&path, &to)).unwrap();
    assert_eq!(read(&to), "2");
    files.apply(&FileEdit::deleted(&to, text("2"))).unwrap();
    assert_eq!(names(&fixture.root()), ["a"]);
}

#[test]
fn what_is_not_as_it_was_shown_stays() {
    let fixture = things();
    let path = |path| fixture.path(path);
    let exists = |name| HostError::Exists(path(name));
    let changed = |name| HostError::Changed(path(name));
    let missing = |name| HostError::Missing(path(name));
    let table = [
        (FileEdit::added(path("f"), "x"), exists("f")),
        (FileEdit::added(path("d"), "x"), exists("d")),
        (FileEdit::added(path("dangling"), "x"), exists("dangling")),
        (FileEdit::added(path("out"), "x"), exists("out")),
        (FileEdit::added(path("new/../x"), "x"), missing("new/../x")),
        (FileEdit::modified(path("f"), "then", "x"), changed("f")),
        (FileEdit::modified(path("f"), "no", "x"), changed("f")),
        (FileEdit::modified(path("no"), "", "x"), missing("no")),
        (FileEdit::deleted(path("f"), text("then")), changed("f")),
        (FileEdit::deleted(path("f"), binary(3)), changed("f")),
        (
            FileEdit::deleted(path("binary"), binary(3)),
            changed("binary"),
        ),
        (FileEdit::deleted(path("out"), text("x")), changed("out")),
        (FileEdit::deleted(path("no"), text("")), missing("no")),
        (FileEdit::moved(path("no"), path("x")), missing("no")),
        (FileEdit::moved(path("f"), path("d/g")), exists("d/g")),
        (
            FileEdit::moved(path("f"), path("dangling")),
            exists("dangling"),
        ),
        (FileEdit::moved(path("f"), path("f")), exists("f")),
    ];
    unchanged_by(&fixture, || {
        for (edit, expected) in table {
            assert_eq!(fixture.files().apply(&edit), Err(expected), "{edit:?}");
        }
    });
}

#[test]
fn what_is_refused_changes_nothing() {
    let fixture = things();
    let path = |path| fixture.path(path);
    let unknown = FileChange::Added { after: binary(3) };
    let table = [
        (edit(path("x"), unknown), "only the size is known"),
        (FileEdit::added(path("new/deep/"), "x"), "is a folder"),
        (FileEdit::added(path("f/x"), "x"), "not a folder"),
        (FileEdit::added(path("away/x"), "x"), "is outside"),
        (FileEdit::added(path("../x"), "x"), "is outside"),
        (FileEdit::modified(path("d"), "", "x"), "is a folder"),
        (FileEdit::modified(path("pipe"), "", "x"), "is a pipe"),
        (
            FileEdit::modified(path("locked"), "now", "x"),
            "is read-only",
        ),
        (
            FileEdit::modified(path("away/canary"), "CANARY", "x"),
            "is outside",
        ),
        (FileEdit::deleted(path("d"), text("")), "is a folder"),
        (FileEdit::deleted(path("pipe"), text("")), "is a pipe"),
        (
            FileEdit::deleted(path("away/canary"), text("CANARY")),
            "is outside",
        ),
        (FileEdit::deleted(fixture.root(), text("")), "is a folder"),
        (FileEdit::moved(path("f"), path("away/f")), "is outside"),
        (
            FileEdit::moved(path("away/canary"), path("x")),
            "is outside",
        ),
        (FileEdit::moved(path("d"), path("d/e/f")), "cannot be moved"),
        (FileEdit::moved(fixture.root(), path("x")), "is a folder"),
    ];
    unchanged_by(&fixture, || {
        for (edit, expected) in table {
            let message = message(fixture.files().apply(&edit));
            assert!(message.contains(expected), "{message}");
        }
    });
}

/// A tree with an entry of every type.
fn things() -> Ground {
    let fixture = Ground::new();
    fixture.write("f", "now");
    fixture.write("d/g", "g");
    fixture.link("dangling", "nowhere");
    fixture.link("out", fixture.at("/w/outside/new"));
    fixture.link("away", "../outside");
    rustix::fs::mkfifoat(rustix::fs::CWD, fixture.path("pipe"), 0o600.into()).unwrap();
    fs::write(fixture.path("binary"), b"\xff\xff").unwrap();
    set_mode(&fixture.write("locked", "now"), 0o444);
    fixture
}

fn binary(bytes: u64) -> FileBody {
    FileBody::Binary {
        bytes,
        digest: None,
    }
}

fn edit(path: PathBuf, change: FileChange) -> FileEdit {
    FileEdit { path, change }
}

fn unchanged_by(fixture: &Ground, act: impl FnOnce()) {
    let (inside, outside) = (fixture.inside(), fixture.outside());
    act();
    assert_eq!(without_times(fixture.inside()), without_times(inside));
    assert_eq!(fixture.outside(), outside);
}

/// Removes the times from a snapshot: directories created for a failed change were removed again,
/// which changes the times of their parents.
fn without_times(mut all: BTreeMap<PathBuf, String>) -> BTreeMap<PathBuf, String> {
    for line in all.values_mut() {
        let words = line.split(' ').enumerate();
        let kept: Vec<_> = words.filter(|(at, _)| *at != 1).map(|(_, it)| it).collect();
        *line = kept.join(" ");
    }
    all
}

#[test]
fn a_changed_file_keeps_its_rights_but_runs_as_nobody_else() {
    let fixture = Ground::new();
    for (before, after) in [
        (0o640, 0o640),
        (0o755, 0o755),
        (0o6755, 0o755),
        (0o200, 0o200),
    ] {
        let path = fixture.write("f", "1");
        set_mode(&path, before);
        let edit = FileEdit::modified(&path, "1", "2");
        let result = fixture.files().apply(&edit);
        // Without permission to read a file its content cannot be checked; root can read it.
        if result.is_ok() {
            assert_eq!((read(&path).as_str(), mode(&path)), ("2", after));
        }
        assert_eq!(result.is_ok(), fs::File::open(&path).is_ok());
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn a_changed_file_keeps_its_owner_where_that_can_be() {
    let fixture = Ground::new();
    let path = fixture.write("f", "1");
    if std::os::unix::fs::chown(&path, Some(12345), Some(12345)).is_err() {
        println!("skipped: only root gives files away");
        return;
    }
    let edit = FileEdit::modified(&path, "1", "2");
    fixture.files().apply(&edit).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (12345, 12345));
}

#[test]
fn a_link_stays_and_what_it_leads_to_changes() {
    let fixture = Ground::new();
    let real = fixture.write("docs/real", "1");
    let link = fixture.link("link", "docs/real");
    let edit = FileEdit::modified(&link, "1", "2");
    fixture.files().apply(&edit).unwrap();
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("docs/real"));
    assert_eq!(read(&real), "2");
    assert_eq!(names(&fixture.path("docs")), ["real"]);
}

#[test]
fn another_name_of_a_file_keeps_the_old_content() {
    let fixture = Ground::new();
    let outside = fixture.at("/w/outside/canary");
    let path = fixture.path("h");
    fs::hard_link(&outside, &path).unwrap();
    let edit = FileEdit::modified(&path, "CANARY", "x");
    fixture.files().apply(&edit).unwrap();
    assert_eq!((read(&path), read(&outside)), ("x".into(), "CANARY".into()));
}

#[test]
fn a_link_is_deleted_and_not_what_it_leads_to() {
    let fixture = Ground::new();
    let outside = fixture.at("/w/outside");
    let real = fixture.write("real", "shown");
    let own_text = text(outside.to_str().unwrap());
    for (target, before) in [
        (outside.as_path(), own_text),
        (Path::new("real"), text("shown")),
        (Path::new("real"), text("real")),
        (Path::new("nowhere"), text("nowhere")),
    ] {
        let link = fixture.link("link", target);
        let edit = FileEdit::deleted(link, before);
        fixture.files().apply(&edit).unwrap();
        assert_eq!(names(&fixture.root()), ["real"]);
    }
    assert_eq!(read(&real), "shown");
    assert_eq!(read(&outside.join("canary")), "CANARY");
}

#[test]
fn files_folders_and_links_are_moved() {
    let fixture = Ground::new();
    fixture.write("f", "f");
    fixture.write("d/g", "g");
    fixture.link("l", fixture.at("/w/outside"));
    for (from, to) in [("f", "new/f2"), ("d", "new/d2"), ("l", "new/l2")] {
        let edit = FileEdit::moved(fixture.path(from), fixture.path(to));
        fixture.files().apply(&edit).unwrap();
    }
    assert_eq!(names(&fixture.root()), ["new"]);
    assert_eq!(read(&fixture.path("new/f2")), "f");
    assert_eq!(read(&fixture.path("new/d2/g")), "g");
    let target = fs::read_link(fixture.path("new/l2")).unwrap();
    assert_eq!(target, fixture.at("/w/outside"));
}

/// Found by the model test: the directory was moved as if it had been named.
#[test]
fn what_is_above_something_is_not_moved_by_that_name() {
    let fixture = Ground::new();
    fixture.write("d/e/f", "f");
    let edit = FileEdit::moved(fixture.path("d/e/.."), fixture.path("x"));
    assert!(message(fixture.files().apply(&edit)).contains("is a folder"));
    assert_eq!(read(&fixture.path("d/e/f")), "f");
}

#[test]
fn a_move_from_root_to_root() {
    let fixture = Ground::new();
    let path = fixture.write("f", "1");
    let second = fixture.at("/w/second");
    fs::create_dir(&second).unwrap();
    let edit = FileEdit::moved(&path, second.join("a/f"));
    open(&[fixture.root(), second.clone()])
        .apply(&edit)
        .unwrap();
    assert_eq!(read(&second.join("a/f")), "1");
    assert_eq!(names(&fixture.root()), [""; 0]);
}

/// A directory on another file system, if there is one.
pub(crate) fn another_device(fixture: &Ground) -> Option<tempfile::TempDir> {
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    let mut candidates = ["/dev/shm", "/tmp", "/var/tmp"].into_iter();
    candidates.find_map(|dir| {
        let dir = tempfile::tempdir_in(dir).ok()?;
        (device(dir.path()) != device(&fixture.root())).then_some(dir)
    })
}

#[test]
fn a_move_to_another_file_system() {
    let fixture = Ground::new();
    let Some(other) = another_device(&fixture) else {
        println!("skipped: there is one file system only");
        return;
    };
    let to = |name| other.path().canonicalize().unwrap().join(name);
    set_mode(&fixture.write("f", "1"), 0o750);
    fixture.write("d/g", "g");
    fixture.link("l", fixture.at("/w/outside/canary"));
    let files = open(&[fixture.root(), to("")]);
    let moved = |from, name| files.apply(&FileEdit::moved(fixture.path(from), to(name)));
    moved("f", "deep/f").unwrap();
    moved("l", "l").unwrap();
    assert!(message(moved("d", "x/d")).contains("another file system"));
    assert_eq!(
        (read(&to("deep/f")).as_str(), mode(&to("deep/f"))),
        ("1", 0o750)
    );
    assert_eq!(
        fs::read_link(to("l")).unwrap(),
        fixture.at("/w/outside/canary")
    );
    assert_eq!(names(&fixture.root()), ["d"]);
    assert_eq!(names(&to("")), ["deep", "l"]);
    assert_eq!(names(&to("deep")), ["f"]);
}
