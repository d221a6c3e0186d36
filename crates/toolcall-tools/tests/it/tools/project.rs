//! A temporary project, and an engine with the tools that walk directory trees.
//! It asserts nothing but that a call ended as expected.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Runtime;
use toolcall::{
    AllowAll, Content, Ending, Engine, Intent, Outcome, Policy, Registry, SessionContext,
    ToolRequest, Touch, Verdict,
};
use toolcall_tools::local::Files;
use toolcall_tools::tools::{FindPath, ListDirectory, ResultLimit, SearchFiles};

/// A root, and a directory `outside` beside it that no tool may see.
pub(crate) struct TreeProject {
    project: crate::ground::Ground,
    cut: Option<ResultLimit>,
}

impl TreeProject {
    pub(crate) fn new() -> Self {
        let project = crate::ground::Ground::new();
        fs::write(project.at("/w/outside/canary"), "CANARY needle\n").unwrap();
        Self { project, cut: None }
    }

    /// Creates a project with these files and their content.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let project = Self::new();
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    /// Shows this many items at most.
    pub(crate) fn showing(mut self, items: usize) -> Self {
        let cut = ResultLimit {
            items,
            ..ResultLimit::default()
        };
        self.cut = Some(cut);
        self
    }

    pub(crate) fn engine(&self, policy: impl Policy) -> Engine {
        let files = Arc::new(Files::open(&[self.root()]).unwrap());
        let mut search = SearchFiles::new(files.clone());
        let mut find = FindPath::new(files.clone());
        let mut list = ListDirectory::new(files);
        if let Some(cut) = self.cut {
            search = search.with_cut(cut);
            find = find.with_cut(cut);
            list = list.with_cut(cut);
        }
        let mut registry = Registry::new();
        registry.add(search).unwrap();
        registry.add(find).unwrap();
        registry.add(list).unwrap();
        Engine::builder(registry)
            .policy(policy)
            .cwd(self.root())
            .build()
    }

    /// Runs a call with everything allowed.
    pub(crate) fn outcome(&self, tool: &str, input: Value) -> Outcome {
        run(&self.engine(AllowAll), tool, input)
    }

    /// Returns the text of a call that must succeed.
    pub(crate) fn says(&self, tool: &str, input: Value) -> String {
        text(&self.outcome(tool, input))
    }

    /// Returns the text of a call that must succeed although these paths are denied.
    pub(crate) fn says_without(&self, denied: &[&str], tool: &str, input: Value) -> String {
        let denied = denied.iter().map(|path| self.root().join(path)).collect();
        text(&run(&self.engine(DenyPaths(denied)), tool, input))
    }

    /// Returns the structured result of a call that must succeed.
    pub(crate) fn structured(&self, tool: &str, input: Value) -> Value {
        let outcome = self.outcome(tool, input);
        assert!(outcome.ending().is_success(), "{:?}", outcome.ending());
        Value::clone(outcome.result().structured.as_ref().unwrap())
    }

    /// Returns the reason of a call that must fail.
    pub(crate) fn fails(&self, tool: &str, input: Value) -> String {
        match self.outcome(tool, input).ending() {
            Ending::Failed { reason, .. } => self.without_root(reason),
            other => panic!("{other:?}"),
        }
    }

    /// Replaces the root in a text, because it differs from run to run.
    pub(crate) fn without_root(&self, text: &str) -> String {
        self.steady(text, "")
    }
}

impl std::ops::Deref for TreeProject {
    type Target = crate::ground::Ground;

    fn deref(&self) -> &Self::Target {
        &self.project
    }
}

/// Denies these paths and everything beneath them.
struct DenyPaths(Vec<PathBuf>);

impl Policy for DenyPaths {
    fn judge(&self, intent: &Intent, _setting: &SessionContext) -> Verdict {
        let is_denied = |touch: &Touch| match touch {
            Touch::Reads(path) => self.0.iter().any(|denied| path.starts_with(denied)),
            other => panic!("{other:?} is no reading"),
        };
        if intent.touches.iter().any(is_denied) {
            Verdict::deny("test", "denied here")
        } else {
            Verdict::allow("test")
        }
    }
}

pub(crate) fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().build().unwrap()
}

pub(crate) fn run(engine: &Engine, tool: &str, input: Value) -> Outcome {
    runtime().block_on(engine.run(ToolRequest::new(tool, input)))
}

/// Returns the text of a call that must have succeeded.
pub(crate) fn text(outcome: &Outcome) -> String {
    assert!(outcome.ending().is_success(), "{:?}", outcome.ending());
    match outcome.result().content.as_slice() {
        [Content::Text(text)] => text.to_string(),
        other => panic!("{other:?} is not one text"),
    }
}
