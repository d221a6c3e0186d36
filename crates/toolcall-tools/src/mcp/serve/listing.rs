//! Lists the tools of an engine for an MCP client.
//! Annotations follow from a tool's kind only; a kind that says nothing certain has none.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use toolcall::{Kind, Registry, SessionContext, ToolDefinition};

/// Returns all tools of the registry.
pub(super) fn tools(registry: &Registry) -> Vec<Tool> {
    let definitions = registry.definitions();
    definitions
        .map(|definition| tool(definition, registry.kind(&definition.name)))
        .collect()
}

fn tool(definition: &ToolDefinition, kind: Option<Kind>) -> Tool {
    let mut tool = Tool::default();
    tool.name = definition.name.to_string().into();
    tool.description = Some(definition.description.to_string().into());
    tool.input_schema = Arc::new(schema(&definition.input_schema));
    tool.annotations = kind.and_then(annotations);
    tool
}

/// Makes sure that the schema is one of an object, as the protocol requires.
fn schema(schema: &Value) -> JsonObject {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object
        .entry("type")
        .or_insert_with(|| Value::from("object"));
    object
}

/// Returns what a kind says for certain. Without annotations, the protocol assumes that a tool may do
/// anything.
fn annotations(kind: Kind) -> Option<ToolAnnotations> {
    let none = ToolAnnotations::new();
    match kind {
        Kind::Read | Kind::Search | Kind::Think => Some(none.read_only(true).open_world(false)),
        Kind::Fetch => Some(none.read_only(true).open_world(true)),
        Kind::Edit | Kind::Delete => Some(none.destructive(true).open_world(false)),
        Kind::Move => Some(none.destructive(false).open_world(false)),
        Kind::Execute => Some(none.destructive(true).open_world(true)),
        Kind::SwitchMode | Kind::Other => None,
    }
}

/// Returns the instructions for the client: where the tools work, and how permission is asked.
pub(super) fn instructions(setting: &SessionContext) -> String {
    format!(
        "These tools work in `{}`. The user's rules decide about each call; for a call that no rule covers, the user \
         is asked with a form, or it is refused if your client shows no forms.",
        setting.cwd.display()
    )
}
