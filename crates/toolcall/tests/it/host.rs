//! The host in memory: files change only as shown, commands print, long output is stored.
//! It must not touch the machine that the tests run on.

use std::path::Path;
use std::sync::{Arc, Mutex};

use toolcall::{
    BoxFuture, CallId, Command, Completeness, Console, Content, Decision, Exit, FileBody,
    FileChange, FileEdit, Host, HostError, MemoryHost, Reading, Spill, Touch,
};

fn text(text: &str) -> FileBody {
    FileBody::Text(text.into())
}

fn host() -> MemoryHost {
    MemoryHost::default()
        .with_file("/a", "old")
        .with_file("/b", "other")
}

/// Applies an edit; returns the result and the files after it.
async fn apply(edit: FileEdit) -> (Result<(), HostError>, [Option<FileBody>; 3]) {
    let host = host();
    let result = host.apply(&edit).await;
    (
        result.map(drop),
        ["/a", "/b", "/c"].map(|path| host.file(path)),
    )
}

fn unchanged() -> [Option<FileBody>; 3] {
    [Some(text("old")), Some(text("other")), None]
}

#[tokio::test]
async fn a_new_file_is_added() {
    let expected = [Some(text("old")), Some(text("other")), Some(text("new"))];
    assert_eq!(
        apply(FileEdit::added("/c", "new")).await,
        (Ok(()), expected)
    );
}

#[tokio::test]
async fn a_file_that_is_there_is_not_added() {
    let exists = HostError::Exists("/a".into());
    assert_eq!(
        apply(FileEdit::added("/a", "new")).await,
        (Err(exists), unchanged())
    );
}

#[tokio::test]
async fn a_file_that_is_as_shown_is_modified() {
    let expected = [Some(text("new")), Some(text("other")), None];
    let edit = FileEdit::modified("/a", "old", "new");
    assert_eq!(apply(edit).await, (Ok(()), expected));
}

#[tokio::test]
async fn a_file_that_changed_is_not_modified() {
    let changed = HostError::Changed("/a".into());
    let edit = FileEdit::modified("/a", "older", "new");
    assert_eq!(apply(edit).await, (Err(changed), unchanged()));
}

#[tokio::test]
async fn a_file_that_became_binary_is_not_modified() {
    let edit = FileEdit {
        path: "/a".into(),
        change: FileChange::Modified {
            before: FileBody::Binary {
                bytes: 3,
                digest: None,
            },
            after: text("new"),
        },
    };
    assert_eq!(
        apply(edit).await,
        (Err(HostError::Changed("/a".into())), unchanged())
    );
}

#[tokio::test]
async fn a_file_that_is_gone_is_not_modified() {
    let edit = FileEdit::modified("/c", "old", "new");
    assert_eq!(
        apply(edit).await,
        (Err(HostError::Missing("/c".into())), unchanged())
    );
}

#[tokio::test]
async fn a_file_that_is_as_shown_is_deleted() {
    let expected = [None, Some(text("other")), None];
    assert_eq!(
        apply(FileEdit::deleted("/a", text("old"))).await,
        (Ok(()), expected)
    );
}

#[tokio::test]
async fn a_file_that_changed_or_is_gone_is_not_deleted() {
    let changed = HostError::Changed("/a".into());
    assert_eq!(
        apply(FileEdit::deleted("/a", text("older"))).await,
        (Err(changed), unchanged())
    );
    let missing = HostError::Missing("/c".into());
    assert_eq!(
        apply(FileEdit::deleted("/c", text("old"))).await,
        (Err(missing), unchanged())
    );
}

#[tokio::test]
async fn a_file_is_moved_with_its_content() {
    let expected = [None, Some(text("other")), Some(text("old"))];
    assert_eq!(apply(FileEdit::moved("/a", "/c")).await, (Ok(()), expected));
}

#[tokio::test]
async fn a_file_is_not_moved_over_another_or_itself() {
    for to in ["/b", "/a"] {
        let exists = HostError::Exists(to.into());
        assert_eq!(
            apply(FileEdit::moved("/a", to)).await,
            (Err(exists), unchanged())
        );
    }
}

