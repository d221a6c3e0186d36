//! A process killed at random times: records whose receipt completed are there, and every call has an ending.
//! The killed process is this test itself, started again to write until it dies.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use toolcall::{CallId, Ending, FileEdit, Intent, Kind, SessionId};
use toolcall_history::{Archive, History, HistoryConfig};
use toolcall_testkit::process::{again, role};

use crate::setup::{TestHistory, begin, finished, journal, write};

const NAME: &str = "killed::what_was_said_to_be_safe_survives_a_kill";

/// How often a process is killed; `TOOLCALL_KILLS` sets another number.
const KILLS: usize = 10;
/// A new file after this many kills, so that checking it stays quick.
const KILLS_A_FILE: usize = 20;

#[test]
fn what_was_said_to_be_safe_survives_a_kill() {
    if let Some(path) = role() {
        return write_until_killed(Path::new(&path));
    }
    let kills = std::env::var("TOOLCALL_KILLS");
    let kills = kills.map_or(KILLS, |kills| kills.parse().expect("a number"));
    for file in 0..kills.div_ceil(KILLS_A_FILE) {
        let files = TestHistory::default();
        let (mut safe, mut interrupted) = (HashSet::new(), 0);
        for kill in 0..KILLS_A_FILE.min(kills - file * KILLS_A_FILE) {
            let random = RandomState::new().hash_one(kill);
            let patience = Duration::from_micros(random % 60_000);
            safe.extend(write_and_kill(&files.path, patience));
            interrupted += check(&files, &safe);
        }
        assert!(!safe.is_empty(), "nothing was ever safe");
        assert!(interrupted > 0, "no call was ever open when it was killed");
    }
}

/// Writes several calls at once, and prints each record as soon as its receipt completes.
fn write_until_killed(path: &Path) {
    let history = Arc::new(History::open(path, HistoryConfig::default()).expect("a history"));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build();
    runtime.expect("a runtime").block_on(async {
        let tasks: Vec<_> = (0..4)
            .map(|_| tokio::spawn(write_on(history.clone())))
            .collect();
        for task in tasks {
            task.await.expect("it is killed, or its reader is gone");
        }
    });
}

async fn write_on(history: Arc<History>) {
    let session = SessionId::random();
    let journal = journal(&session, &history);
    for number in 0.. {
        let id = CallId::new(format!("call-{number}"));
        let intent = Intent::new(Kind::Edit, "Write a").editing(FileEdit::added("/work/a", "a"));
        let decision = begin(&journal, &id, intent);
        decision.wait().await.expect("it is recorded");
        say(&format!("{session} {id} decided\n"));
        let ending = write(&journal, &id, finished(Ending::Completed, "done"));
        ending.wait().await.expect("it is recorded");
        say(&format!("{session} {id} finished\n"));
    }
}

/// Prints a line; the write fails only when the parent is about to kill this process.
fn say(line: &str) {
    let _reader_gone = std::io::stdout().write_all(line.as_bytes());
}

/// Starts the writer, kills it some time after its first line, and returns all its lines.
fn write_and_kill(path: &Path, patience: Duration) -> Vec<String> {
    let mut child = start(path);
    let (sender, receiver) = std::sync::mpsc::sync_channel(1 << 20);
    let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let reader = std::thread::spawn(move || {
        for line in lines.map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    let first = receiver
        .recv_timeout(Duration::from_secs(60))
        .expect("it begins");
    // The wait is what is tested: the kill may come at any time.
    let mut all = vec![first];
    let deadline = std::time::Instant::now() + patience;
    loop {
        let left = deadline.saturating_duration_since(std::time::Instant::now());
        match receiver.recv_timeout(left) {
            Ok(line) => all.push(line),
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => panic!("it ended by itself"),
        }
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it is gone");
    all.extend(receiver.iter());
    reader.join().expect("the reader ends");
    // The test harness prints lines, too.
    all.retain(|line| line.starts_with("session-"));
    all
}

fn start(path: &Path) -> Child {
    let mut writer = again(NAME, path);
    writer.stdout(Stdio::piped()).spawn().expect("it starts")
}

/// Opens the history again: every completed record is there, and every call has an ending. Returns how many
/// calls were interrupted.
fn check(files: &TestHistory, safe: &HashSet<String>) -> usize {
    let history = files.open();
    let archive: Archive = history.archive().expect("an archive");
    assert_eq!(archive.integrity(), Ok(()));
    let sessions: HashSet<&str> = safe
        .iter()
        .map(|line| line.split_once(' ').expect("words").0)
        .collect();
    let (mut recorded, mut interrupted) = (HashSet::new(), 0);
    for session in sessions {
        let session = SessionId::new(session);
        let records = archive.records(&session).expect("records");
        let named = |record: &toolcall::Record| {
            format!("{session} {} {}", record.call, record.event.name())
        };
        recorded.extend(records.iter().map(named));
        for call in toolcall::replay(&records) {
            let ending = call.ending().map(Ending::name);
            assert!(ending.is_some(), "{} has no ending", call.id());
            interrupted += usize::from(ending == Some("interrupted"));
        }
    }
    let lost: Vec<_> = safe.difference(&recorded).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert_eq!(archive.verify().err(), None);
    interrupted
}
