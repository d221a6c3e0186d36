//! Tools made of a closure, and what results say. It must not judge a result.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcall::{Content, CustomTool, Registry, RunContext, ToolDefinition, ToolError, ToolResult};

/// The definition of a tool that takes any object.
pub fn definition(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, "For a test", json!({"type": "object"}))
}

/// A tool that takes any object and does what the closure does.
pub fn custom<F, Fut, R>(name: &str, run: F) -> CustomTool
where
    F: Fn(Arc<Value>, RunContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: Into<ToolResult>,
{
    CustomTool::new(definition(name), run)
}

/// A registry of these tools.
pub fn registry_of(tools: impl IntoIterator<Item = impl Into<Arc<CustomTool>>>) -> Registry {
    let mut registry = Registry::new();
    for tool in tools {
        let added = registry.add_any(tool.into());
        added.expect("a name that no other tool has");
    }
    registry
}

/// The texts among this content, a line each.
pub fn text_of(content: &[Content]) -> String {
    let texts = content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(&**text),
        Content::Image(_)
        | Content::Audio(_)
        | Content::Resource(_)
        | Content::Link(_)
        | Content::Edit(_)
        | Content::Terminal(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
