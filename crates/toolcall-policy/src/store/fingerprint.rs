//! What tells whether a file is still the one that was read.
//! It looks at the file's entry alone, never at its content.

use std::path::{Path, PathBuf};

use rustix::fs::{Stat, stat};

/// A path and what was there when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint {
    path: PathBuf,
    seen: Option<Seen>,
}

/// A file that is replaced has another number; one that is written has another time.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen([i128; 7]);

impl Fingerprint {
    /// Taken before the file is read: what changes after that is noticed.
    pub(super) fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            seen: seen(path),
        }
    }

    /// Whether nothing has changed.
    pub(super) fn holds(&self) -> bool {
        self.seen == seen(&self.path)
    }
}

fn seen(path: &Path) -> Option<Seen> {
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
    Some(Seen(numbers))
}
