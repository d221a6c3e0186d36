//! Deleted sessions leave no bytes in any file, and the rest can still be verified.
//! It searches the bytes of the files, not the tables.

use toolcall::{CallId, Ending, FileEdit, Intent, Journal, Kind, SessionId, Timestamp};
use toolcall_history::{CallFilter, Pruned};
use toolcall_testkit::clock::TestClock;

use crate::setup::{TestHistory, begin, clock, finished, wait, write};

/// Records a session with one edit whose every text contains this word; long texts are stored by hash.
fn record_session(files: &TestHistory, session: &str, word: &str, clock: &TestClock) {
    let history = files.open();
    let journal = Journal::new(SessionId::new(session))
        .with_clock(clock.clone())
        .with_store(history.clone());
    let long = format!("{word} {}", "and so on ".repeat(1000));
    let edit = FileEdit::modified(format!("/work/{word}"), &*long, format!("{long} more"));
    let id = CallId::new("call");
    let intent = Intent::new(Kind::Edit, format!("Edit {word}")).editing(edit);
    drop(begin(&journal, &id, intent));
    let ending = write(&journal, &id, finished(Ending::Completed, long));
    assert_eq!(wait(ending), Ok(()));
}

#[test]
fn a_forgotten_session_is_gone_from_every_file() {
    let files = TestHistory::default();
    let clock = clock();
    for number in 0..20 {
        record_session(
            &files,
            &format!("kept-{number}"),
            &format!("kept{number}"),
            &clock,
        );
    }
    record_session(&files, "forgotten", "unmistakable", &clock);
    assert!(files.holds("unmistakable"));
    let history = files.open();
    let pruned = history
        .forget(&SessionId::new("forgotten"))
        .expect("it is forgotten");
    let expected = Pruned {
        sessions: 1,
        calls: 1,
        texts: 2,
    };
    assert_eq!(pruned, expected);
    assert!(!files.holds("unmistakable"));
    let archive = history.archive().expect("an archive");
    assert_eq!(archive.verify().map(|verified| verified.sessions), Ok(20));
    assert_eq!(archive.integrity(), Ok(()));
    let word = CallFilter {
        text: Some("unmistakable".into()),
        ..CallFilter::default()
    };
    assert_eq!(archive.calls(&word), Ok(Vec::new()));
}

#[test]
fn sessions_older_than_a_timestamp_are_deleted_whole() {
    let files = TestHistory::default();
    let clock = clock();
    record_session(&files, "old", "ancient", &clock);
    let between = toolcall::Clock::now(&clock);
    record_session(&files, "new", "recent", &clock);
    let history = files.open();
    let pruned = history.prune(between).expect("it is pruned");
    assert_eq!((pruned.sessions, pruned.calls), (1, 1));
    assert!(!files.holds("ancient") && files.holds("recent"));
    assert_eq!(
        history
            .prune(Timestamp::default())
            .map(|pruned| pruned.sessions),
        Ok(0)
    );
    let archive = history.archive().expect("an archive");
    assert_eq!(archive.verify().map(|verified| verified.sessions), Ok(1));
}