#[tokio::test]
async fn a_file_that_is_gone_is_not_moved() {
    let missing = HostError::Missing("/c".into());
    assert_eq!(
        apply(FileEdit::moved("/c", "/d")).await,
        (Err(missing), unchanged())
    );
}

#[test]
fn every_edit_states_its_touch() {
    let edits = [
        (FileEdit::added("/a", ""), Touch::Writes("/a".into())),
        (FileEdit::modified("/a", "", ""), Touch::Writes("/a".into())),
        (
            FileEdit::deleted("/a", text("")),
            Touch::Deletes("/a".into()),
        ),
        (
            FileEdit::moved("/a", "/b"),
            Touch::Moves {
                from: "/a".into(),
                to: "/b".into(),
            },
        ),
    ];
    for (edit, touch) in edits {
        assert_eq!(edit.touch(), touch);
    }
}

#[tokio::test]
async fn a_file_is_read_or_missing() {
    let host = host();
    assert_eq!(host.read(Path::new("/a")).await, Ok(text("old")));
    let missing = HostError::Missing("/c".into());
    assert_eq!(host.read(Path::new("/c")).await, Err(missing));
}

fn command(text: &str) -> Command {
    Command::new(text, "/", Reading::Unclear("not read".into()))
}

/// A console that records what is printed.
#[derive(Default)]
struct RecordingConsole(Mutex<Vec<String>>);

impl Console for RecordingConsole {
    fn print(&self, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes).into_owned();
        self.0.lock().expect("a lock").push(line);
    }

    fn show(&self, content: Content) {
        panic!("nothing is shown: {content:?}")
    }

    fn decision(&self) -> Option<Arc<Decision>> {
        None
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn a_command_prints_line_by_line_and_ends() {
    let host = MemoryHost::default().with_command("build", "one\ntwo\nend", Exit::Code(3));
    let paper = RecordingConsole::default();
    assert_eq!(host.run(&command("build"), &paper).await, Ok(Exit::Code(3)));
    assert_eq!(*paper.0.lock().expect("a lock"), ["one\n", "two\n", "end"]);
}

#[tokio::test]
async fn a_command_that_is_not_known_cannot_be_run() {
    let refusal = HostError::NotRunnable {
        command: "rm".into(),
        reason: "this host knows no such command".into(),
    };
    let host = MemoryHost::default();
    let ran = host.run(&command("rm"), &RecordingConsole::default()).await;
    assert_eq!(ran, Err(refusal));
}

fn spill(bytes: u64, completeness: Completeness) -> Result<Spill, HostError> {
    Ok(Spill {
        uri: "memory:call-1".into(),
        bytes,
        completeness,
    })
}

#[test]
fn output_is_kept_up_to_the_limit() {
    let host = MemoryHost::default().with_keep_limit(6);
    let id = CallId::new("call-1");
    assert_eq!(host.kept(&id), None);
    assert_eq!(host.keep(&id, b"abcd"), spill(4, Completeness::Whole));
    assert_eq!(host.keep(&id, b"ef"), spill(6, Completeness::Whole));
    assert_eq!(host.keep(&id, b"g"), spill(6, Completeness::Capped));
    assert_eq!(host.kept(&id), Some(b"abcdef".to_vec()));
}

#[test]
fn what_was_capped_stays_capped() {
    let host = MemoryHost::default().with_keep_limit(2);
    let id = CallId::new("call-1");
    assert_eq!(host.keep(&id, b"abc"), spill(2, Completeness::Capped));
    assert_eq!(host.keep(&id, b""), spill(2, Completeness::Capped));
}

#[test]
fn every_call_is_kept_for_itself() {
    let host = MemoryHost::default().with_keep_limit(2);
    for name in ["call-1", "call-2"] {
        let kept = host
            .keep(&CallId::new(name), b"ab")
            .map(|spill| spill.completeness);
        assert_eq!(kept, Ok(Completeness::Whole));
    }
}

#[test]
fn errors_name_the_file_and_say_what_to_do() {
    let said = [
        HostError::Missing("/a".into()),
        HostError::Changed("/a".into()),
        HostError::Exists("/a".into()),
    ]
    .map(|error| error.to_string());
    let expected = [
        "`/a` does not exist",
        "`/a` changed since it was shown; read it again",
        "`/a` exists already",
    ];
    assert_eq!(said, expected);
}
