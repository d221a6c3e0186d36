//! Directory trees that change during a walk, block it, are endless, or are built to exhaust it.
//! In every case, nothing outside of the root is seen and every call ends.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use toolcall::{
    AllowAll, Ending, Engine, Event, Intent, Policy, SessionContext, ToolRequest, Verdict,
};

use crate::tools::project::{TreeProject, run, runtime, text};

/// The number of calls; `TOOLCALL_RACES` sets another number of file operations.
const CALLS: usize = 600;
/// How many files and directories a call opens, roughly.
const OPERATIONS_OF_A_CALL: usize = 100;

fn calls() -> usize {
    let operations = std::env::var("TOOLCALL_RACES");
    operations.map_or(CALLS, |number| {
        let operations: usize = number.parse().unwrap();
        operations / OPERATIONS_OF_A_CALL
    })
}

/// Swaps directories and files with symlinks that lead outside, while searches run.
#[test]
fn no_tool_sees_what_is_outside_in_a_race() {
    let project = TreeProject::new();
    for path in ["x/canary", "x/y/canary"] {
        let outside = project.at("/w/outside").join(path);
        fs::create_dir_all(outside.parent().unwrap()).unwrap();
        fs::write(outside, "CANARY needle\n").unwrap();
    }
    for path in ["d/x/in", "d/x/y/in", "d/f", "e/x/y/in", "d/.gitignore"] {
        project.write(path, "needle\n");
    }
    project.link("d-out", project.at("/w/outside"));
    project.link("d/x-out", project.at("/w/outside").join("x"));
    project.link("d/x/y-out", project.at("/w/outside").join("x/y"));
    project.link("d/f-out", project.at("/w/outside").join("canary"));
    let engine = project.engine(AllowAll);
    let is_done = AtomicBool::new(false);
    let swaps = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| swap(&project, &is_done, &swaps));
        let answers = scope
            .spawn(|| (0..calls()).map(|turn| ask(&engine, turn)).sum())
            .join();
        is_done.store(true, Ordering::Relaxed);
        let found: usize = answers.unwrap();
        // Otherwise nothing was raced.
        assert!(found > 0 && swaps.load(Ordering::Relaxed) > 0);
    });
}

