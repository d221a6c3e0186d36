//! Undo: stores the unredacted contents that a call overwrites in files of their own, and restores them through a host.
//! It never restores redacted text and never overwrites a file that changed after the call.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolcall::serde_forms::path;
use toolcall::{FileBody, FileChange, FileEdit, Host, HostError, Timestamp};

use crate::call_summary::CallSummary;
use crate::error::HistoryError;
use crate::file::{create_private_dir, open_private_file};
use crate::settings::{Durability, HistoryConfig, KeepUndo};
use crate::stored::{hash_of, hex};

/// The files that an undo restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoResult {
    /// Files that were restored.
    pub restored: Vec<PathBuf>,
    /// Files that already were as before the call.
    pub unchanged: Vec<PathBuf>,
}

/// Why a call was not undone, or only in part.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UndoError {
    /// Nothing is stored for this call.
    #[error(
        "nothing was kept to undo this call: it changed no files, it is too long ago, or keeping is off"
    )]
    NotKept,
    /// A file changed after the call. Nothing was restored.
    #[error("`{}` changed since; nothing was undone", .0.display())]
    Changed(PathBuf),
    /// The file was not text before or after the edit, so its contents are not stored.
    #[error("`{}` was not text; what it held was not kept here", .0.display())]
    NotText(PathBuf),
    /// The host failed.
    #[error("{} of {} changes were undone, then: {error}", undone.restored.len(), of)]
    Stopped {
        /// What was restored before the failure.
        undone: UndoResult,
        /// The number of changes to undo.
        of: usize,
        /// The error of the host.
        error: HostError,
    },
    /// The history could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// The file contents that a call overwrote.
///
/// [`Archive::undo_content`](crate::Archive::undo_content) returns it.
#[derive(Debug, Serialize, Deserialize)]
pub struct UndoContent {
    edits: Vec<UndoEdit>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UndoEdit {
    Added {
        #[serde(with = "path")]
        path: PathBuf,
        after: String,
    },
    Modified {
        #[serde(with = "path")]
        path: PathBuf,
        before: Arc<str>,
        after: String,
    },
    Deleted {
        #[serde(with = "path")]
        path: PathBuf,
        before: Arc<str>,
    },
    Moved {
        #[serde(with = "path")]
        path: PathBuf,
        #[serde(with = "path")]
        to: PathBuf,
    },
    /// A file that is not text before or after the edit.
    Other {
        #[serde(with = "path")]
        path: PathBuf,
    },
}

/// Writes the undo file of a call before the call may run; returns the name of the file.
pub(crate) fn write_undo_file(
    dir: &Path,
    settings: &HistoryConfig,
    at: Timestamp,
    summary: &CallSummary,
) -> Result<Option<String>, HistoryError> {
    if settings.undo == KeepUndo::No {
        return Ok(None);
    }
    let content = UndoContent {
        edits: summary.edits().map(UndoEdit::of).collect(),
    };
    let key = format!(
        "{}\0{}\0{}",
        summary.call.session(),
        summary.call.id(),
        at.as_micros()
    );
    let name = hex(&hash_of(key.as_bytes()))[..32].to_owned();
    create_private_dir(dir)?;
    let mut file = open_private_file(&dir.join(&name))?;
    file.set_len(0)?;
    let body =
        serde_json::to_vec(&content).map_err(|error| HistoryError::Other(error.to_string()))?;
    file.write_all(&body)?;
    if settings.durability == Durability::Power {
        file.sync_all()?;
    }
    Ok(Some(name))
}

impl UndoEdit {
    fn of(edit: &FileEdit) -> Self {
        let path = edit.path.clone();
        match &edit.change {
            FileChange::Added {
                after: FileBody::Text(after),
            } => UndoEdit::Added {
                path,
                after: digest(after),
            },
            FileChange::Modified {
                before: FileBody::Text(before),
                after: FileBody::Text(after),
            } => UndoEdit::Modified {
                path,
                before: before.clone(),
                after: digest(after),
            },
            FileChange::Deleted {
                before: FileBody::Text(before),
            } => UndoEdit::Deleted {
                path,
                before: before.clone(),
            },
            FileChange::Moved { to } => UndoEdit::Moved {
                path,
                to: to.clone(),
            },
            FileChange::Added { .. } | FileChange::Modified { .. } | FileChange::Deleted { .. } => {
                UndoEdit::Other { path }
            }
        }
    }
}

fn digest(text: &str) -> String {
    hex(&hash_of(text.as_bytes()))
}

/// Reads an undo file.
pub(crate) fn read_undo_file(file: &Path) -> Result<UndoContent, UndoError> {
    let body = fs::read(file).map_err(|_| UndoError::NotKept)?;
    serde_json::from_slice(&body).map_err(|_| UndoError::NotKept)
}

/// What undoes one edit.
#[derive(Debug)]
enum UndoStep {
    Unchanged(PathBuf),
    Apply(FileEdit),
}

/// The changes that undo a call, checked against the files and not yet applied.
#[derive(Debug)]
pub struct UndoPlan {
    steps: Vec<UndoStep>,
}

impl UndoContent {
    /// Restores the files. Checks all of them first, and changes none if one of them changed after the call.
    pub async fn restore(self, host: &dyn Host) -> Result<UndoResult, UndoError> {
        self.look(host).await?.carry_out(host).await
    }

