//! The trash: deleted directories, and deleted files that are not text, which no edit can hold.
//! It never changes them, and removes them permanently only when it is pruned.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::Dir;
use toolcall::HostError;

use super::directories::open_private_directory;
use super::errors::{host_error, path_error};
use super::inspecting::inspect;
use super::moving::{is_another_device, move_tree};
use super::path_walk::EntryLocation;
use super::temporary::{random_name, rename_no_replace};

/// A directory for deleted files, outside of every session's roots. Pass it to
/// [`Files::with_trash`](super::Files::with_trash).
#[derive(Debug)]
pub struct Trash {
    path: PathBuf,
    dir: Dir,
    cap: u64,
}

impl Trash {
    /// The default limit of what is copied from another file system, in bytes.
    pub const DEFAULT_CAP: u64 = 1024 * 1024 * 1024;

    /// Opens this directory as trash, and creates it if needed. Of a file or directory on another
    /// file system at most `cap` bytes are copied.
    pub fn open(dir: &Path, cap: u64) -> io::Result<Self> {
        let (path, dir) = open_private_directory(dir)?;
        Ok(Self { path, dir, cap })
    }

    /// Moves a file or directory to the trash, and returns its new path.
    pub(super) fn take(&self, location: &EntryLocation, path: &Path) -> Result<PathBuf, HostError> {
        let name = OsString::from(new_item_name());
        match rename_no_replace(&location.dir, &location.name, &self.dir, &name) {
            Err(error) if is_another_device(&error) => self.copy(location, &name, path)?,
            other => other.map_err(|error| host_error(path, error))?,
        }
        Ok(self.path.join(name))
    }

    fn copy(&self, location: &EntryLocation, name: &OsStr, path: &Path) -> Result<(), HostError> {
        let size = inspect(location, 0, path)?.bytes();
        if size > self.cap {
            return Err(path_error(
                path,
                format_args!(
                    "has {size} bytes and is on another file system than the trash, to which at \
                     most {} bytes are copied",
                    self.cap
                ),
            ));
        }
        let copied = move_tree(&location.dir, &location.name, &self.dir, name);
        copied.map_err(|error| host_error(path, error))
    }

    /// Permanently removes what was deleted before this time, and returns how many items.
    pub fn prune(&self, before: SystemTime) -> io::Result<usize> {
        let mut pruned = 0;
        for entry in self.dir.entries()? {
            let name = entry?.file_name();
            if deleted_at(&name).is_some_and(|taken| taken < before) {
                remove(&self.dir, &name)?;
                pruned += 1;
            }
        }
        Ok(pruned)
    }
}

/// Removes a file, or a directory with everything in it.
pub(super) fn remove(dir: &Dir, name: &OsStr) -> io::Result<()> {
    if dir.symlink_metadata(name)?.is_dir() {
        dir.remove_dir_all(name)
    } else {
        dir.remove_file(name)
    }
}

/// Returns a new name with the current time in it: a move keeps the times of a file, so its name has
/// to say when it was deleted.
fn new_item_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    format!("{seconds}{}", random_name())
}

fn deleted_at(name: &OsStr) -> Option<SystemTime> {
    let seconds = name.to_str()?.split('.').next()?.parse().ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}
