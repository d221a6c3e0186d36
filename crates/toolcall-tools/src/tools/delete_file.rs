//! `delete_file`: deletes a file, a symlink or, with `recursive`, a directory.
//! It destroys nothing: the host moves to the trash what the edit itself does not contain.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcall::{
    Content, FileBody, FileChange, FileEdit, Intent, Kind, PrepareContext, RunContext, Tool,
    ToolError, ToolResult,
};

use super::naming::{counted, display_path};

/// Deletes a file, a symlink or a directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteFile;

/// What to delete.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteFileInput {
    /// The file, link or folder, relative to the session's folder or absolute.
    path: PathBuf,
    /// Whether a folder may be deleted, with everything in it. False if left out.
    #[serde(default)]
    recursive: bool,
}

impl Tool for DeleteFile {
    const NAME: &'static str = "delete_file";
    const DESCRIPTION: &'static str = "Deletes a file, or a link itself and not what it leads to, \
        or with `recursive` a folder with everything in it. What was deleted is kept for undo.";
    const KIND: Option<Kind> = Some(Kind::Delete);
    type Input = DeleteFileInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &DeleteFileInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let name = display_path(&input.path);
        let before = look.inspect(&input.path).await?;
        let title = match &before {
            FileBody::Folder { files, .. } if !input.recursive => {
                return Err(ToolError::new(format!(
                    "`{name}` is a folder; set `recursive` to delete it with its {}",
                    counted(*files, "file", "files")
                )));
            }
            FileBody::Folder { .. } => format!("Delete {name} ({})", before.summary()),
            FileBody::Text(_) | FileBody::Binary { .. } => format!("Delete {name}"),
        };
        let edit = FileEdit::deleted(look.path(&input.path), before);
        Ok(Intent::new(Kind::Delete, title).editing(edit))
    }

    async fn run(
        &self,
        input: DeleteFileInput,
        scope: &RunContext,
    ) -> Result<ToolResult, ToolError> {
        let mut result = ToolResult::default();
        for edit in scope.edits() {
            let FileChange::Deleted { before } = &edit.change else {
                continue;
            };
            let kept = scope.apply(edit).await?.kept;
            let mut said = format!(
                "deleted `{}` ({})",
                display_path(&input.path),
                before.summary()
            );
            if let Some(kept) = &kept {
                said += &format!("; it is kept as `{}`", display_path(kept));
            }
            let mut structured = json!({"path": edit.path, "bytes": before.bytes()});
            if let Some(kept) = kept {
                structured["kept"] = json!(kept);
            }
            result = result.with(Content::Edit(edit.clone())).with(said);
            result = result.structured(structured);
        }
        Ok(result)
    }
}
