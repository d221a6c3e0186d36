//! `edit_file`: replaces and inserts text in a file, all edits or none.
//! It writes exactly the change that it showed.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::{Algorithm, DiffTag, TextDiff};
use toolcall::{
    Content, FileBody, FileChange, FileEdit, Intent, Kind, Location, PrepareContext, RunContext,
    Tool, ToolError, ToolResult,
};

use super::naming::{counted, display_path};
use crate::editing::{Edit, apply};

/// A longer diff is cut.
const LONGEST_DIFF: usize = 32 * 1024;
/// After this time the diff is computed less exactly.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// Edits parts of a text file.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditFile;

/// What to change where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditFileInput {
    /// The file, relative to the session's folder or absolute.
    path: PathBuf,
    /// The changes, made one after the other: each sees what the one before it left. If one of
    /// them cannot be made, none is.
    #[schemars(length(min = 1))]
    edits: Vec<Edit>,
}

impl Tool for EditFile {
    const NAME: &'static str = "edit_file";
    const DESCRIPTION: &'static str = "Changes parts of a text file: replaces exact texts and \
        inserts lines. Line endings, byte order mark and mode of the file stay as they are. \
        Gives the difference as a unified diff.";
    const KIND: Option<Kind> = Some(Kind::Edit);
    type Input = EditFileInput;
    type Output = ToolResult;

    async fn prepare(
        &self,
        input: &EditFileInput,
        look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let name = display_path(&input.path);
        let before = look.read_text(&input.path).await?;
        let edited = apply(&before, &input.edits);
        let after = edited.map_err(|error| ToolError::new(format!("`{name}`: {error}")))?;
        if *before == *after.text {
            return Err(ToolError::new(format!(
                "the edits would leave `{name}` as it is"
            )));
        }
        let path = look.path(&input.path);
        let line = Location::line(&path, after.first_line);
        let edit = FileEdit::modified(&path, before, after.text);
        let mut intent = Intent::new(Kind::Edit, format!("Edit {name}")).editing(edit);
        intent.locations = vec![line];
        Ok(intent)
    }

    async fn run(&self, input: EditFileInput, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let name = display_path(&input.path);
        let mut result = ToolResult::default();
        for edit in scope.edits() {
            scope.apply(edit).await?;
            let Some((before, after)) = texts(edit) else {
                continue;
            };
            let sides = (before.clone(), after.clone(), name.clone());
            let compute = move || LineDiff::new(&sides.0, &sides.1, &sides.2);
            let diff = tokio::task::spawn_blocking(compute).await?;
            let said = format!(
                "edited `{name}`: {} added, {} removed\n{}",
                counted(diff.added as u64, "line", "lines"),
                diff.removed,
                diff.unified
            );
            let structured = json!({
                "path": edit.path, "edits": input.edits.len(), "bytes": after.len(),
                "linesAdded": diff.added, "linesRemoved": diff.removed,
            });
            result = result.with(Content::Edit(edit.clone())).with(said);
            result = result.structured(structured);
        }
        Ok(result)
    }
}

fn texts(edit: &FileEdit) -> Option<(&Arc<str>, &Arc<str>)> {
    match &edit.change {
        FileChange::Modified {
            before: FileBody::Text(before),
            after: FileBody::Text(after),
        } => Some((before, after)),
        FileChange::Added { .. }
        | FileChange::Modified { .. }
        | FileChange::Deleted { .. }
        | FileChange::Moved { .. } => None,
    }
}

/// A unified diff with its line counts.
struct LineDiff {
    unified: String,
    added: usize,
    removed: usize,
}

impl LineDiff {
    fn new(before: &str, after: &str, name: &str) -> Self {
        let mut config = TextDiff::configure();
        let config = config.algorithm(Algorithm::Myers).timeout(DIFF_TIME);
        let diff = config.diff_lines(before, after);
        let changed = || diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
        Self {
            unified: unified(&diff, name),
            added: changed().map(|op| op.new_range().len()).sum(),
            removed: changed().map(|op| op.old_range().len()).sum(),
        }
    }
}

/// Returns as many hunks as fit, and says how many are left out.
fn unified<'a>(diff: &'a TextDiff<'a, 'a, 'a, str>, name: &str) -> String {
    let mut unified = diff.unified_diff();
    let mut hunks = unified.header(name, name).iter_hunks();
    let mut text = format!("--- {name}\n+++ {name}\n");
    for hunk in hunks.by_ref() {
        if text.len() > LONGEST_DIFF {
            let more = counted(hunks.count() as u64 + 1, "more change", "more changes");
            text += &format!("… {more} left out …\n");
            break;
        }
        text += &hunk.to_string();
    }
    text
}
