//! Tools for tests: the names that verbs call, and one that none does.
//! They run nothing.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use toolcall::{CustomTool, Registry, ToolDefinition, ToolError};

/// Every tool that a verb calls but `switch_mode`, and `get-sum`.
pub(super) fn tools() -> Registry {
    static TOOLS: LazyLock<Registry> = LazyLock::new(made);
    TOOLS.clone()
}

/// These and one more, which takes anything.
pub(super) fn tools_with(name: &str) -> Registry {
    let mut tools = tools();
    add(&mut tools, name, json!({"type": "object"}));
    tools
}

fn made() -> Registry {
    let mut tools = Registry::new();
    let number = json!({"type": "number"});
    let sum =
        json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let page = json!({"type": "object", "properties": {"url": {"type": "string"}}});
    let file = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    for name in [
        "list_directory",
        "find_path",
        "search_files",
        "run_command",
        "write_file",
    ] {
        add(&mut tools, name, json!({"type": "object"}));
    }
    for name in [
        "edit_file",
        "delete_file",
        "move_file",
        "thinking",
        "todo_write",
    ] {
        add(&mut tools, name, json!({"type": "object"}));
    }
    add(&mut tools, "read_file", file);
    add(&mut tools, "fetch", page);
    add(&mut tools, "get-sum", sum);
    tools
}

fn add(tools: &mut Registry, name: &str, schema: Value) {
    let run = |_, _| async { Ok::<_, ToolError>("done") };
    let tool = CustomTool::new(ToolDefinition::new(name, "", schema), run);
    tools.add_any(Arc::new(tool)).expect("a name of its own");
}
