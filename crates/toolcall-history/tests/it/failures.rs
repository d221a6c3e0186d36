//! Full disks, and files that are unreachable, damaged, of a newer version or of another program.
//! Nothing may hang or panic, and the callback gets the error.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use toolcall::{AllowAll, CallId, Ending, Engine, Store, StoreError, ToolError, ToolRequest};
use toolcall_history::{Archive, History, HistoryConfig, HistoryError, OnFailure, QueueLimits};
#[cfg(unix)]
use toolcall_testkit::process::{again_with_file_limit, role};
use toolcall_testkit::tools::{custom, registry_of};

use crate::setup::{TestHistory, journal, session, settings, wait, whole_call};

/// The errors that the callback got, in order; an empty text for a recovery.
#[derive(Clone, Default)]
struct StatusLog(Arc<Mutex<Vec<String>>>);

impl StatusLog {
    fn settings(&self, on_failure: OnFailure) -> HistoryConfig {
        let messages = self.0.clone();
        HistoryConfig {
            on_failure,
            tell: Some(Arc::new(move |error| {
                let message = error.map(ToString::to_string).unwrap_or_default();
                messages.lock().expect("a lock").push(message);
            })),
            ..settings()
        }
    }

    fn messages(&self) -> Vec<String> {
        self.0.lock().expect("a lock").clone()
    }
}

const FULL: &str = "the disk is full, or the history has reached its limit";

/// Fills the file up to its limit; returns the result of the last call, and how many were recorded before it.
fn fill(history: &Arc<History>) -> (Result<(), StoreError>, usize) {
    let journal = journal(&session(), history);
    for number in 0..10_000 {
        let [decision, ending] = whole_call(&journal, &CallId::new(format!("call-{number}")));
        let result = wait(decision).and(wait(ending));
        if result.is_err() || history.health().trouble.is_some() {
            return (result, number);
        }
    }
    panic!("it never became full");
}

const SMALL: Option<u64> = Some(400 * 1024);

#[test]
fn on_a_full_disk_calls_are_refused_and_it_is_said() {
    let (files, log) = (TestHistory::default(), StatusLog::default());
    let settings = HistoryConfig {
        max_file_bytes: SMALL,
        ..log.settings(OnFailure::Refuse)
    };
    let history = files.open_with(settings);
    let (result, recorded_calls) = fill(&history);
    let refused = StoreError {
        reason: FULL.into(),
    };
    assert_eq!(result, Err(refused));
    // A small batch may still fit after a large one did not.
    let messages = log.messages();
    assert_eq!(messages.first().map(String::as_str), Some(FULL));
    assert_eq!(messages.last().map(String::as_str), Some(FULL));
    assert_eq!(history.health().trouble, Some(HistoryError::Full));
    assert!(recorded_calls > 10, "{recorded_calls}");
    let archive = history.archive().expect("the recorded calls can be read");
    assert_eq!(archive.integrity(), Ok(()));
    assert_eq!(archive.verify().err(), None);
}

#[test]
fn on_a_full_disk_calls_go_on_if_that_is_wanted_and_the_gap_is_kept() {
    let (files, log) = (TestHistory::default(), StatusLog::default());
    let limited = HistoryConfig {
        max_file_bytes: SMALL,
        ..log.settings(OnFailure::RunUnrecorded)
    };
    let history = files.open_with(limited);
    let (result, _) = fill(&history);
    assert_eq!(result, Ok(()));
    // A short record may still fit after a long one did not, so the error may be reported again.
    assert_eq!(log.messages().last().map(String::as_str), Some(FULL));
    assert!(history.health().unrecorded > 0);
    // Deleting the session frees space.
    let pruned = toolcall_history::forget(&files.path, &session(), &settings());
    let pruned = pruned.expect("room can be made");
    assert_eq!(pruned.sessions, 1);
    let journal = journal(&session(), &history);
    let [decision, ending] = whole_call(&journal, &CallId::new("after"));
    assert_eq!(wait(decision).and(wait(ending)), Ok(()));
    assert_eq!(log.messages().last().map(String::as_str), Some(""));
    let archive = history.archive().expect("an archive");
    let incidents = archive.incidents().expect("incidents");
    let (_, said) = incidents.last().expect("one is recorded");
    let plural = said.strip_suffix(&format!(" records were not kept: {FULL}"));
    let counted = plural.or(said.strip_suffix(&format!(" record was not kept: {FULL}")));
    let count = counted.and_then(|count| count.parse::<u64>().ok());
    assert!(count.is_some_and(|count| count > 0), "{said}");
}