    /// Checks every file and returns the changes that would undo the call; changes nothing.
    pub async fn look(self, host: &dyn Host) -> Result<UndoPlan, UndoError> {
        let mut steps = Vec::new();
        // The last edit first: it may have changed what an earlier one created.
        for edit in self.edits.into_iter().rev() {
            steps.push(plan_step(edit, host).await?);
        }
        Ok(UndoPlan { steps })
    }
}

impl UndoPlan {
    /// Returns the changes in the order in which they are applied.
    pub fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        self.steps.iter().filter_map(|step| match step {
            UndoStep::Unchanged(_) => None,
            UndoStep::Apply(edit) => Some(edit),
        })
    }

    /// Applies the changes. Stops at a file that changed since it was checked.
    pub async fn carry_out(self, host: &dyn Host) -> Result<UndoResult, UndoError> {
        let of = self.steps.len();
        let mut undone = UndoResult::default();
        for step in self.steps {
            match step {
                UndoStep::Unchanged(path) => undone.unchanged.push(path),
                UndoStep::Apply(edit) => {
                    if let Err(error) = host.apply(&edit).await {
                        return Err(UndoError::Stopped { undone, of, error });
                    }
                    undone.restored.push(restored_path(&edit));
                }
            }
        }
        Ok(undone)
    }
}

fn restored_path(edit: &FileEdit) -> PathBuf {
    match &edit.change {
        FileChange::Moved { to } => to.clone(),
        FileChange::Added { .. } | FileChange::Modified { .. } | FileChange::Deleted { .. } => {
            edit.path.clone()
        }
    }
}

async fn plan_step(edit: UndoEdit, host: &dyn Host) -> Result<UndoStep, UndoError> {
    match edit {
        UndoEdit::Other { path } => Err(UndoError::NotText(path)),
        UndoEdit::Added { path, after } => Ok(match read_text(host, &path).await? {
            None => UndoStep::Unchanged(path),
            Some(now) if digest(&now) == after => {
                UndoStep::Apply(FileEdit::deleted(path, FileBody::Text(now)))
            }
            Some(_) => return Err(UndoError::Changed(path)),
        }),
        UndoEdit::Modified {
            path,
            before,
            after,
        } => Ok(match read_text(host, &path).await? {
            Some(now) if now == before => UndoStep::Unchanged(path),
            Some(now) if digest(&now) == after => {
                UndoStep::Apply(FileEdit::modified(path, now, before))
            }
            Some(_) | None => return Err(UndoError::Changed(path)),
        }),
        UndoEdit::Deleted { path, before } => Ok(match read_text(host, &path).await? {
            None => UndoStep::Apply(FileEdit::added(path, before)),
            Some(now) if now == before => UndoStep::Unchanged(path),
            Some(_) => return Err(UndoError::Changed(path)),
        }),
        UndoEdit::Moved { path, to } => {
            let (here, there) = (exists(host, &path).await?, exists(host, &to).await?);
            match (here, there) {
                (true, false) => Ok(UndoStep::Unchanged(path)),
                (false, true) => Ok(UndoStep::Apply(FileEdit::moved(to, path))),
                (true, true) | (false, false) => Err(UndoError::Changed(to)),
            }
        }
    }
}

/// Returns the text at a path, or `None` if there is no file. A file that is not text has changed since the edit.
async fn read_text(host: &dyn Host, path: &Path) -> Result<Option<Arc<str>>, UndoError> {
    match host.inspect(path).await {
        Ok(FileBody::Text(text)) => Ok(Some(text)),
        Ok(FileBody::Binary { .. } | FileBody::Folder { .. }) => {
            Err(UndoError::Changed(path.to_owned()))
        }
        Err(HostError::Missing(_)) => Ok(None),
        Err(error) => Err(stopped(error)),
    }
}

async fn exists(host: &dyn Host, path: &Path) -> Result<bool, UndoError> {
    match host.inspect(path).await {
        Ok(_) => Ok(true),
        Err(HostError::Missing(_)) => Ok(false),
        Err(error) => Err(stopped(error)),
    }
}

fn stopped(error: HostError) -> UndoError {
    UndoError::Stopped {
        undone: UndoResult::default(),
        of: 0,
        error,
    }
}
