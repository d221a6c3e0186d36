//! Detects whether a file has changed since it was read.
//! It compares metadata only, never content.

use std::path::{Path, PathBuf};

use rustix::fs::{Stat, stat};

/// A path and the metadata of its file when it was read; `None` if there was no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    path: PathBuf,
    stamp: Option<FileStamp>,
}

/// Metadata of a file. A replaced file has another inode number, a written one another time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileStamp([i128; 7]);

impl Fingerprint {
    /// Takes the fingerprint of a file. Take it before reading the file, so that later changes are noticed.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            stamp: stamp(path),
        }
    }

    /// Whether the file is unchanged.
    pub(super) fn is_current(&self) -> bool {
        self.stamp == stamp(&self.path)
    }
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let Stat {
        st_dev,
        st_ino,
        st_size,
        st_mtime,
        st_mtime_nsec,
        st_ctime,
        st_ctime_nsec,
        ..
    } = stat(path).ok()?;
    let numbers = [
        i128::from(st_dev),
        i128::from(st_ino),
        i128::from(st_size),
        i128::from(st_mtime),
        i128::from(st_mtime_nsec),
        i128::from(st_ctime),
        i128::from(st_ctime_nsec),
    ];
    Some(FileStamp(numbers))
}
