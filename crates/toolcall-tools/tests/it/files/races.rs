//! A mutator swaps directories, files and symlinks while workers use the files beneath the root.
//! In any order of events, no byte outside is read or changed.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolcall::{Access, FileBody, FileEdit, HostError};
use toolcall_testkit::dir::snapshot;
use toolcall_tools::local::Files;

use crate::ground::Ground;

/// The number of operations; `TOOLCALL_RACES` overrides it.
const OPERATIONS: usize = 20_000;
const WORKERS: usize = 3;
/// Pairs of names that are swapped: the real one, and one that leads outside.
const SWAPS: [(&str, &str); 5] = [
    ("d", "d-out"),
    ("a/b", "a/b-out"),
    ("a/b/c", "a/b/c-out"),
    ("d/f", "d/f-out"),
    ("a/b/c/f", "a/b/c/f-out"),
];

#[test]
fn nothing_outside_is_read_or_changed_in_a_race() {
    let fixture = Ground::new();
    lay_out(&fixture);
    let outside = fixture.outside();
    let tally = race(&fixture, operations(), operate);
    assert_eq!(fixture.outside(), outside);
    assert_eq!(left_behind(&fixture), Vec::<PathBuf>::new());
    println!("{tally:?}");
    // Otherwise there was no race.
    assert!(tally.naive.into_inner() > 0 && tally.outside.into_inner() > 0);
    assert!(tally.read.into_inner() > 0 && tally.changed.into_inner() > 0);
}

/// The file of a redirect is passed to a program, which writes to it freely.
#[test]
fn no_redirect_leads_outside_in_a_race() {
    let fixture = Ground::new();
    lay_out(&fixture);
    let outside = fixture.outside();
    let tally = race(&fixture, operations(), redirect);
    assert_eq!(fixture.outside(), outside);
    println!("{tally:?}");
    assert!(tally.naive.into_inner() > 0 && tally.outside.into_inner() > 0);
    assert!(tally.read.into_inner() > 0 && tally.changed.into_inner() > 0);
}

/// Of several workers that add or move to one name at once, exactly one succeeds.
#[test]
fn a_name_is_given_once() {
    let fixture = Ground::new();
    let files = fixture.files();
    let path = fixture.path("d/f");
    for round in 0..200 {
        let own = fixture.write(&format!("own-{round}"), "moved");
        let edits = [
            FileEdit::added(&path, "one"),
            FileEdit::added(&path, "two"),
            FileEdit::moved(own, &path),
        ];
        let done = at_once(&edits, |edit| files.apply(edit));
        let won: Vec<_> = done.iter().filter(|result| result.is_ok()).collect();
        assert_eq!(won.len(), 1, "{done:?}");
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(left_behind(&fixture), Vec::<PathBuf>::new());
}

/// Of several workers with the same expected content, exactly one changes it: no write is lost.
#[test]
fn what_was_shown_is_changed_once() {
    let fixture = Ground::new();
    let files = fixture.files();
    let path = fixture.write("f", "0");
    let mut changed = 0;
    let workers = [(); WORKERS];
    let counts = at_once(&workers, |()| {
        let step = |_: &usize| count_up(&files, &path).is_ok();
        Ok((0..200).filter(step).count())
    });
    for count in counts {
        changed += count.unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), changed.to_string());
    assert!(changed > 0);
}

fn count_up(files: &Files, path: &Path) -> Result<(), HostError> {
    let FileBody::Text(before) = files.read(path)? else {
        panic!("a number is text");
    };
    let after = before.parse::<usize>().unwrap() + 1;
    files
        .apply(&FileEdit::modified(path, before, after.to_string()))
        .map(drop)
}

/// Runs all of them at once: none starts before all are ready.
fn at_once<T: Sync, R: Send>(
    with: &[T],
    act: impl Fn(&T) -> Result<R, HostError> + Sync,
) -> Vec<Result<R, HostError>> {
    let ready = Barrier::new(with.len());
    std::thread::scope(|scope| {
        let start = |it| {
            let (ready, act) = (&ready, &act);
            scope.spawn(move || {
                ready.wait();
                act(it)
            })
        };
        let all: Vec<_> = with.iter().map(start).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

fn operations() -> usize {
    let asked = std::env::var("TOOLCALL_RACES");
    asked.map_or(OPERATIONS, |number| number.parse().unwrap())
}

/// How the operations ended.
#[derive(Debug, Default)]
struct Tally {
    read: AtomicUsize,
    changed: AtomicUsize,
    outside: AtomicUsize,
    failed: AtomicUsize,
    /// How often the same path, opened by its name, led outside.
    naive: AtomicUsize,
}

/// Creates the same names outside as inside, so that every path that leads outside finds a file.
fn lay_out(fixture: &Ground) {
    for path in ["f", "x", "c/f", "b/c/f", "b/f"] {
        let outside = fixture.at("/w/outside").join(path);
        fs::create_dir_all(outside.parent().unwrap()).unwrap();
        fs::write(outside, "CANARY").unwrap();
    }
    for path in ["d/f", "a/b/c/f", "e/f"] {
        fixture.write(path, "inside");
    }
    fixture.link("d-out", fixture.at("/w/outside"));
    fixture.link("a/b-out", "../../outside/b");
    fixture.link("a/b/c-out", fixture.at("/w/outside/c"));
    fixture.link("d/f-out", "../../outside/f");
    fixture.link("a/b/c/f-out", fixture.at("/w/outside/canary"));
    fixture.link("inner", "a/b");
}

/// Runs one operation of one worker; `turn` counts the worker's operations.
type Operation = fn(&Files, &Path, usize, usize, &Tally);

fn race(fixture: &Ground, operations: usize, operate: Operation) -> Tally {
    let tally = Tally::default();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| mutate(fixture, &is_done));
        let workers: Vec<_> = (0..WORKERS)
            .map(|number| {
                let tally = &tally;
                let files = fixture.files();
                let root = fixture.root();
                scope.spawn(move || {
                    let share = operations.div_ceil(WORKERS);
                    (0..share).for_each(|turn| operate(&files, &root, number, turn, tally));
                })
            })
            .collect();
        let ends: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        is_done.store(true, Ordering::Relaxed);
        ends.into_iter().for_each(|end| end.unwrap());
    });
    tally
}

