//! Errors of file operations, worded for users and models.
//! It decides nothing and reads nothing.

use std::io;
use std::path::Path;

use cap_std::fs::{FileType, FileTypeExt as _};
use toolcall::HostError;

/// Converts an error of the system about a path.
pub(super) fn host_error(path: &Path, error: io::Error) -> HostError {
    match error.kind() {
        io::ErrorKind::NotFound => HostError::Missing(path.to_owned()),
        io::ErrorKind::AlreadyExists => HostError::Exists(path.to_owned()),
        _ => path_error(path, format_args!("cannot be used: {error}")),
    }
}

/// An error about a path that is not allowed or not valid.
pub(super) fn path_error(path: &Path, why: impl std::fmt::Display) -> HostError {
    HostError::Other(format!("`{}` {why}", path.display()).into())
}

/// An error for a path that leads out of every root. It does not say where to, because what lies
/// outside must not be disclosed.
pub(super) fn outside_error(path: &Path) -> HostError {
    path_error(path, "is outside the folders of this session")
}

/// An error for a path that leads to something other than a file.
pub(super) fn not_a_file_error(path: &Path, kind: FileType) -> HostError {
    path_error(path, format_args!("is {}, not a file", describe_type(kind)))
}

fn describe_type(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "a folder"
    } else if kind.is_symlink() {
        "a link"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}
