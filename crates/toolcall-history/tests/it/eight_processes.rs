//! Eight processes write into one file at once: nothing is lost, and no lock becomes an error.
//! Each process is this test itself, started again to write its share.

use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

use toolcall::{CallId, SessionId, replay};
use toolcall_history::{History, HistoryConfig};
use toolcall_testkit::process::{again, role};

use crate::setup::{TestHistory, journal, whole_call};

const NAME: &str = "eight_processes::eight_processes_lose_nothing_and_hear_of_no_lock";
const CALLS: usize = 200;

#[test]
fn eight_processes_lose_nothing_and_hear_of_no_lock() {
    if let Some(path) = role() {
        return write_share(Path::new(&path));
    }
    let files = TestHistory::default();
    let writers: Vec<Child> = (0..8).map(|_| start(&files.path)).collect();
    let mut sessions = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}");
        let named = said.lines().find(|line| line.starts_with("session-"));
        sessions.push(SessionId::new(named.expect("its session")));
    }
    let archive = files.archive();
    assert_eq!(archive.integrity(), Ok(()));
    for session in sessions {
        let calls = replay(&archive.records(&session).expect("records"));
        let completed = calls
            .iter()
            .filter(|call| call.ending().is_some_and(|e| e.is_success()));
        assert_eq!(completed.count(), CALLS);
    }
}

fn write_share(path: &Path) {
    let history =
        Arc::new(History::open(path, HistoryConfig::default()).expect("no lock is heard of"));
    let session = SessionId::random();
    println!("\n{session}");
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(async {
        let journal = journal(&session, &history);
        for number in 0..CALLS {
            let id = CallId::new(format!("call-{number}"));
            for receipt in whole_call(&journal, &id) {
                receipt.wait().await.expect("no lock is heard of");
            }
        }
    });
}

fn start(path: &Path) -> Child {
    let mut writer = again(NAME, path);
    writer.stdout(Stdio::piped()).spawn().expect("it starts")
}
