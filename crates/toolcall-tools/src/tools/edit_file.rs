//! A tool that changes parts of a file: replacements and insertions, all of them or none.
//! It shows the difference first and then makes that very change.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use similar::{Algorithm, DiffTag, TextDiff};
use toolcall::{
    Change, Content, FileBody, FileEdit, Intent, Kind, Location, PrepareContext, RunContext, Tool,
    ToolError, ToolResult,
};

use super::naming::{counted, named};
use crate::editing::{Edit, apply};

/// More of a diff is not shown.
const LONGEST_DIFF: usize = 32 * 1024;
/// A diff that takes longer is told less finely.
const DIFF_TIME: Duration = Duration::from_millis(500);

/// Edits a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct EditFile;

/// What to change where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
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
    type Input = Input;
    type Output = ToolResult;

    async fn prepare(&self, input: &Input, look: &PrepareContext) -> Result<Intent, ToolError> {
        let name = named(&input.path);
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

    async fn run(&self, input: Input, scope: &RunContext) -> Result<ToolResult, ToolError> {
        let name = named(&input.path);
        let mut result = ToolResult::default();
        for edit in scope.edits() {
            scope.apply(edit).await?;
            let Some((before, after)) = texts(edit) else {
                continue;
            };
            let sides = (before.clone(), after.clone(), name.clone());
            let differ = move || Difference::new(&sides.0, &sides.1, &sides.2);
            let diff = tokio::task::spawn_blocking(differ).await?;
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
        Change::Modified {
            before: FileBody::Text(before),
            after: FileBody::Text(after),
        } => Some((before, after)),
        Change::Added { .. }
        | Change::Modified { .. }
        | Change::Deleted { .. }
        | Change::Moved { .. } => None,
    }
}

/// What changed, line by line.
struct Difference {
    unified: String,
    added: usize,
    removed: usize,
}

impl Difference {
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

/// As many hunks as fit, and how many do not.
fn unified<'a>(diff: &'a TextDiff<'a, 'a, 'a, str>, name: &str) -> String {
    let mut unified = diff.unified_diff();
    let mut hunks = unified.header(name, name).iter_hunks();
    let mut text = format!("--- {name}\n+++ {name}\n");
    for hunk in hunks.by_ref() {
        if text.len() > LONGEST_DIFF {
            let more = hunks.count() + 1;
            text += &format!("… {more} more changes left out …\n");
            break;
        }
        text += &hunk.to_string();
    }
    text
}
