//! The hostile cases about paths, each set up for real and judged by what is on the disk after it.
//! Rules, prompts and lists of folders are not judged here; a case about those is skipped by name.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use toolcall::{FileEdit, HostError};
use toolcall_tools::local::Files;

use crate::ground::{Ground, names, open, text};
use crate::writes::another_device;

/// What a case is to show.
enum Shows {
    /// The operation fails and nothing at all changes.
    Refused,
    /// The file is read.
    Reads(&'static str),
    /// The path leads there, which is what policy judges and people are shown.
    LeadsTo(&'static str),
    /// Something of its own.
    Special(fn(&Ground, &Path) -> Outcome),
    /// It is not about files.
    Skipped(&'static str),
}

/// How a case ended. One that failed does not get so far.
#[derive(Clone, Copy)]
enum Outcome {
    Passed,
    Skipped(&'static str),
}

const PROTECTED: &str = "protected names are for policy";
const SHOWN: &str = "how names are shown is for prompts and titles";
const LISTING: &str = "there is no listing or searching yet";

/// What each case shows. A case that is not named here fails the test.
const CASES: &[(&str, Shows)] = &[
    ("001-dotdot", Shows::Refused),
    ("003-prefix-sibling", Shows::Refused),
    ("005-symlink-dir-new-leaf", Shows::Refused),
    ("007-symlink-dangling-create", Shows::Refused),
    ("008-symlink-dotdot", Shows::Refused),
    ("009-symlink-loop", Shows::Refused),
    ("010-canon-fail-fallback", Shows::Refused),
    (
        "014-prompt-shows-target",
        Shows::LeadsTo("src/docs/real.txt"),
    ),
    ("015-root-replaced", Shows::Special(root_replaced)),
    ("016-deny-via-symlink", Shows::LeadsTo("secrets/k")),
    (
        "017-intra-symlink-protected",
        Shows::LeadsTo(".git/hooks/pre-commit"),
    ),
    ("019-hardlink-write", Shows::Special(hard_link)),
    ("022-protected-alias-3", Shows::Skipped(PROTECTED)),
    ("026-protected-alias-7", Shows::Skipped(PROTECTED)),
    ("028-protected-alias-9", Shows::Skipped(PROTECTED)),
    ("029-protected-alias-10", Shows::Skipped(PROTECTED)),
    ("030-protected-alias-11", Shows::Skipped(PROTECTED)),
    ("032-newline-name", Shows::Reads("x")),
    ("033-bidi-name", Shows::Skipped(SHOWN)),
    ("034-esc-name", Shows::Skipped(LISTING)),
    ("035-non-utf8-name", Shows::Skipped(LISTING)),
    ("036-long-path", Shows::Refused),
    ("037-file-uri", Shows::Refused),
    ("038-percent", Shows::Refused),
    ("040-at-prefix", Shows::Refused),
    ("041-magiclink-1", Shows::Special(magic_link)),
    ("043-magiclink-3", Shows::Special(magic_link)),
    ("045-magiclink-5", Shows::Special(magic_link)),
    ("048-dev-2", Shows::Special(device)),
    ("050-dev-4", Shows::Special(device)),
    ("051-fifo-read", Shows::Refused),
    ("052-fifo-write", Shows::Refused),
    ("053-dir-as-file", Shows::Refused),
    ("054-huge-sparse", Shows::Special(huge)),
    ("056-growing", Shows::Special(growing)),
    ("057-git-hook", Shows::Skipped(PROTECTED)),
    ("059-git-file", Shows::Skipped(PROTECTED)),
    ("062-cfg-2", Shows::Skipped(PROTECTED)),
    ("063-cfg-3", Shows::Skipped(PROTECTED)),
    ("065-cfg-5", Shows::Skipped(PROTECTED)),
    ("068-cfg-8", Shows::Skipped(PROTECTED)),
    ("069-cfg-9", Shows::Skipped(PROTECTED)),
    ("073-cfg-13", Shows::Skipped(PROTECTED)),
    ("074-cfg-14", Shows::Skipped(PROTECTED)),
    ("075-cfg-15", Shows::Skipped(PROTECTED)),
    ("076-cfg-16", Shows::Skipped(PROTECTED)),
    ("077-cfg-17", Shows::Skipped(PROTECTED)),
    ("079-cfg-19", Shows::Skipped(PROTECTED)),
    ("083-cfg-23", Shows::Skipped(PROTECTED)),
    ("084-cfg-24", Shows::Skipped(PROTECTED)),
    ("086-cfg-26", Shows::Skipped(PROTECTED)),
    ("087-cfg-27", Shows::Skipped(PROTECTED)),
    ("091-own-policy", Shows::Refused),
    ("093-protected-absent", Shows::Skipped(PROTECTED)),
    ("094-move-into-hooks", Shows::Skipped(PROTECTED)),
    ("098-move-exdev", Shows::Special(move_to_another_device)),
    ("101-delete-symlink", Shows::Special(delete_link)),
    ("102-delete-recursive-link", Shows::Refused),
    ("103-delete-with-git", Shows::Skipped(PROTECTED)),
    ("108-glob-bomb", Shows::Skipped(LISTING)),
    ("111-dup-resolved", Shows::LeadsTo("a")),
    (
        "112-enospc",
        Shows::Skipped("a limit of the whole process: see full_disk.rs"),
    ),
    ("114-model-cwd", Shows::Skipped("there are no commands yet")),
    ("115-roots-relative", Shows::Special(relative_roots)),
];

#[test]
fn hostile_paths() {
    let cases = include_str!("hostile.jsonl").lines();
    let cases: Vec<Value> = cases
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(cases.len(), CASES.len());
    let mut passed = 0;
    for case in &cases {
        let id = case["id"].as_str().unwrap().trim_start_matches("path-");
        let (_, shows) = CASES.iter().find(|(known, _)| *known == id).expect(id);
        match judge(id, case, shows) {
            Outcome::Passed => passed += 1,
            Outcome::Skipped(why) => println!("skipped {id}: {why}"),
        }
    }
    println!("{passed} passed, {} skipped", cases.len() - passed);
}

fn judge(id: &str, case: &Value, shows: &Shows) -> Outcome {
    let ground = set_up(case);
    let input = &case["input"];
    let path = target(&ground, input);
    let outside = ground.outside();
    let outcome = match shows {
        Shows::Refused => {
            let inside = ground.inside();
            act(&ground.files(), input, &path).expect_err(id);
            assert_eq!(ground.inside(), inside, "{id}");
            Outcome::Passed
        }
        Shows::Reads(body) => {
            assert_eq!(ground.files().read(&path), Ok(text(body)), "{id}");
            Outcome::Passed
        }
        Shows::LeadsTo(place) => {
            let place = ground.path(place);
            assert_eq!(ground.files().resolve(&path), Ok(place), "{id}");
            Outcome::Passed
        }
        Shows::Special(special) => special(&ground, &path),
        Shows::Skipped(why) => Outcome::Skipped(why),
    };
    assert_eq!(ground.outside(), outside, "{id}");
    outcome
}

/// As the tools will do it: what is there is read before it is changed.
fn act(files: &Files, input: &Value, path: &Path) -> Result<(), HostError> {
    match input["tool"].as_str().unwrap() {
        "read_file" => files.read(path).map(drop),
        "write_file" => {
            let place = files.resolve(path)?;
            let edit = match files.read(&place) {
                Ok(before) => FileEdit {
                    path: place,
                    change: toolcall::Change::Modified {
                        before,
                        after: text("x"),
                    },
                },
                Err(HostError::Missing(_)) => FileEdit::added(place, "x"),
                Err(other) => return Err(other),
            };
            files.apply(&edit)
        }
        "delete" => files.apply(&FileEdit::deleted(path, text(""))),
        other => panic!("{other} is no tool of this table"),
    }
}

/// The path of an input, in the ground. System folders are the real ones.
fn target(ground: &Ground, input: &Value) -> PathBuf {
    let args = &input["args"];
    let first = &args["edits"][1]["path"];
    let path = [&args["path"], &args["src"], first];
    let path = path.into_iter().find(|path| !path.is_null());
    match path {
        None => ground.root(),
        Some(Value::String(path)) => located(ground, path),
        Some(path) => {
            let times = path["repeat"][1].as_u64().unwrap();
            let part = path["repeat"][0].as_str().unwrap();
            ground.path(&part.repeat(usize::try_from(times).unwrap()))
        }
    }
}

fn located(ground: &Ground, path: &str) -> PathBuf {
    match path.starts_with('/') && !path.starts_with("/proc") && !path.starts_with("/dev") {
        true => ground.at(path),
        false => ground.path(path),
    }
}

fn set_up(case: &Value) -> Ground {
    let ground = Ground::new();
    for folder in [
        "/etc/cron.d",
        "/home/u/.config",
        "/w/other/sub",
        "/w/elsewhere",
    ] {
        fs::create_dir_all(ground.at(folder)).unwrap();
    }
    fs::write(ground.at("/etc/passwd"), "CANARY").unwrap();
    fs::write(ground.at("/etc/hostname"), "CANARY").unwrap();
    for step in case["setup"]["fs"].as_array().into_iter().flatten() {
        let (kind, what) = step.as_object().unwrap().iter().next().unwrap();
        build(&ground, kind, what);
    }
    ground
}

fn build(ground: &Ground, kind: &str, what: &Value) {
    let text = |at: usize| what[at].as_str().unwrap_or_default();
    let path = located(ground, what.as_str().unwrap_or(text(0)));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let target = match text(1).starts_with('/') {
        true => located(ground, text(1)),
        false => text(1).into(),
    };
    match kind {
        "file" | "file_bytes" => fs::write(path, text(1)).unwrap(),
        "dir" => {
            fs::create_dir_all(&path).unwrap();
            let mode = u32::from_str_radix(text(1), 8).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        "symlink" | "bind_or_symlink" => link_despite_rights(&target, &path),
        "hardlink" => fs::hard_link(target, path).unwrap(),
        "fifo" => rustix::fs::mkfifoat(rustix::fs::CWD, path, 0o600.into()).unwrap(),
        "sparse" => {
            let file = fs::File::create(path).unwrap();
            file.set_len(what[1].as_u64().unwrap()).unwrap();
        }
        other => panic!("{other} is no kind of set-up"),
    }
}

/// The folder may be closed already, in which case only root gets the link made: it is refused
/// either way.
fn link_despite_rights(target: &Path, path: &Path) {
    match std::os::unix::fs::symlink(target, path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {}
        other => other.unwrap(),
    }
}

fn root_replaced(ground: &Ground, _path: &Path) -> Outcome {
    let files = ground.files();
    fs::rename(ground.root(), ground.at("/w/p2")).unwrap();
    std::os::unix::fs::symlink(ground.at("/"), ground.root()).unwrap();
    let path = ground.path("etc/hostname");
    assert_eq!(fs::read_to_string(&path).unwrap(), "CANARY");
    assert_eq!(files.read(&path), Err(HostError::Missing(path)));
    fs::remove_file(ground.root()).unwrap();
    fs::rename(ground.at("/w/p2"), ground.root()).unwrap();
    Outcome::Passed
}

fn hard_link(ground: &Ground, path: &Path) -> Outcome {
    let edit = FileEdit::modified(path, "orig", "x");
    ground.files().apply(&edit).unwrap();
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    assert_eq!(read(path), "x");
    assert_eq!(read(&ground.at("/w/outside/t")), "orig");
    Outcome::Passed
}

/// By its own name, and through a link in the root.
fn magic_link(ground: &Ground, _path: &Path) -> Outcome {
    let target = fs::read_link(ground.path("pl")).unwrap();
    for path in [target, ground.path("pl")] {
        let error = ground.files().read(&path).unwrap_err().to_string();
        assert!(error.contains("is outside"), "{error}");
    }
    Outcome::Passed
}

/// Also where somebody made `/dev` a root.
fn device(ground: &Ground, _path: &Path) -> Outcome {
    let files = open(&[ground.root(), "/dev".into()]);
    for entry in fs::read_dir(ground.root()).unwrap() {
        let link = entry.unwrap().path();
        for path in [fs::read_link(&link).unwrap(), link] {
            let error = files.read(&path).unwrap_err();
            let is_absent = matches!(error, HostError::Missing(_));
            assert!(
                is_absent || error.to_string().contains("is a device"),
                "{error}"
            );
        }
    }
    Outcome::Passed
}

fn huge(ground: &Ground, path: &Path) -> Outcome {
    let error = ground.files().read(path).unwrap_err().to_string();
    assert!(error.contains("has 10737418240 bytes"), "{error}");
    let portion = ground.files().read_bytes(path, 1000).unwrap();
    assert_eq!((portion.bytes.len(), portion.size), (1000, 10_737_418_240));
    fs::remove_file(path).unwrap();
    Outcome::Passed
}

fn growing(ground: &Ground, path: &Path) -> Outcome {
    let is_done = AtomicBool::new(false);
    let mut log = fs::File::create(path).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                log.write_all(&[b'x'; 4096]).unwrap();
            }
        });
        let files = ground.files().with_read_limit(100_000);
        for _ in 0..100 {
            let portion = files.read_bytes(path, 100_000).unwrap();
            assert!(portion.bytes.len() <= 100_000);
        }
        while files.read(path).is_ok() {}
        is_done.store(true, Ordering::Relaxed);
    });
    fs::remove_file(path).unwrap();
    Outcome::Passed
}

fn move_to_another_device(ground: &Ground, _path: &Path) -> Outcome {
    let Some(other) = another_device(ground) else {
        return Outcome::Skipped("there is one file system only");
    };
    let other = other.path().canonicalize().unwrap();
    let link = ground.link("l", ground.at("/w/outside/canary"));
    let edit = FileEdit::moved(&link, other.join("l"));
    open(&[ground.root(), other.clone()]).apply(&edit).unwrap();
    let target = fs::read_link(other.join("l")).unwrap();
    assert_eq!(target, ground.at("/w/outside/canary"));
    assert_eq!(
        (names(&other), names(&ground.root())),
        (vec!["l".into()], vec![])
    );
    Outcome::Passed
}

fn delete_link(ground: &Ground, path: &Path) -> Outcome {
    let before = text(ground.at("/w/outside").to_str().unwrap());
    let edit = FileEdit::deleted(path, before);
    ground.files().apply(&edit).unwrap();
    assert_eq!(names(&ground.root()), [""; 0]);
    Outcome::Passed
}

fn relative_roots(_ground: &Ground, _path: &Path) -> Outcome {
    for relative in ["proj", "../x"] {
        let error = Files::open(&[relative.into()]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    }
    Outcome::Passed
}
