//! Verification finds changes made outside of the program, and names the first changed record.
//! It does not find a complete rewrite with new hashes.

use toolcall::{CallId, Content, Ending, SessionId};
use toolcall_history::VerifyError;

use crate::setup::{TestHistory, begin, finished, journal, session, wait, whole_call, write};

/// Records three calls in one session, one of them with a long text, and one call in another session.
fn recorded() -> TestHistory {
    let files = TestHistory::default();
    let history = files.open();
    let ours = journal(&session(), &history);
    whole_call(&ours, &CallId::new("one"));
    whole_call(&ours, &CallId::new("two"));
    let intent = toolcall::Intent::new(toolcall::Kind::Read, "Read a lot");
    drop(begin(&ours, &CallId::new("three"), intent));
    let long = Content::text("long ".repeat(1000));
    let last = write(
        &ours,
        &CallId::new("three"),
        finished(Ending::Completed, vec![long]),
    );
    assert_eq!(wait(last), Ok(()));
    let other = journal(&SessionId::new("other"), &history);
    let [_, last] = whole_call(&other, &CallId::new("one"));
    assert_eq!(wait(last), Ok(()));
    files
}

fn check(sql: &str, expected: &VerifyError) {
    let files = recorded();
    let verified = files.archive().verify().expect("nothing was changed yet");
    assert_eq!((verified.sessions, verified.records), (2, 20));
    let db = rusqlite::Connection::open(&files.path).expect("a database");
    assert!(db.execute(sql, []).expect("it changes") > 0, "{sql}");
    assert_eq!(files.archive().verify().as_ref(), Err(expected), "{sql}");
}

fn changed(seq: i64) -> VerifyError {
    VerifyError::Changed {
        session: session(),
        seq,
    }
}

#[test]
fn a_changed_record_is_found() {
    check(
        "UPDATE records SET body = replace(body, 'allow-all', 'allow-nil') WHERE seq = 3",
        &changed(3),
    );
    check("UPDATE records SET at = at + 1 WHERE seq = 7", &changed(7));
    check(
        "UPDATE records SET sort = 'started' WHERE seq = 3",
        &changed(3),
    );
    check(
        "UPDATE records SET call = call + 1 WHERE seq = 5 AND session = 1",
        &changed(5),
    );
    check(
        "UPDATE records SET hash = zeroblob(32) WHERE seq = 2",
        &changed(2),
    );
}

#[test]
fn a_record_that_is_missing_is_found() {
    let missing = |seq| VerifyError::Missing {
        session: session(),
        seq,
    };
    check(
        "DELETE FROM records WHERE seq = 6 AND session = 1",
        &missing(6),
    );
    check(
        "DELETE FROM records WHERE seq = 1 AND session = 1",
        &missing(1),
    );
    let cut = VerifyError::Cut {
        session: session(),
        seq: 15,
    };
    check("DELETE FROM records WHERE seq = 15 AND session = 1", &cut);
    check("UPDATE sessions SET head = zeroblob(32) WHERE id = 1", &cut);
}

#[test]
fn a_changed_text_is_found() {
    let files = recorded();
    let db = rusqlite::Connection::open(&files.path).expect("a database");
    let changed = db.execute("UPDATE blobs SET body = x'00'", []);
    assert_eq!(changed, Ok(1));
    let found = files.archive().verify();
    assert!(matches!(found, Err(VerifyError::Text { .. })), "{found:?}");
}

#[test]
fn a_row_that_says_something_else_than_its_records_is_found() {
    let row = VerifyError::Row {
        session: session(),
        call: CallId::new("two"),
    };
    check(
        "UPDATE calls SET status = 'failed' WHERE name = 'two'",
        &row,
    );
    check("UPDATE calls SET rule = 'another' WHERE name = 'two'", &row);
    check("UPDATE calls SET ran = ran + 1 WHERE name = 'two'", &row);
}
