//! The error of the history.
//! It classifies what SQLite and the file system report; callers decide what to do about it.

use std::io;

use rusqlite::ErrorCode;
use thiserror::Error;

use crate::stored::DecodeError;

/// Why the history could not be written or read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HistoryError {
    /// The disk is full, or the file has reached its size limit.
    #[error("the disk is full, or the history has reached its limit")]
    Full,
    /// The file or its directory is not writable.
    #[error("the history is read-only: {0}")]
    ReadOnly(String),
    /// The disk failed, or the file cannot be opened.
    #[error("the history cannot be reached: {0}")]
    Unreachable(String),
    /// Another process holds a lock on the file for too long.
    #[error("another process has locked the history; wait, or end it")]
    Busy,
    /// The queue before the writer thread is full.
    #[error("the history is written too slowly: its queue is full")]
    Behind,
    /// SQLite reports a damaged file.
    #[error("the history is damaged: {0}; the next start sets it aside")]
    Damaged(String),
    /// A newer version of this program wrote the file.
    #[error(
        "the history has version {found}, and this program reads up to {known}; use a newer program"
    )]
    Newer {
        /// The schema version of the file.
        found: i64,
        /// The newest schema version this program supports.
        known: i64,
    },
    /// The file is a database of another program.
    #[error("`{0}` is the database of another program; choose another path")]
    Foreign(String),
    /// A stored record cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// The requested session, call or file does not exist.
    #[error("there is no {0} in the history")]
    Missing(String),
    /// Any other error of SQLite or of the writer.
    #[error("the history failed: {0}")]
    Other(String),
}

impl From<rusqlite::Error> for HistoryError {
    fn from(error: rusqlite::Error) -> Self {
        let message = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => HistoryError::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                HistoryError::ReadOnly(message)
            }
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
                HistoryError::Unreachable(message)
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => HistoryError::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                HistoryError::Damaged(message)
            }
            Some(_) | None => HistoryError::Other(message),
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
            // The standard library may add kinds.
            _ => HistoryError::Unreachable(error.to_string()),
        }
    }
}
