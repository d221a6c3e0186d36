//! `move_file`: moves or renames a file, a symlink or a directory.
//! It never replaces anything.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcall::{
    Content, FileEdit, Intent, Kind, Location, PrepareContext, RunContext, Tool, ToolError,
    ToolResult,
};

use super::naming::display_path;

/// Moves a file, a symlink or a directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoveFile;

/// What goes where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveFileInput {
    /// The file, link or folder, relative to the session's folder or absolute.
    from: PathBuf,
    /// Its whole new path, with its new name. Nothing may be there; missing folders are made.
    to: PathBuf,
}

impl Tool for MoveFile {
    const NAME: &'static str = "move_file";
    const DESCRIPTION: &'static str = "Moves or renames a file, a folder with everything in it, or \
        a link itself. It never replaces what is there.";
    const KIND: Option<Kind> = Some(Kind::Move);
    type Input = MoveFileInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &MoveFileInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let (from, to) = (display_path(&input.from), display_path(&input.to));
        look.inspect(&input.from).await?;
        if look.is_there(&input.to).await? {
            return Err(ToolError::new(format!(
                "`{to}` exists already; give a path where nothing is, with the new name"
            )));
        }
        let (old, new) = (look.path(&input.from), look.path(&input.to));
        let intent = Intent::new(Kind::Move, format!("Move {from} to {to}"));
        let intent = intent.editing(FileEdit::moved(old, &new));
        Ok(intent.at(Location::file(new)))
    }

    async fn run(&self, input: MoveFileInput, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let (from, to) = (scope.path(&input.from), scope.path(&input.to));
        let mut result = ToolResult::default();
        for edit in scope.edits() {
            scope.apply(edit).await?;
            result = result.with(Content::Edit(edit.clone()));
        }
        let said = format!(
            "moved `{}` to `{}`",
            display_path(&input.from),
            display_path(&input.to)
        );
        let structured = json!({"from": from, "to": to});
        Ok(result.with(said).structured(structured))
    }
}
