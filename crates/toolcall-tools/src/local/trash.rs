//! Where deleted things are put that no edit holds: folders, and files that are not text.
//! It never changes them, and removes one for good only when it is pruned.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cap_std::fs::Dir;
use toolcall::HostError;

use super::failure::{failed, refused};
use super::folders::private_folder;
use super::inspecting::inspect;
use super::moving::{carry_tree, is_another_device};
use super::temporary::{fresh_name, rename_new};
use super::walk::Spot;

/// A folder of the user's, outside of every session, in which deleted things wait.
#[derive(Debug)]
pub struct Trash {
    path: PathBuf,
    folder: Dir,
    cap: u64,
}

impl Trash {
    /// What is copied where nothing else is said.
    pub const DEFAULT_CAP: u64 = 1024 * 1024 * 1024;

    /// Puts things into this folder, which is made if need be. From another file system at most
    /// `cap` bytes of one thing are copied.
    pub fn open(folder: &Path, cap: u64) -> io::Result<Self> {
        let (path, folder) = private_folder(folder)?;
        Ok(Self { path, folder, cap })
    }

    /// Takes something away from where it is, and says where it is now.
    pub(super) fn take(&self, spot: &Spot, path: &Path) -> Result<PathBuf, HostError> {
        let name = OsString::from(fresh_item());
        match rename_new(&spot.folder, &spot.name, &self.folder, &name) {
            Err(error) if is_another_device(&error) => self.copy(spot, &name, path)?,
            other => other.map_err(|error| failed(path, error))?,
        }
        Ok(self.path.join(name))
    }

    fn copy(&self, spot: &Spot, name: &OsStr, path: &Path) -> Result<(), HostError> {
        let size = inspect(spot, 0, path)?.bytes();
        if size > self.cap {
            return Err(refused(
                path,
                format_args!(
                    "has {size} bytes and lies on another file system than deleted things are \
                     kept on, where at most {} bytes are copied",
                    self.cap
                ),
            ));
        }
        let copied = carry_tree(&spot.folder, &spot.name, &self.folder, name);
        copied.map_err(|error| failed(path, error))
    }

    /// Removes for good what was taken before this moment, and says how many things that were.
    pub fn prune(&self, before: SystemTime) -> io::Result<usize> {
        let mut pruned = 0;
        for entry in self.folder.entries()? {
            let name = entry?.file_name();
            if taken_at(&name).is_some_and(|taken| taken < before) {
                remove(&self.folder, &name)?;
                pruned += 1;
            }
        }
        Ok(pruned)
    }
}

/// Removes whatever it is.
pub(super) fn remove(folder: &Dir, name: &OsStr) -> io::Result<()> {
    match folder.symlink_metadata(name)?.is_dir() {
        true => folder.remove_dir_all(name),
        false => folder.remove_file(name),
    }
}

/// A move keeps the times of a thing, so its name tells when it came.
fn fresh_item() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = now.map_or(0, |now| now.as_secs());
    format!("{seconds}{}", fresh_name())
}

fn taken_at(name: &OsStr) -> Option<SystemTime> {
    let seconds = name.to_str()?.split('.').next()?.parse().ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}
