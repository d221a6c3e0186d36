//! The tools of an engine, as an MCP client is told of them.
//! What is claimed of a tool follows from its kind, and where that says nothing, nothing is claimed.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;
use toolcall::{Definition, Kind, Registry, SessionContext};

/// Every tool that may be called.
pub(super) fn tools(registry: &Registry) -> Vec<Tool> {
    let definitions = registry.definitions();
    definitions
        .map(|definition| tool(definition, registry.kind(&definition.name)))
        .collect()
}

fn tool(definition: &Definition, kind: Option<Kind>) -> Tool {
    let mut tool = Tool::default();
    tool.name = definition.name.to_string().into();
    tool.description = Some(definition.description.to_string().into());
    tool.input_schema = Arc::new(schema(&definition.input_schema));
    tool.annotations = kind.and_then(annotations);
    tool
}

/// The protocol takes objects only.
fn schema(schema: &Value) -> JsonObject {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object
        .entry("type")
        .or_insert_with(|| Value::from("object"));
    object
}

/// What a kind says for certain. Whatever runs, and whatever is not known, may do anything: that is
/// what the protocol takes for granted.
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

/// Where the tools work, and what happens to what they may not do.
pub(super) fn instructions(setting: &SessionContext) -> String {
    format!(
        "These tools work in `{}`. Each call is judged by the person's rules; what no rule allows is \
         asked for through a form of yours, or refused if you show none.",
        setting.cwd.display()
    )
}
