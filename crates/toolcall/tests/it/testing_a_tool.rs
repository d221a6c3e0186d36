//! How to test a tool of one's own, as `docs/library.md` shows it: a machine in memory and paused time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolcall::{
    AllowAll, CustomTool, Ending, Engine, FileBody, FileEdit, Intent, Kind, MemoryHost, Registry,
    ToolDefinition, ToolRequest,
};

/// Waits twenty minutes and then writes `note.md`.
fn slow_note() -> CustomTool {
    let definition = ToolDefinition::new("note", "Writes note.md.", json!({"type": "object"}));
    let tool = CustomTool::new(definition, |_input, context| async move {
        tokio::time::sleep(Duration::from_secs(1200)).await;
        for edit in context.edits() {
            context.apply(edit).await?;
        }
        Ok("noted")
    });
    tool.preparing(|context| {
        let edit = FileEdit::added(context.path("note.md"), "buy milk\n");
        Ok(Intent::new(Kind::Edit, "Write note.md").editing(edit))
    })
}

#[tokio::test(start_paused = true)]
async fn a_note_is_written_after_twenty_minutes() {
    let host = Arc::new(MemoryHost::default());
    let mut tools = Registry::new();
    tools.add_any(Arc::new(slow_note())).expect("a new name");
    let engine = Engine::builder(tools).cwd("/w").host(host.clone());
    let engine = engine.policy(AllowAll).build();

    let outcome = engine.run(ToolRequest::new("note", json!({}))).await;

    assert_eq!(outcome.ending(), &Ending::Completed);
    assert_eq!(
        host.file("/w/note.md"),
        Some(FileBody::Text("buy milk\n".into()))
    );
}
