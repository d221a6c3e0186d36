//! Guarantees for tool authors: paths, texts and the edits that were shown.
//! It uses the public API only.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use toolcall::{
    Engine, FileBody, FileEdit, Intent, Kind, MemoryHost, PrepareContext, Registry, RunContext,
    SessionContext, Tool, ToolError, ToolRequest, Touch, Verdict,
};

/// Appends a line to the file it is given.
struct Append;

impl Tool for Append {
    const NAME: &'static str = "append";
    const DESCRIPTION: &'static str = "Appends a line.";
    type Input = String;
    type Output = Arc<str>;

    async fn prepare(&self, path: &String, context: &PrepareContext) -> Result<Intent, ToolError> {
        let before = context.read_text(path).await?;
        let edit = FileEdit::modified(
            context.path(path),
            before.clone(),
            format!("{before}more\n"),
        );
        Ok(Intent::new(Kind::Edit, "Append").editing(edit))
    }

    async fn run(&self, path: String, context: &RunContext) -> Result<Arc<str>, ToolError> {
        for edit in context.edits() {
            context.apply(edit).await?;
        }
        context.read_text(path).await
    }
}

fn inside_only(intent: &Intent, setting: &SessionContext) -> Verdict {
    let is_outside = |touch: &Touch| match touch {
        Touch::Reads(path) | Touch::Writes(path) => !setting.contains(path),
        Touch::Deletes(_)
        | Touch::Moves { .. }
        | Touch::Runs(_)
        | Touch::Reaches(_)
        | Touch::Unknown => true,
    };
    if intent.touches.iter().any(is_outside) {
        Verdict::deny("inside-only", "it lies outside")
    } else {
        Verdict::allow("inside")
    }
}

/// Returns how a call of `append` ends, and the content of the file after it.
async fn append(path: &str) -> (&'static str, Option<FileBody>) {
    let host = MemoryHost::default()
        .with_file("/project/notes", "some\n")
        .with_file("/secret", "hush\n");
    let host = Arc::new(host);
    let mut tools = Registry::new();
    tools.add(Append).unwrap();
    let engine = Engine::builder(tools)
        .cwd("/project")
        .host(host.clone())
        .policy(inside_only)
        .build();
    let outcome = engine.run(ToolRequest::new("append", json!(path))).await;
    let file = host.file(Path::new("/project").join(path));
    (outcome.ending().name(), file)
}

#[tokio::test]
async fn the_edit_that_was_shown_is_the_edit_that_is_made() {
    let text = FileBody::Text("some\nmore\n".into());
    assert_eq!(append("notes").await, ("completed", Some(text)));
}

#[tokio::test]
async fn a_relative_path_is_resolved_before_it_is_judged() {
    assert_eq!(append("../secret").await.0, "denied");
    assert_eq!(append("notes/../../secret").await.0, "denied");
    assert_eq!(append("x/../notes").await.0, "completed");
}
