//! Our side: the tools as an agent uses them, through registry and engine, with everything allowed.
//! It starts no process.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tokio::runtime::Runtime;
use toolcall::{AllowAll, Engine, OutputBudget, Registry, ToolRequest, ToolResult};
use toolcall_tools::local::Files;
use toolcall_tools::tools::{FindPath, ListDirectory, ResultLimit, SearchFiles};

/// Enough for whatever is found, where nothing is cut.
const BUDGET: usize = 1 << 30;

pub(super) struct Ours {
    runtime: Runtime,
    engine: Engine,
}

impl Ours {
    pub(super) fn new(tree: &Path, cut: ResultLimit) -> Self {
        let tree = tree.canonicalize().expect("the tree is there");
        let files = Files::open(std::slice::from_ref(&tree)).expect("the tree can be opened");
        let files = Arc::new(files);
        let mut registry = Registry::new();
        registry
            .add(SearchFiles::new(files.clone()).with_cut(cut))
            .and_then(|registry| registry.add(FindPath::new(files.clone()).with_cut(cut)))
            .and_then(|registry| registry.add(ListDirectory::new(files).with_cut(cut)))
            .expect("the tools are fine");
        let budget = OutputBudget {
            head: BUDGET,
            tail: BUDGET,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        Self {
            runtime: runtime.expect("a runtime can be built"),
            engine: Engine::builder(registry)
                .policy(AllowAll)
                .output_budget(budget)
                .cwd(tree)
                .build(),
        }
    }

    /// One call from request to ending.
    pub(super) fn call(&self, tool: &str, input: &Value) -> ToolResult {
        let request = ToolRequest::new(tool, input.clone());
        let outcome = self.runtime.block_on(self.engine.run(request));
        assert!(outcome.ending().is_success(), "{:?}", outcome.ending());
        outcome.result().clone()
    }

    /// Every match as `path:line`.
    pub(super) fn matches(&self, input: &Value) -> Vec<String> {
        let found = self.structured("search_files", input);
        let matches = found["matches"].as_array().expect("a list of matches");
        let place = |found: &Value| {
            let path = found["path"].as_str().unwrap_or_default();
            format!("{path}:{}", found["line"])
        };
        matches.iter().map(place).collect()
    }

    /// The files that a pattern finds.
    pub(super) fn paths(&self, input: &Value) -> Vec<String> {
        files_of(&self.structured("find_path", input)["paths"])
    }

    /// The files that are listed.
    pub(super) fn files(&self, input: &Value) -> Vec<String> {
        files_of(&self.structured("list_directory", input)["entries"])
    }

    fn structured(&self, tool: &str, input: &Value) -> Arc<Value> {
        let structured = self.call(tool, input).structured;
        structured.expect("a result for programs")
    }
}

/// Without folders and links, which ripgrep does not list.
fn files_of(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().expect("a list").iter();
    let texts = entries.filter_map(Value::as_str);
    let files = texts.filter(|text| !text.ends_with(['/', '@']) && !text.contains("@ -> "));
    files.map(str::to_owned).collect()
}