fn swap(project: &TreeProject, is_done: &AtomicBool, swaps: &AtomicUsize) {
    let pairs = [
        ("d", "d-out"),
        ("d/x", "d/x-out"),
        ("d/x/y", "d/x/y-out"),
        ("d/f", "d/f-out"),
    ];
    for (one, other) in pairs.into_iter().cycle() {
        let (one, other) = (project.root().join(one), project.root().join(other));
        for _ in 0..2 {
            let swapped = renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE);
            swaps.fetch_add(usize::from(swapped.is_ok()), Ordering::Relaxed);
        }
        if is_done.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Calls one of the tools, checks that it saw nothing outside, and returns 1 if it completed.
fn ask(engine: &Engine, turn: usize) -> usize {
    let path = ["d", "d/x", ".", "d-out", "d/f"][turn / 3 % 5];
    let (tool, input) = match turn % 3 {
        0 => (
            "search_files",
            json!({"query": "needle", "path": path, "context": 1}),
        ),
        1 => ("find_path", json!({"pattern": "*", "path": path})),
        _ => (
            "list_directory",
            json!({"path": path, "depth": 9, "ignored": "show"}),
        ),
    };
    let outcome = run(engine, tool, input);
    match outcome.ending() {
        Ending::Completed => {
            let said = text(&outcome);
            let seen = said.lines().filter(|line| !line.contains("-> "));
            assert!(
                !seen.collect::<String>().to_lowercase().contains("canary"),
                "{said}"
            );
            1
        }
        Ending::Failed { .. } => 0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_pipe_does_not_hold_a_search_up() {
    let project = TreeProject::with(&[("a", "needle\n")]);
    let pipe = project.root().join("pipe");
    rustix::fs::mkfifoat(CWD, &pipe, 0o600.into()).unwrap();
    let said = project.says("search_files", json!({"query": "needle"}));
    assert!(
        said.starts_with("1 line matches `needle` in 1 file (1 file searched"),
        "{said}"
    );
    let failure = project.fails("search_files", json!({"query": "needle", "path": "pipe"}));
    assert_eq!(failure, "`/w/proj/pipe` is neither a folder nor a file");
}

/// More unfinished levels than the walk keeps open, and more than it descends.
#[test]
fn a_deep_tree_is_walked_as_far_as_walks_go() {
    let project = TreeProject::new();
    let mut directory = String::new();
    for _ in 0..300 {
        directory.push_str("d/");
        for other in ["e", "f", "g"] {
            project.write(&format!("{directory}{other}/f"), "needle\n");
        }
    }
    let found = project.outcome("search_files", json!({"query": "needle"}));
    let said = text(&found);
    let files = 3 * 254;
    let expected_text = format!("{files} lines match `needle` in {files} files");
    assert!(said.starts_with(&expected_text), "{said}");
    let expected_text = "folders lie too deep and were not entered.";
    assert!(said.contains(expected_text), "{said}");
}

#[test]
fn a_search_stops_at_a_million_matches_and_says_so() {
    let project = TreeProject::new();
    project.write("a", "needle\n".repeat(1_000_001));
    let said = project.says("search_files", json!({"query": "needle"}));
    let expected_text = "More than 1000000 lines in . match `needle`, so the search was stopped";
    assert!(said.starts_with(expected_text), "{said}");
}

#[test]
fn a_line_without_end_is_given_up() {
    let project = TreeProject::with(&[("b", "needle\n")]);
    let mut endless = b"needle\n".to_vec();
    endless.resize(17 << 20, b'x');
    project.write("a", endless);
    let said = project.says("search_files", json!({"query": "needle"}));
    let expected_text = "2 lines match `needle` in 2 files (2 files searched in .). 1 file could not be read to the end.";
    assert!(said.starts_with(expected_text), "{said}");
}

#[test]
fn a_directory_of_very_many_names_is_read_in_pieces_by_its_own_rules() {
    let project = TreeProject::new();
    for number in 0..9000 {
        project.write(&format!("f{number}"), "");
    }
    project.write(".gitignore", "f*1\n");
    let found = project.structured("find_path", json!({"pattern": "*"}));
    assert_eq!(found["total"], 8100);
}

#[test]
fn unreadable_files_and_directories_are_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = TreeProject::with(&[
        ("closed/a", "needle\n"),
        ("b", "needle\n"),
        ("c", "needle\n"),
    ]);
    for path in ["closed", "c"] {
        let path = project.root().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let said = project.says("search_files", json!({"query": "needle"}));
    for path in ["closed", "c"] {
        let path = project.root().join(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let expected_text = [
        "1 line matches",
        "1 file could not be read to the end.",
        "1 folder could not be read.",
    ];
    // Root can read everything.
    let expected = if rustix::process::geteuid().is_root() {
        &["3 lines match"][..]
    } else {
        &expected_text[..]
    };
    for words in expected {
        assert!(said.contains(words), "{said}");
    }
}

/// Lets this many names pass, and then blocks all threads until the gate is opened.
#[derive(Default)]
struct Gate {
    judged: AtomicUsize,
    is_open: Mutex<bool>,
    opened: Condvar,
    reached: tokio::sync::Notify,
}

const PASS: usize = 50;

impl Gate {
    fn pass(&self) {
        if self.judged.fetch_add(1, Ordering::Relaxed) < PASS {
            return;
        }
        self.reached.notify_one();
        let mut is_open = self.is_open.lock().unwrap();
        while !*is_open {
            is_open = self.opened.wait(is_open).unwrap();
        }
    }

    fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }
}

struct GatedPolicy(Arc<Gate>);

impl Policy for GatedPolicy {
    fn judge(&self, _intent: &Intent, _setting: &SessionContext) -> Verdict {
        self.0.pass();
        Verdict::allow("test")
    }
}

/// A second passes while the walk is blocked.
#[test]
fn a_long_walk_says_how_far_it_is() {
    let project = TreeProject::new();
    for number in 0..2 * PASS {
        project.write(&format!("{number}/f"), "needle\n");
    }
    let gate = Arc::new(Gate::default());
    let engine = project.engine(GatedPolicy(gate.clone()));
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    let said = runtime.block_on(async {
        let mut events = engine.journal().follow(64);
        let turn = engine.turn();
        let call = turn
            .call(ToolRequest::new("search_files", json!({"query": "needle"})))
            .await;
        gate.reached.notified().await;
        tokio::time::advance(Duration::from_secs(2)).await;
        let said = loop {
            if let Event::Progressed(progress) = events.recv().await.unwrap().event {
                break progress;
            }
        };
        gate.open();
        assert!(call.await.ending().is_success());
        said
    });
    let words = said.message().unwrap();
    assert!(words.contains(" files searched, "), "{words}");
}

#[test]
fn a_cancelled_walk_ends_where_it_is() {
    const NAMES: usize = 2000;
    let project = TreeProject::new();
    for number in 0..NAMES {
        project.write(&format!("{}/{number}", number / 10), "needle\n");
    }
    for (tool, input) in [
        ("search_files", json!({"query": "needle"})),
        ("find_path", json!({"pattern": "*"})),
        ("list_directory", json!({"path": ".", "depth": 9})),
    ] {
        let gate = Arc::new(Gate::default());
        let engine = project.engine(GatedPolicy(gate.clone()));
        let runtime = runtime();
        let ending = runtime.block_on(async {
            let turn = engine.turn();
            let call = turn.call(ToolRequest::new(tool, input)).await;
            gate.reached.notified().await;
            turn.cancel();
            gate.open();
            call.await.ending().clone()
        });
        // Waits for the threads that still run.
        drop(runtime);
        assert!(matches!(ending, Ending::Cancelled { .. }), "{ending:?}");
        let judged = gate.judged.load(Ordering::Relaxed);
        assert!(judged < NAMES / 2, "{tool} went on to {judged}");
    }
}
