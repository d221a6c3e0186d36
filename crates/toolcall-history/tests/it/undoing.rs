//! Edits are undone through a host if no file changed after the call.
//! The original contents are restored, secrets included, never the redacted ones.

use std::sync::Arc;
use std::time::Duration;

use toolcall::{
    CallId, Ending, FileBody, FileChange, FileEdit, Host, Intent, Journal, Kind, MemoryHost,
};
use toolcall_history::{HistoryConfig, KeepUndo, UndoError, UndoResult, UndoState};
use toolcall_testkit::clock::TestClock;

use crate::setup::{TestHistory, begin, finished, journal, session, settings, write};

/// The text of a file that contains something like a key.
fn before() -> String {
    format!("A_SECRET_KEY={}\nport = 1\n", "n0t-redacted-here")
}

/// Makes these edits with a call, on the host and in the history.
async fn edit(files: &TestHistory, settings: HistoryConfig, host: &MemoryHost, edits: &[FileEdit]) {
    let history = files.open_with(settings);
    let journal = journal(&session(), &history);
    make(&journal, host, edits).await;
    history.flush().expect("it is written");
}

async fn make(journal: &Journal, host: &MemoryHost, edits: &[FileEdit]) {
    let id = CallId::new("call");
    let intent = Intent::new(Kind::Edit, "Edit");
    let intent = edits.iter().cloned().fold(intent, Intent::editing);
    begin(journal, &id, intent)
        .wait()
        .await
        .expect("it is recorded");
    for edit in edits {
        host.apply(edit).await.expect("it is made");
    }
    drop(write(journal, &id, finished(Ending::Completed, "done")));
}

fn undo_content(files: &TestHistory) -> Result<toolcall_history::UndoContent, UndoError> {
    files
        .archive()
        .undo_content(&session(), &CallId::new("call"))
}

async fn undo(files: &TestHistory, host: &MemoryHost) -> Result<UndoResult, UndoError> {
    undo_content(files)?.restore(host).await
}

fn text(text: &str) -> Option<FileBody> {
    Some(FileBody::Text(text.into()))
}

fn all_sorts() -> (MemoryHost, Vec<FileEdit>) {
    let host = MemoryHost::default()
        .with_file("/w/changed", before())
        .with_file("/w/gone", "gone\n")
        .with_file("/w/here", "moved\n");
    let edits = vec![
        FileEdit::modified("/w/changed", before(), "port = 2\n"),
        FileEdit::added("/w/new", "new\n"),
        FileEdit::deleted("/w/gone", FileBody::Text("gone\n".into())),
        FileEdit::moved("/w/here", "/w/there"),
    ];
    (host, edits)
}

#[tokio::test]
async fn every_sort_of_edit_is_undone_as_it_was() {
    let files = TestHistory::default();
    let (host, edits) = all_sorts();
    edit(&files, settings(), &host, &edits).await;
    let call_history = files
        .archive()
        .call(&session(), &CallId::new("call"))
        .expect("a call");
    assert_eq!(call_history.undo, UndoState::Yes);
    let undone = undo(&files, &host).await.expect("it can be undone");
    let restored = ["/w/here", "/w/gone", "/w/new", "/w/changed"]
        .map(Into::into)
        .to_vec();
    let expected = UndoResult {
        restored,
        unchanged: Vec::new(),
    };
    assert_eq!(undone, expected);
    assert_eq!(host.file("/w/changed"), text(&before()));
    assert_eq!(host.file("/w/new"), None);
    assert_eq!(host.file("/w/gone"), text("gone\n"));
    assert_eq!(
        [host.file("/w/here"), host.file("/w/there")],
        [text("moved\n"), None]
    );
    // Once more there is nothing left to do.
    let again = undo(&files, &host).await.expect("nothing is wrong");
    assert_eq!((again.restored.len(), again.unchanged.len()), (0, 4));
}

#[tokio::test]
async fn nothing_is_undone_when_one_file_changed_since() {
    let files = TestHistory::default();
    let (host, edits) = all_sorts();
    edit(&files, settings(), &host, &edits).await;
    let later = FileEdit::modified("/w/changed", "port = 2\n", "port = 3\n");
    host.apply(&later).await.expect("it is made");
    let refused = undo(&files, &host).await;
    assert_eq!(refused, Err(UndoError::Changed("/w/changed".into())));
    assert_eq!(host.file("/w/changed"), text("port = 3\n"));
    assert_eq!(
        host.file("/w/new"),
        text("new\n"),
        "nothing else was touched"
    );
}

#[tokio::test]
async fn what_was_not_text_is_named() {
    let files = TestHistory::default();
    let host = MemoryHost::default();
    let body = FileBody::Binary {
        bytes: 5,
        digest: None,
    };
    let change = FileChange::Deleted {
        before: body.clone(),
    };
    let edits = [FileEdit {
        path: "/w/image".into(),
        change,
    }];
    let history = files.open();
    let journal = journal(&session(), &history);
    let intent = Intent::new(Kind::Delete, "Delete").editing(edits[0].clone());
    assert!(
        begin(&journal, &CallId::new("call"), intent)
            .wait()
            .await
            .is_ok()
    );
    let refused = undo(&files, &host).await;
    assert_eq!(refused, Err(UndoError::NotText("/w/image".into())));
}

#[tokio::test]
async fn nothing_is_kept_where_that_is_off_or_too_long_ago() {
    let (host, edits) = all_sorts();
    let files = TestHistory::default();
    let off = HistoryConfig {
        undo: KeepUndo::No,
        ..settings()
    };
    edit(&files, off, &host, &edits).await;
    assert_eq!(undo_content(&files).map(drop), Err(UndoError::NotKept));
    assert!(!files.holds("n0t-redacted-here"));

    let (host, edits) = all_sorts();
    let files = TestHistory::default();
    edit(&files, settings(), &host, &edits).await;
    assert!(files.holds("n0t-redacted-here"));
    drop(files.open_with(HistoryConfig {
        // Long after.
        clock: Arc::new(TestClock::standing_at(4_000_000_000_000_000)),
        undo: KeepUndo::For(Duration::from_secs(60)),
        ..settings()
    }));
    assert_eq!(undo_content(&files).map(drop), Err(UndoError::NotKept));
    assert!(!files.holds("n0t-redacted-here"));
}

/// Only the undo files hold the original contents; the database does not.
#[tokio::test]
async fn undo_files_are_kept_apart() {
    let files = TestHistory::default();
    let (host, edits) = all_sorts();
    edit(&files, settings(), &host, &edits).await;
    let database = std::fs::read(&files.path).expect("the file");
    let wal = std::fs::read(files.path.with_file_name("history.db-wal")).unwrap_or_default();
    let secret = b"n0t-redacted-here";
    for bytes in [database, wal] {
        assert!(!bytes.windows(secret.len()).any(|window| window == secret));
    }
}
