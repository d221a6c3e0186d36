//! `write_file`: creates or replaces a text file.
//! It writes exactly the change that it showed.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcall::{
    Content, FileBody, FileChange, FileEdit, Intent, Kind, Location, PrepareContext, RunContext,
    Tool, ToolError, ToolResult, Touch,
};

use super::naming::{counted, display_path};

/// Creates a text file, or replaces its content.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteFile;

/// What to write where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteFileInput {
    /// The file, relative to the session's folder or absolute.
    path: PathBuf,
    /// Everything that it shall hold.
    content: String,
}

impl Tool for WriteFile {
    const NAME: &'static str = "write_file";
    const DESCRIPTION: &'static str = "Writes a text file: makes it, with the folders on the way, \
        or replaces all that it holds. To change a part of a file use edit_file.";
    const KIND: Option<Kind> = Some(Kind::Edit);
    type Input = WriteFileInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &WriteFileInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let (path, name) = (look.path(&input.path), display_path(&input.path));
        let after: Arc<str> = input.content.as_str().into();
        let (verb, edit) = match look.read_if_exists(&path).await? {
            None => ("Create", FileEdit::added(&path, after)),
            Some(FileBody::Text(before)) if before == after => {
                let intent = Intent::new(Kind::Edit, format!("Write {name} (no change)"));
                let intent = intent.at(Location::file(&path));
                // Nothing will be written, so only a read is stated.
                return Ok(intent.touching(Touch::Reads(path)));
            }
            Some(FileBody::Text(before)) => ("Write", FileEdit::modified(&path, before, after)),
            Some(FileBody::Binary { .. } | FileBody::Folder { .. }) => {
                return Err(ToolError::new(format!(
                    "`{name}` is there and is not text; delete or move it first"
                )));
            }
        };
        Ok(Intent::new(Kind::Edit, format!("{verb} {name}")).editing(edit))
    }

    async fn run(
        &self,
        input: WriteFileInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let name = display_path(&input.path);
        let (lines, bytes) = (input.content.lines().count(), input.content.len());
        let extent = format!(
            "{}, {}",
            counted(lines as u64, "line", "lines"),
            counted(bytes as u64, "byte", "bytes")
        );
        let structured = |how: &str| json!({"path": scope.path(&input.path), "change": how, "lines": lines, "bytes": bytes});
        let Some(edit) = scope.edits().next() else {
            let said = format!("`{name}` holds exactly this already ({extent}); nothing changed");
            return Ok(ToolResult::from(said).structured(structured("none")));
        };
        scope.apply(edit).await?;
        let (said, how) = match replaced(edit) {
            None => (format!("created `{name}` ({extent})"), "created"),
            Some(bytes) => {
                let said = format!(
                    "wrote `{name}` ({extent}; it had {})",
                    counted(bytes, "byte", "bytes")
                );
                (said, "written")
            }
        };
        let result = ToolResult::from(Content::Edit(edit.clone())).with(said);
        Ok(result.structured(structured(how)))
    }
}

/// Returns the size of the replaced file, if there was one.
fn replaced(edit: &FileEdit) -> Option<u64> {
    match &edit.change {
        FileChange::Modified { before, .. } => Some(before.bytes()),
        FileChange::Added { .. } | FileChange::Deleted { .. } | FileChange::Moved { .. } => None,
    }
}
