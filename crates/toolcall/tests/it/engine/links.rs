//! Paths with symlinks: their targets are judged, shown and changed.
//! The symlinks are in memory; real ones are tested with real files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;
use toolcall::*;

use crate::engine::support::*;

/// A host whose directories may be symlinks.
struct LinkedHost {
    memory: Arc<MemoryHost>,
    links: Arc<Mutex<BTreeMap<PathBuf, PathBuf>>>,
}

impl LinkedHost {
    fn target(&self, path: &Path) -> PathBuf {
        let links = self.links.lock().unwrap();
        let found = links.iter().find_map(|(link, target)| {
            let rest = path.strip_prefix(link).ok()?;
            Some(if rest.as_os_str().is_empty() {
                target.clone()
            } else {
                target.join(rest)
            })
        });
        found.unwrap_or_else(|| path.to_owned())
    }
}

impl Host for LinkedHost {
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>> {
        Box::pin(std::future::ready(Ok(self.target(path))))
    }

    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        self.memory.read(path)
    }

    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<AppliedEdit, HostError>> {
        self.memory.apply(edit)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>> {
        self.memory.run(command, console)
    }

    fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError> {
        self.memory.keep(call, bytes)
    }
}

type Links = Arc<Mutex<BTreeMap<PathBuf, PathBuf>>>;

fn host() -> (LinkedHost, Arc<MemoryHost>, Links) {
    let memory = MemoryHost::default()
        .with_file("/w/real/a", "one two")
        .with_file("/w/other/a", "one two");
    let memory = Arc::new(memory);
    let links = Links::default();
    links
        .lock()
        .unwrap()
        .insert("/w/link".into(), "/w/real".into());
    let host = LinkedHost {
        memory: memory.clone(),
        links: links.clone(),
    };
    (host, memory, links)
}

fn edit(path: &str, old: &str, new: &str) -> ToolRequest {
    ToolRequest::new("edit_file", json!({"path": path, "old": old, "new": new}))
}

#[tokio::test]
async fn what_is_judged_and_changed_is_where_a_path_leads() {
    let (host, memory, _) = host();
    let log = Log::default();
    let approver = |_: Arc<Question>| async { Answer::AllowOnce };
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .approver(approver);
    let engine = engine.build();
    let outcome = engine.turn().call(edit("link/a", "one", "1")).await.await;
    assert_eq!(*outcome.ending(), Ending::Completed);
    let call = &outcome.call;
    let intent = &call.prepared_as().unwrap().intent;
    expect![[r#"
        Edit link/a (leads to real/a) [Location { path: "/w/real/a", line: None }]
        [Writes("/w/real/a"), Writes("/w/link/a"), Reads("/w/real/a")]
        [Edit(FileEdit { path: "/w/real/a", change: Modified { before: Text("one two"), after: Text("1 two") } })]
    "#]].assert_eq(&format!(
        "{} {:?}\n{:?}\n{:?}\n",
        call.title(),
        call.locations(),
        intent.touches,
        intent.preview
    ));
    let one = Some(FileBody::Text("1 two".into()));
    assert_eq!(memory.file("/w/real/a"), one);
}

#[tokio::test]
async fn a_link_to_the_folder_of_the_session_is_not_worth_a_word() {
    let memory = Arc::new(MemoryHost::default().with_file("/data/a", "one two"));
    let links = Links::default();
    links.lock().unwrap().insert("/w".into(), "/data".into());
    let host = LinkedHost { memory, links };
    let engine = engine(registry([]), &Log::default()).host(Arc::new(host));
    let engine = engine.policy(AllowAll).build();
    let outcome = engine.turn().call(edit("a", "one", "1")).await.await;
    assert_eq!(*outcome.ending(), Ending::Completed);
    assert_eq!(outcome.call.title(), "Edit a");
    assert_eq!(outcome.call.locations(), [Location::file("/data/a")]);
}

#[tokio::test]
async fn a_rule_about_where_a_path_leads_holds() {
    let denies_real = |intent: &Intent, _: &SessionContext| {
        let is_real = |touch: &Touch| matches!(touch, Touch::Reads(path) | Touch::Writes(path) if path.starts_with("/w/real"));
        if intent.touches.iter().any(is_real) {
            Verdict::deny("test", "it is real")
        } else {
            Verdict::allow("test")
        }
    };
    let (host, memory, _) = host();
    let log = Log::default();
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .policy(denies_real);
    let engine = engine.build();
    for request in [
        edit("link/a", "one", "1"),
        ToolRequest::new("read_file", json!({"path": "link/a"})),
    ] {
        let outcome = engine.turn().call(request).await.await;
        assert_eq!(*outcome.ending(), Ending::denied("it is real"));
    }
    let two = Some(FileBody::Text("one two".into()));
    assert_eq!(memory.file("/w/real/a"), two);
}

#[tokio::test]
async fn what_leads_elsewhere_since_it_was_shown_is_not_changed() {
    let (host, memory, links) = host();
    let log = Log::default();
    // The shown path is the same, but leads to another file.
    let approver = move |_: Arc<Question>| {
        let other = PathBuf::from("/w/other");
        links.lock().unwrap().insert("/w/real".into(), other);
        async { Answer::AllowOnce }
    };
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .approver(approver);
    let engine = engine.build();
    let outcome = engine.turn().call(edit("real/a", "one", "1")).await.await;
    let Ending::Denied { reason } = outcome.ending() else {
        panic!("{:?}", outcome.ending());
    };
    assert!(reason.contains("did not state"), "{reason}");
    for path in ["/w/real/a", "/w/other/a"] {
        assert_eq!(memory.file(path), Some(FileBody::Text("one two".into())));
    }
}

#[tokio::test]
async fn two_names_of_one_file_are_edited_in_order() {
    let (host, memory, _) = host();
    let log = Log::default();
    let approver = |_: Arc<Question>| async { Answer::AllowOnce };
    let engine = engine(registry([]), &log)
        .host(Arc::new(host))
        .approver(approver);
    let engine = engine.build();
    let turn = engine.turn();
    let first = turn.call(edit("link/a", "two", "2")).await;
    let second = turn.call(edit("real/a", "one", "1")).await;
    assert_eq!(first.await.ending(), &Ending::Completed);
    assert_eq!(second.await.ending(), &Ending::Completed);
    assert_eq!(memory.file("/w/real/a"), Some(FileBody::Text("1 2".into())));
}
