//! What is needed to undo edits: kept as it was in files of its own, and given back through a host.
//! It never writes what was redacted, and never over something that is not as the call left it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use toolcall::serde_forms::path;
use toolcall::{Change, FileBody, FileEdit, Host, HostError, Timestamp};

use crate::call_summary::Life;
use crate::error::HistoryError;
use crate::file::{make_private, make_private_folder};
use crate::settings::{Durability, HistoryConfig, KeepUndo};
use crate::stored::{hash_of, hex};

/// What was given back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoResult {
    /// Files that are as they were before the call.
    pub restored: Vec<PathBuf>,
    /// Files that were as before the call already.
    pub unchanged: Vec<PathBuf>,
}

/// Why nothing was given back, or not all.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum UndoError {
    /// Nothing was kept for this call.
    #[error(
        "nothing was kept to undo this call: it changed no files, it is too long ago, or keeping is off"
    )]
    NotKept,
    /// A file is not as the call left it. Nothing was changed.
    #[error("`{}` changed since; nothing was undone", .0.display())]
    Changed(PathBuf),
    /// What was there before was not text.
    #[error("`{}` was not text; what it held was not kept here", .0.display())]
    NotText(PathBuf),
    /// The host could not do it.
    #[error("{} of {} changes were undone, then: {error}", undone.restored.len(), of)]
    Stopped {
        /// What was given back until then.
        undone: UndoResult,
        /// How many changes there are.
        of: usize,
        /// What stopped it.
        error: HostError,
    },
    /// The history could not be read.
    #[error(transparent)]
    History(#[from] HistoryError),
}

/// What one call would change, as it was before.
#[derive(Debug, Serialize, Deserialize)]
pub struct UndoContent {
    edits: Vec<KeptEdit>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptEdit {
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
    /// Not text, before or after.
    Other {
        #[serde(with = "path")]
        path: PathBuf,
    },
}

/// Keeps what a call is about to change, before it may. Gives the file's name.
pub(crate) fn keep(
    folder: &Path,
    settings: &HistoryConfig,
    at: Timestamp,
    life: &Life,
) -> Result<Option<String>, HistoryError> {
    if settings.undo == KeepUndo::No {
        return Ok(None);
    }
    let kept = UndoContent {
        edits: life.edits().map(KeptEdit::of).collect(),
    };
    let key = format!(
        "{}\0{}\0{}",
        life.call.session(),
        life.call.id(),
        at.as_micros()
    );
    let name = hex(&hash_of(key.as_bytes()))[..32].to_owned();
    make_private_folder(folder)?;
    let mut file = make_private(&folder.join(&name))?;
    file.set_len(0)?;
    let body = serde_json::to_vec(&kept).map_err(|error| HistoryError::Other(error.to_string()))?;
    file.write_all(&body)?;
    if settings.durability == Durability::Power {
        file.sync_all()?;
    }
    Ok(Some(name))
}

impl KeptEdit {
    fn of(edit: &FileEdit) -> Self {
        let path = edit.path.clone();
        match &edit.change {
            Change::Added {
                after: FileBody::Text(after),
            } => KeptEdit::Added {
                path,
                after: digest(after),
            },
            Change::Modified {
                before: FileBody::Text(before),
                after: FileBody::Text(after),
            } => KeptEdit::Modified {
                path,
                before: before.clone(),
                after: digest(after),
            },
            Change::Deleted {
                before: FileBody::Text(before),
            } => KeptEdit::Deleted {
                path,
                before: before.clone(),
            },
            Change::Moved { to } => KeptEdit::Moved {
                path,
                to: to.clone(),
            },
            Change::Added { .. } | Change::Modified { .. } | Change::Deleted { .. } => {
                KeptEdit::Other { path }
            }
        }
    }
}

fn digest(text: &str) -> String {
    hex(&hash_of(text.as_bytes()))
}

/// Reads what was kept.
pub(crate) fn read(file: &Path) -> Result<UndoContent, UndoError> {
    let body = fs::read(file).map_err(|_| UndoError::NotKept)?;
    serde_json::from_slice(&body).map_err(|_| UndoError::NotKept)
}

/// What has to be done for one edit.
#[derive(Debug)]
enum Plan {
    Nothing(PathBuf),
    Do(FileEdit),
}

/// What would be given back, looked at and not done yet.
#[derive(Debug)]
pub struct UndoPlan {
    plans: Vec<Plan>,
}

impl UndoContent {
    /// Gives back what was kept: looks at every file first, and changes none if one is not as the
    /// call left it.
    pub async fn restore(self, host: &dyn Host) -> Result<UndoResult, UndoError> {
        self.look(host).await?.carry_out(host).await
    }

    /// Looks at every file and says what would be given back; changes nothing.
    pub async fn look(self, host: &dyn Host) -> Result<UndoPlan, UndoError> {
        let mut plans = Vec::new();
        // The last edit first: an earlier one may be of what it made.
        for edit in self.edits.into_iter().rev() {
            plans.push(plan(edit, host).await?);
        }
        Ok(UndoPlan { plans })
    }
}

impl UndoPlan {
    /// The changes that would be made, in their order.
    pub fn edits(&self) -> impl Iterator<Item = &FileEdit> {
        self.plans.iter().filter_map(|plan| match plan {
            Plan::Nothing(_) => None,
            Plan::Do(edit) => Some(edit),
        })
    }

    /// Makes them. One whose file changed since it was looked at is not made, nor those after it.
    pub async fn carry_out(self, host: &dyn Host) -> Result<UndoResult, UndoError> {
        let of = self.plans.len();
        let mut undone = UndoResult::default();
        for plan in self.plans {
            match plan {
                Plan::Nothing(path) => undone.unchanged.push(path),
                Plan::Do(edit) => {
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
        Change::Moved { to } => to.clone(),
        Change::Added { .. } | Change::Modified { .. } | Change::Deleted { .. } => {
            edit.path.clone()
        }
    }
}

async fn plan(edit: KeptEdit, host: &dyn Host) -> Result<Plan, UndoError> {
    match edit {
        KeptEdit::Other { path } => Err(UndoError::NotText(path)),
        KeptEdit::Added { path, after } => Ok(match found(host, &path).await? {
            None => Plan::Nothing(path),
            Some(now) if digest(&now) == after => {
                Plan::Do(FileEdit::deleted(path, FileBody::Text(now)))
            }
            Some(_) => return Err(UndoError::Changed(path)),
        }),
        KeptEdit::Modified {
            path,
            before,
            after,
        } => Ok(match found(host, &path).await? {
            Some(now) if now == before => Plan::Nothing(path),
            Some(now) if digest(&now) == after => Plan::Do(FileEdit::modified(path, now, before)),
            Some(_) | None => return Err(UndoError::Changed(path)),
        }),
        KeptEdit::Deleted { path, before } => Ok(match found(host, &path).await? {
            None => Plan::Do(FileEdit::added(path, before)),
            Some(now) if now == before => Plan::Nothing(path),
            Some(_) => return Err(UndoError::Changed(path)),
        }),
        KeptEdit::Moved { path, to } => {
            let (here, there) = (exists(host, &path).await?, exists(host, &to).await?);
            match (here, there) {
                (true, false) => Ok(Plan::Nothing(path)),
                (false, true) => Ok(Plan::Do(FileEdit::moved(to, path))),
                (true, true) | (false, false) => Err(UndoError::Changed(to)),
            }
        }
    }
}

/// The text at a path, if there is something. What is no text is not as any edit of text left it.
async fn found(host: &dyn Host, path: &Path) -> Result<Option<Arc<str>>, UndoError> {
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
