//! The lock file of a process that writes to a history.
//! The operating system releases the lock when the process ends; nothing here relies on process ids.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use crate::error::HistoryError;
use crate::file::{create_private_dir, open_private_file, with_suffix};

/// The locked file that shows others that this process is alive.
#[derive(Debug)]
pub(crate) struct RunLock {
    pub(crate) name: String,
    path: PathBuf,
    _locked: File,
}

impl RunLock {
    /// Creates and locks the file of this process for the history at a path.
    pub(crate) fn acquire(path: &Path) -> Result<Self, HistoryError> {
        let runs_dir = runs_dir(path);
        create_private_dir(&runs_dir)?;
        let random = RandomState::new().hash_one(std::process::id());
        let name = format!("{}-{random:016x}", std::process::id());
        let path = runs_dir.join(&name);
        let locked = open_private_file(&path)?;
        locked.lock()?;
        Ok(Self {
            name,
            path,
            _locked: locked,
        })
    }

    /// Returns whether the process of that name has ended: its file is missing or not locked.
    pub(crate) fn is_dead(path: &Path, name: &str) -> bool {
        match File::open(runs_dir(path).join(name)) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Removes the file of a process that has ended.
    pub(crate) fn remove(path: &Path, name: &str) {
        let _cleared_by_another = fs::remove_file(runs_dir(path).join(name));
    }
}

fn runs_dir(path: &Path) -> PathBuf {
    with_suffix(path, ".runs")
}

impl Drop for RunLock {
    fn drop(&mut self) {
        let _cleared_by_another = fs::remove_file(&self.path);
    }
}
