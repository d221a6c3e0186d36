//! A temporary piece of the file system with canaries outside of its root, and the tools on it.
//! It records what is told and what is on the disk; it judges nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use toolcall::{
    Answer, Content, Counted, Engine, Event, Outcome, Policy, Question, Registry, ToolCall,
    ToolRequest,
};
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Kit, KitSettings};

/// Nothing that a model or a person gets may hold this.
pub(crate) const CANARY: &str = "CANARY-that-nobody-may-read";

/// A folder `w` with the root `proj` in it and everything else beside that.
pub(crate) struct Ground {
    temp: TempDir,
    state: TempDir,
}

/// What came of a call.
pub(crate) struct Told {
    pub(crate) outcome: Outcome,
    pub(crate) questions: Vec<Arc<Question>>,
    events: Vec<String>,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let ground = Self {
            temp: TempDir::new().unwrap(),
            state: TempDir::new().unwrap(),
        };
        for folder in [
            "/w/proj",
            "/w/outside",
            "/etc/cron.d",
            "/home/u/.config",
            "/w/other/sub",
            "/w/elsewhere",
        ] {
            fs::create_dir_all(ground.at(folder)).unwrap();
        }
        for file in ["/etc/passwd", "/etc/hostname", "/w/outside/canary"] {
            fs::write(ground.at(file), CANARY).unwrap();
        }
        ground
    }

    /// An absolute path within the ground.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        let base = self.temp.path().canonicalize().unwrap();
        base.join(path.trim_start_matches('/'))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("/w/proj")
    }

    /// A path in the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn kit(&self, roots: &[PathBuf]) -> Kit {
        let state = self.state.path().canonicalize().unwrap();
        let mut settings = KitSettings::new(roots.to_vec(), state);
        let supervisor = Supervisor::at(env!("CARGO_BIN_EXE_toolcall-supervisor"));
        settings.supervisor = Some(supervisor);
        Kit::open(settings).unwrap()
    }

    /// Makes a call with the tools of this root. Whoever is asked says yes.
    pub(crate) async fn call(&self, policy: impl Policy, tool: &str, input: Value) -> Told {
        let kit = self.kit(&[self.root()]);
        self.call_with(&kit, policy, tool, input).await
    }

    pub(crate) async fn call_with(
        &self,
        kit: &Kit,
        policy: impl Policy,
        tool: &str,
        input: Value,
    ) -> Told {
        let mut tools = Registry::new();
        kit.add_to(&mut tools).unwrap();
        let (questions, events) = (Arc::new(Mutex::default()), Arc::new(Mutex::default()));
        let (asked, happened) = (Arc::clone(&questions), Arc::clone(&events));
        let approver = move |question: Arc<Question>| {
            let asked: &Mutex<Vec<Arc<Question>>> = &asked;
            asked.lock().unwrap().push(question);
            std::future::ready(Answer::AllowOnce)
        };
        let reader = move |call: &ToolCall, event: &Event| {
            let happened: &Mutex<Vec<String>> = &happened;
            let mut happened = happened.lock().unwrap();
            happened.push(format!("{event:?} {}", call.title()));
        };
        let engine = Engine::builder(tools)
            .cwd(self.root())
            .host(kit.host())
            .policy(policy)
            .approver(approver)
            .ids(Counted::new("call"))
            .reader(reader)
            .build();
        let outcome = engine.run(ToolRequest::new(tool, input)).await;
        let questions = questions.lock().unwrap().clone();
        let events = events.lock().unwrap().clone();
        Told {
            outcome,
            questions,
            events,
        }
    }

    /// Everything outside the root, with its content and what the system knows of it.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut all = snapshot(&self.at("/"));
        all.retain(|path, _| !path.starts_with(self.root()));
        // The folder of the root sees the root come and go, which is no change of its own.
        all.remove(&self.at("/w"));
        all
    }

    /// Everything in the root.
    pub(crate) fn inside(&self) -> BTreeMap<PathBuf, String> {
        snapshot(&self.root())
    }
}

impl Told {
    pub(crate) fn is_completed(&self) -> bool {
        self.outcome.ending().is_success()
    }

    /// Why it did not go well, or nothing.
    pub(crate) fn reason(&self) -> String {
        self.outcome.ending().reason().unwrap_or_default()
    }

    /// What the model gets, as text.
    pub(crate) fn for_model(&self) -> String {
        let content = self.outcome.for_model().content;
        let texts = content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.to_string()),
            Content::Image(_)
            | Content::Audio(_)
            | Content::Resource(_)
            | Content::Link(_)
            | Content::Edit(_)
            | Content::Terminal(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Everything that anybody gets of the call.
    pub(crate) fn everything(&self) -> String {
        let (model, call) = (self.for_model(), &self.outcome.call);
        let events = self.events.join("\n");
        format!("{model}\n{call:?}\n{:?}\n{events}", self.questions)
    }

    /// The lines that a person is shown before they answer, and the title.
    pub(crate) fn lines_for_people(&self) -> Vec<String> {
        let mut lines = vec![self.outcome.call.title().to_owned()];
        for question in &self.questions {
            let intent = &question.subject.intent;
            lines.push(intent.title.to_string());
            lines.extend(question.offers.iter().map(|rule| rule.text.to_string()));
        }
        lines
    }
}

/// Every path below a folder, with kind, rights, times and content.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(path) = ahead.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            // One that is closed to us shows itself only.
            let entries = fs::read_dir(&path).into_iter().flatten();
            ahead.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let (mode, time) = (metadata.mode(), metadata.mtime());
        let line = format!(
            "{mode:o} {time}:{:09} {}",
            metadata.mtime_nsec(),
            content(&path, &metadata)
        );
        all.insert(path, line);
    }
    all
}

/// What is large is sparse here, and its size says enough.
fn content(path: &Path, metadata: &fs::Metadata) -> String {
    if metadata.is_symlink() {
        format!("-> {}", fs::read_link(path).unwrap().display())
    } else if metadata.is_file() && metadata.len() < 1 << 20 {
        fs::read(path).unwrap().escape_ascii().to_string()
    } else {
        format!("{} bytes", metadata.len())
    }
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().as_bytes().escape_ascii().to_string())
        .collect();
    names.sort();
    names
}
