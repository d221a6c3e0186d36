//! A tool that replaces a text in a file.
//! It shows the change first and then makes that very change.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcall::{FileEdit, Intent, Kind, Look, Scope, Tool, ToolError};

/// Replaces a text in a file.
pub(crate) struct EditFile;

/// What to replace where.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// The file, relative to the project.
    path: PathBuf,
    /// The text to replace; it must be there exactly once.
    old: String,
    /// What to put in its place.
    new: String,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Replaces a text in a file of the project.";
    type Input = Input;
    type Output = &'static str;

    async fn prepare(&self, input: &Input, look: &Look) -> Result<Intent, ToolError> {
        let before = look.read_text(&input.path).await?;
        let found = before.matches(&input.old).count();
        if found != 1 {
            let reason = format!("`old` is there {found} times; read the file and quote more");
            return Err(ToolError::new(reason));
        }
        let after = before.replacen(&input.old, &input.new, 1);
        let edit = FileEdit::modified(look.path(&input.path), before, after);
        let title = format!("Edit {}", input.path.display());
        Ok(Intent::new(Kind::Edit, title).editing(edit))
    }

    async fn run(&self, _input: Input, scope: &Scope) -> Result<&'static str, ToolError> {
        for edit in scope.edits() {
            scope.apply(edit).await?;
        }
        Ok("edited")
    }
}
