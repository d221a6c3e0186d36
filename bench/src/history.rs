//! What keeping a history costs, and what asking it costs as it grows.
//! Each file is made in a folder of its own that goes away; nothing is measured twice on one file.

mod bare;
mod calls;
mod queries;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use toolcall::{CallId, Journal, SessionId};
use toolcall_history::{Archive, History, HistoryConfig, KeepUndo};

use crate::{Case, Options, Row, Target};

/// Calls of one run; each is five events.
const CALLS: u32 = 20_000;
const EVENTS: u32 = 5 * CALLS;

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let mut rows = vec![kept(options)];
    rows.extend(calls::run(options));
    rows.extend(queries::run(options));
    rows
}

/// Events through a journal into a history, against the rows that come of it, inserted bare.
fn kept(options: &Options) -> Row {
    let sample = folder();
    write(&file(&sample), CALLS);
    let rows = bare::Rows::read(&file(&sample));
    Case::new(
        "an event, through journal and history, against its bare rows",
        options,
    )
    .operations(EVENTS)
    // At least 0.4 times as many a second.
    .target(Target::AtMost(2.5))
    .compare_measured(
        || {
            let folder = folder();
            write(&file(&folder), CALLS)
        },
        || {
            let folder = folder();
            bare::insert(&file(&folder), &rows)
        },
    )
}

/// Writes calls of one session and waits until all are safe; opening and closing are not counted.
pub(crate) fn write(path: &Path, calls: u32) -> Duration {
    let settings = HistoryConfig {
        undo: KeepUndo::No,
        ..HistoryConfig::default()
    };
    let history = Arc::new(History::open(path, settings).expect("a history"));
    let began = Instant::now();
    let journal = Journal::new(SessionId::random()).with_store(history.clone());
    for number in 0..calls {
        calls::live(&journal, &CallId::new(format!("call-{number}")), number);
    }
    history.flush().expect("it is written");
    let took = began.elapsed();
    let kept = Archive::open(path).and_then(|archive| archive.sessions());
    let kept = kept.expect("sessions").first().map(|session| session.calls);
    assert!(kept >= Some(u64::from(calls)), "all were kept: {kept:?}");
    took
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn file(folder: &TempDir) -> std::path::PathBuf {
    folder.path().join("history.db")
}