/// Swaps names back and forth, each in one step, so that a path leads outside about half of the time.
/// A swap whose own path is swapped fails, and the next one is tried.
fn mutate(fixture: &Ground, is_done: &AtomicBool) {
    for (one, other) in SWAPS.into_iter().cycle() {
        let (one, other) = (fixture.path(one), fixture.path(other));
        for _ in 0..2 {
            let _ = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
        }
        if is_done.load(Ordering::Relaxed) {
            break;
        }
    }
}

/// Paths that lead outside about half of the time.
const PATHS: [&str; 6] = [
    "d/f",
    "a/b/c/f",
    "a/b/../b/c/f",
    "inner/c/f",
    "d-out/f",
    "d",
];

fn redirect(files: &Files, root: &Path, worker: usize, turn: usize, tally: &Tally) {
    let path = root.join(PATHS[turn / 5 % PATHS.len()]);
    let write = |path: &Path, access| {
        let mut file = files.open_redirect(path, access)?;
        file.write_all(b"inside").unwrap();
        Ok(())
    };
    match turn % 5 {
        0 => count(
            tally,
            files.open_redirect(&path, Access::Read).map(seen_file),
        ),
        1 => count_change(tally, write(&path, Access::Replace)),
        2 => count_change(tally, write(&path, Access::Append)),
        3 => {
            let new = root.join("d").join(format!("new-{worker}"));
            count_change(tally, write(&new, Access::Replace));
        }
        _ => look_naively(&path, tally),
    }
}

fn seen_file(mut file: fs::File) {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert!(!text.contains("CANARY"), "{text}");
}

fn operate(files: &Files, root: &Path, worker: usize, turn: usize, tally: &Tally) {
    let path = root.join(PATHS[turn / 7 % PATHS.len()]);
    let own = |dir: &str| root.join(dir).join(format!("own-{worker}"));
    match turn % 7 {
        0 => count(tally, files.read(&path).map(seen)),
        1 => count(
            tally,
            files
                .read_part(&path, 0, 99)
                .map(|it| seen_bytes(&it.bytes)),
        ),
        2 => count(
            tally,
            files.resolve(&path).map(|it| assert!(it.starts_with(root))),
        ),
        3 => count_change(tally, rewrite(files, &path)),
        4 => count_change(
            tally,
            files.apply(&FileEdit::added(own("d/sub"), "own")).map(drop),
        ),
        5 => count_change(
            tally,
            files
                .apply(&FileEdit::moved(own("d/sub"), own("a/b/c")))
                .map(drop),
        ),
        _ => {
            let deleted = FileEdit::deleted(own("a/b/c"), FileBody::Text("own".into()));
            count_change(tally, files.apply(&deleted).map(drop));
            look_naively(&path, tally);
        }
    }
}

/// Reads a file and changes that content, as an edit does.
fn rewrite(files: &Files, path: &Path) -> Result<(), HostError> {
    let before = files.read(path)?;
    seen(before.clone());
    let FileBody::Text(before) = before else {
        return Ok(());
    };
    files
        .apply(&FileEdit::modified(path, before, "inside"))
        .map(drop)
}

fn seen(body: FileBody) {
    assert_eq!(body, FileBody::Text("inside".into()));
}

fn seen_bytes(bytes: &[u8]) {
    assert_eq!(bytes, b"inside");
}

fn count(tally: &Tally, result: Result<(), HostError>) {
    tick(tally, &tally.read, result);
}

fn count_change(tally: &Tally, result: Result<(), HostError>) {
    tick(tally, &tally.changed, result);
}

fn tick(tally: &Tally, success: &AtomicUsize, result: Result<(), HostError>) {
    let counter = match result {
        Ok(()) => success,
        Err(error) if error.to_string().contains("is outside") => &tally.outside,
        Err(_) => &tally.failed,
    };
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Reads a path by its name, as a tool without handles would.
fn look_naively(path: &Path, tally: &Tally) {
    if fs::read(path).is_ok_and(|bytes| bytes == b"CANARY") {
        tally.naive.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns temporary files that were not removed.
fn left_behind(fixture: &Ground) -> Vec<PathBuf> {
    let all = snapshot(&fixture.root()).into_keys();
    all.filter(|path| path.to_string_lossy().contains(".toolcall-"))
        .collect()
}
