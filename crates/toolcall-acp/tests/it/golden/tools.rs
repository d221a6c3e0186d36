//! The tools of the golden tests, written as another crate would write them.
//! They touch only the host in memory.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcall::*;

/// Reads a file.
struct ReadFile;

#[derive(Deserialize, JsonSchema)]
struct ReadInput {
    path: PathBuf,
}

impl Tool for ReadFile {
    const NAME: &'static str = "read_file";
    const DESCRIPTION: &'static str = "Reads a file";
    type Input = ReadInput;
    type Output = Arc<str>;

    async fn prepare(&self, input: &ReadInput, look: &PrepareContext) -> Result<Intent, ToolError> {
        let title = format!("Read {}", input.path.display());
        Ok(Intent::new(Kind::Read, title).reading(look.path(&input.path)))
    }

    async fn run(&self, input: ReadInput, scope: &RunContext) -> Result<Arc<str>, ToolError> {
        scope.read_text(&input.path).await
    }
}

/// Replaces a text in a file, after showing the diff.
struct EditFile;

#[derive(Deserialize, JsonSchema)]
struct EditInput {
    path: PathBuf,
    old: String,
    new: String,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Edits a file";
    type Input = EditInput;
    type Output = ();

    async fn prepare(&self, input: &EditInput, look: &PrepareContext) -> Result<Intent, ToolError> {
        let before = look.read_text(&input.path).await?;
        let after = before.replacen(&input.old, &input.new, 1);
        let edit = FileEdit::modified(look.path(&input.path), before, after);
        let title = format!("Edit {}", input.path.display());
        Ok(Intent::new(Kind::Edit, title).editing(edit))
    }

    async fn run(&self, _input: EditInput, scope: &RunContext) -> Result<(), ToolError> {
        apply_all(scope).await
    }
}

async fn apply_all(scope: &RunContext) -> Result<(), ToolError> {
    for edit in scope.edits() {
        scope.apply(edit).await?;
    }
    Ok(())
}

/// Returns a registry with the file tools and these.
pub(crate) fn tools<const N: usize>(others: [CustomTool; N]) -> Registry {
    let mut registry = Registry::new();
    registry
        .add(ReadFile)
        .expect("read")
        .add(EditFile)
        .expect("edit");
    for tool in others {
        registry.add_any(Arc::new(tool)).expect("a tool");
    }
    registry
}

/// Creates a tool that runs the closure and touches nothing.
pub(crate) fn tool<F, Fut, R>(name: &'static str, run: F) -> CustomTool
where
    F: Fn(Arc<Value>, RunContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: Into<ToolResult>,
{
    let definition = ToolDefinition::new(name, "For a story", json!({"type": "object"}));
    let tool = CustomTool::new(definition, run);
    tool.preparing(move |_| Ok(Intent::new(Kind::Other, name)))
}

/// Creates a tool that makes exactly these edits.
pub(crate) fn changing(name: &'static str, kind: Kind, edits: Vec<FileEdit>) -> CustomTool {
    let definition = ToolDefinition::new(name, "For a story", json!({"type": "object"}));
    let tool = CustomTool::new(
        definition,
        |_, scope| async move { apply_all(&scope).await },
    );
    tool.preparing(move |_| {
        let intent = Intent::new(kind, name);
        Ok(edits.iter().cloned().fold(intent, Intent::editing))
    })
}

/// Creates a tool that runs the command of its input. A command with a `;` is not understood.
pub(crate) fn shell() -> CustomTool {
    let schema = json!({"properties": {"command": {"type": "string"}}, "required": ["command"]});
    let mut definition = ToolDefinition::new("run", "Runs a command", schema);
    definition.kind = Some(Kind::Execute);
    let tool = CustomTool::new(definition, |input, scope| async move {
        match scope.run(&command(&input)).await? {
            Exit::Code(0) => Ok(ToolResult::default()),
            Exit::Code(code) => Err(ToolError::new(format!("it exited with code {code}"))),
            Exit::Signal(signal) => Err(ToolError::new(format!("signal {signal} ended it"))),
        }
    });
    tool.preparing(|look| {
        let command = command(look.input());
        Ok(Intent::new(Kind::Execute, &*command.text).running(command))
    })
}

fn command(input: &Value) -> Command {
    let text = input["command"].as_str().unwrap_or_default();
    let argv = text.split(' ').map(str::to_owned).collect();
    let part = Part::new(argv, "/w");
    let unread = Command::unread(text, "/w");
    if text.contains(';') {
        return unread;
    }
    Command {
        reading: Reading::Understood(vec![part]),
        ..unread
    }
}

/// Creates a tool that runs until it is stopped.
pub(crate) fn endless(name: &'static str) -> CustomTool {
    tool(name, |_, scope| async move {
        scope.cancelled().await;
        Err::<(), _>(ToolError::new("it was stopped"))
    })
}

/// A call that reads this file.
pub(crate) fn read(path: &str) -> ToolRequest {
    ToolRequest::new("read_file", json!({"path": path}))
}

/// A call that edits this file.
pub(crate) fn edit(path: &str, old: &str, new: &str) -> ToolRequest {
    ToolRequest::new("edit_file", json!({"path": path, "old": old, "new": new}))
}

/// A call that runs this command.
pub(crate) fn run(command: &str) -> ToolRequest {
    ToolRequest::new("run", json!({"command": command}))
}

/// A call of a tool that takes no input.
pub(crate) fn call(tool: &str) -> ToolRequest {
    ToolRequest::new(tool, json!({}))
}
