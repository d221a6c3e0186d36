//! Why nothing can be kept.
//! It names causes; what to do about them is the business of whoever asked for a history.

use std::io;

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::stored::DecodeError;

/// Why something could not be kept or read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HistoryError {
    /// There is no room.
    #[error("the disk is full, or the history has reached its limit")]
    Full,
    /// It may not be written.
    #[error("the history is read-only: {0}")]
    ReadOnly(String),
    /// The disk failed, or the file cannot be reached.
    #[error("the history cannot be reached: {0}")]
    Unreachable(String),
    /// Another process holds it.
    #[error("another process holds the history; end it, or wait")]
    Busy,
    /// The writer did not keep up.
    #[error("the history is written too slowly; what waits has reached its limit")]
    Behind,
    /// The file is damaged.
    #[error("the history is damaged: {0}; the next start sets it aside")]
    Damaged(String),
    /// It was written by a newer version.
    #[error(
        "the history has version {found}, and this program knows up to {known}; use a newer one"
    )]
    Newer {
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// It is a database of something else.
    #[error("`{0}` is a database, but no history; choose another path")]
    Foreign(String),
    /// What is stored cannot be read.
    #[error(transparent)]
    Form(#[from] DecodeError),
    /// What was asked for is not there.
    #[error("there is no {0} in the history")]
    Missing(String),
    /// Anything else that SQLite says.
    #[error("the history failed: {0}")]
    Other(String),
}

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        let said = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => HistoryError::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => HistoryError::ReadOnly(said),
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
                HistoryError::Unreachable(said)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => HistoryError::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                HistoryError::Damaged(said)
            }
            Some(_) | None => HistoryError::Other(said),
        }
    }
}

impl From<io::Error> for HistoryError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => HistoryError::Full,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                HistoryError::ReadOnly(error.to_string())
            }
            // Kinds are the standard library's, and it may add some.
            _ => HistoryError::Unreachable(error.to_string()),
        }
    }
}