/// Calls a tool that counts its runs until the history is full. Returns how the last call ended, and how many ran
/// beyond those that completed before.
async fn call_until_full(on_failure: OnFailure) -> (Ending, usize) {
    let files = TestHistory::default();
    let history = files.open_with(HistoryConfig {
        max_file_bytes: SMALL,
        ..StatusLog::default().settings(on_failure)
    });
    let runs = Arc::new(AtomicUsize::new(0));
    let engine = counting_engine(history.clone(), runs.clone());
    for completed in 0..10_000 {
        let request = ToolRequest::new("count", json!({}));
        let outcome = engine.turn().call(request).await.await;
        let is_over = match on_failure {
            OnFailure::Refuse => !outcome.ending().is_success(),
            OnFailure::RunUnrecorded => history.health().trouble.is_some(),
        };
        if is_over {
            return (
                outcome.ending().clone(),
                runs.load(Ordering::Relaxed) - completed,
            );
        }
    }
    panic!("it never became full");
}

fn counting_engine(history: Arc<History>, runs: Arc<AtomicUsize>) -> Engine {
    let tool = custom("count", move |_input, _context| {
        runs.fetch_add(1, Ordering::Relaxed);
        async { Ok::<_, ToolError>("counted") }
    });
    let builder = Engine::builder(registry_of([tool]))
        .policy(AllowAll)
        .store(history);
    builder.cwd("/work").build()
}

#[tokio::test]
async fn no_tool_starts_whose_decision_cannot_be_kept() {
    let (ending, runs) = call_until_full(OnFailure::Refuse).await;
    let reason = format!("the history could not be used: {FULL}");
    assert_eq!((ending, runs), (Ending::failed(reason), 0));
    let went_on = call_until_full(OnFailure::RunUnrecorded).await;
    assert_eq!(went_on, (Ending::Completed, 1));
}

