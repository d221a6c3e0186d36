//! Which process writes: a name and a file that it holds locked for as long as it lives.
//! A lock ends with its process, however that ends; nothing here looks at process ids.

use std::fs::{self, File};
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};

use crate::error::HistoryError;
use crate::file::{beside, make_private, make_private_folder};

/// The locked file of a process that writes.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) name: String,
    place: PathBuf,
    _locked: File,
}

impl Run {
    /// Begins a run of the history at this path.
    pub(crate) fn begin(path: &Path) -> Result<Self, HistoryError> {
        let folder = folder(path);
        make_private_folder(&folder)?;
        let random = RandomState::new().hash_one(std::process::id());
        let name = format!("{}-{random:016x}", std::process::id());
        let place = folder.join(&name);
        let locked = make_private(&place)?;
        locked.lock()?;
        Ok(Self {
            name,
            place,
            _locked: locked,
        })
    }

    /// Whether the process of that name is gone. A name without a file is.
    pub(crate) fn is_over(path: &Path, name: &str) -> bool {
        match File::open(folder(path).join(name)) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Forgets the file of a process that is gone.
    pub(crate) fn clear(path: &Path, name: &str) {
        let _cleared_by_another = fs::remove_file(folder(path).join(name));
    }
}

fn folder(path: &Path) -> PathBuf {
    beside(path, ".runs")
}

impl Drop for Run {
    fn drop(&mut self) {
        let _cleared_by_another = fs::remove_file(&self.place);
    }
}