/// The file size limit of the process simulates a failing disk.
#[cfg(unix)]
#[test]
fn a_disk_that_fails_refuses_calls() {
    if role().is_some() {
        let files = TestHistory::default();
        let (result, recorded_calls) = fill(&files.open());
        assert!(
            result.is_err() && recorded_calls > 10,
            "{result:?} after {recorded_calls}"
        );
        return;
    }
    let mut limited = again_with_file_limit("failures::a_disk_that_fails_refuses_calls", 8192);
    let output = limited.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
fn where_there_can_be_no_file_nothing_is_opened() {
    let files = TestHistory::default();
    let blocked = files.dir.write("file", "");
    let path = blocked.join("history.db");
    let refused = History::open(&path, settings()).map(drop);
    assert!(
        matches!(refused, Err(HistoryError::Unreachable(_))),
        "{refused:?}"
    );

    let log = StatusLog::default();
    let history = History::open(&path, log.settings(OnFailure::RunUnrecorded));
    let history = Arc::new(history.expect("calls go on"));
    let journal = journal(&session(), &history);
    let [decision, ending] = whole_call(&journal, &CallId::new("call"));
    assert_eq!(wait(decision).and(wait(ending)), Ok(()));
    assert_eq!(history.health().unrecorded, 5);
    assert_eq!(log.messages().len(), 1);
    assert!(history.load(&session()).is_err());
}

#[test]
fn a_damaged_file_is_set_aside_and_a_new_one_begun() {
    let files = TestHistory::default();
    fs::create_dir_all(files.path.parent().expect("a directory")).expect("a directory");
    fs::write(&files.path, "this is no database, whatever its name says").expect("a file");
    let history = files.open();
    let aside = history.set_aside().expect("it was set aside").clone();
    let contents = fs::read_to_string(&aside.place).expect("it is still there");
    assert_eq!(contents, "this is no database, whatever its name says");
    let journal = journal(&session(), &history);
    let [decision, _] = whole_call(&journal, &CallId::new("call"));
    assert_eq!(wait(decision), Ok(()));
    let incidents = history.archive().and_then(|archive| archive.incidents());
    assert!(
        incidents.expect("incidents")[0]
            .1
            .starts_with("a damaged history was set aside as")
    );
}

/// Overwrites the first page of a table. The first page of the file stays, so that the file looks intact.
fn damage(files: &TestHistory, table: &str) {
    let db = rusqlite::Connection::open(&files.path).expect("a database");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u32 = db
        .query_row(sql, [table], |row| row.get(0))
        .expect("its first page");
    let page = page as usize;
    drop(db);
    let mut bytes = fs::read(&files.path).expect("the file");
    bytes[(page - 1) * 4096..page * 4096].fill(0x5a);
    fs::write(&files.path, bytes).expect("the file");
}

fn recorded() -> TestHistory {
    let files = TestHistory::default();
    let history = files.open();
    let journal = journal(&session(), &history);
    for number in 0..200 {
        whole_call(&journal, &CallId::new(format!("call-{number}")));
    }
    history.flush().expect("it is written");
    drop(journal);
    files
}

#[test]
fn damage_that_is_met_while_opening_is_set_aside_at_once() {
    let files = recorded();
    damage(&files, "runs");
    let history = files.open();
    assert!(history.set_aside().is_some());
    let archive = history.archive().expect("a new one");
    assert_eq!(
        (archive.integrity(), archive.sessions()),
        (Ok(()), Ok(Vec::new()))
    );
}

#[test]
fn damage_that_is_met_while_writing_is_set_aside_by_the_next_start() {
    let files = recorded();
    damage(&files, "records");
    let met = {
        let history = files.open();
        assert_eq!(history.set_aside(), None);
        let journal = journal(&session(), &history);
        let [decision, _] = whole_call(&journal, &CallId::new("another"));
        wait(decision).map_err(|error| error.to_string())
    };
    assert!(met.expect_err("it is damaged").contains("damaged"));
    let history = files.open();
    assert!(history.set_aside().is_some());
    let archive = history.archive().expect("a new one");
    assert_eq!(
        (archive.integrity(), archive.sessions()),
        (Ok(()), Ok(Vec::new()))
    );
}

fn change(files: &TestHistory, sql: &str) {
    let db = rusqlite::Connection::open(&files.path).expect("a database");
    db.execute_batch(sql).expect("it changes");
}

#[test]
fn a_newer_version_is_refused_with_a_clear_message() {
    let files = TestHistory::default();
    drop(files.open());
    change(&files, "PRAGMA user_version = 99");
    for on_failure in [OnFailure::Refuse, OnFailure::RunUnrecorded] {
        let settings = HistoryConfig {
            on_failure,
            ..settings()
        };
        let refused = History::open(&files.path, settings)
            .map(drop)
            .expect_err("it is newer");
        expect!["the history has version 99, and this program reads up to 1; use a newer program"]
            .assert_eq(&refused.to_string());
    }
    assert!(Archive::open(&files.path).is_err());
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let files = TestHistory::default();
    fs::create_dir_all(files.path.parent().expect("a directory")).expect("a directory");
    change(&files, "CREATE TABLE theirs(a)");
    let refused = History::open(&files.path, settings())
        .map(drop)
        .expect_err("not ours");
    assert!(matches!(refused, HistoryError::Foreign(_)), "{refused}");
    change(&files, "INSERT INTO theirs VALUES(1)");
}

/// Another connection holds the lock: the call is refused after a while, and nothing hangs.
#[test]
fn a_lock_held_for_too_long_is_an_error() {
    let files = TestHistory::default();
    let log = StatusLog::default();
    let settings = HistoryConfig {
        patience: Duration::from_millis(1),
        ..log.settings(OnFailure::Refuse)
    };
    let history = files.open_with(settings);
    let holder = rusqlite::Connection::open(&files.path).expect("a database");
    holder.execute_batch("BEGIN IMMEDIATE").expect("it is held");
    let journal = journal(&session(), &history);
    let [decision, ending] = whole_call(&journal, &CallId::new("call"));
    assert!(wait(decision).is_err() && wait(ending).is_err());
    assert_eq!(log.messages(), [HistoryError::Busy.to_string()]);
    holder.execute_batch("ROLLBACK").expect("it lets go");
    let [decision, _] = whole_call(&journal, &CallId::new("another"));
    assert_eq!(wait(decision), Ok(()));
}

/// A sender waits for space; once one has timed out, the next ones fail at once.
#[test]
fn a_full_queue_refuses_records_after_a_while() {
    let files = TestHistory::default();
    let settings = HistoryConfig {
        patience: Duration::from_millis(1),
        queue_limits: QueueLimits {
            records: 4,
            bytes: 1024 * 1024,
        },
        ..settings()
    };
    let history = files.open_with(settings);
    let holder = rusqlite::Connection::open(&files.path).expect("a database");
    holder.execute_batch("BEGIN IMMEDIATE").expect("it is held");
    let journal = journal(&session(), &history);
    let mut last = Vec::new();
    for number in 0..20 {
        last.extend(whole_call(&journal, &CallId::new(format!("call-{number}"))));
    }
    let refused = last.into_iter().map(wait).filter(Result::is_err).count();
    assert_eq!(refused, 40);
    holder.execute_batch("ROLLBACK").expect("it lets go");
    history.flush().expect("it goes on");
}

#[cfg(unix)]
#[test]
fn files_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let files = TestHistory::default();
    let history = files.open();
    let journal = journal(&session(), &history);
    let [decision, _] = whole_call(&journal, &CallId::new("call"));
    assert_eq!(wait(decision), Ok(()));
    let dir = files.path.parent().expect("a directory");
    let mode = |path: &std::path::Path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(dir), 0o700);
    let mut files = 0;
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
        files += 1;
    }
    assert!(files >= 4, "the file, its journal, its index, its lock");
}
