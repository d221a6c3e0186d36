//! What is at a path, for whoever takes it away: a file, a link, a folder with everything in it.
//! It follows no link and changes nothing.

use std::ffi::OsString;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use sha2::{Digest as _, Sha256};
use toolcall::{Digest, FileBody, HostError};

use super::failure::{failed, refused};
use super::reading::body;
use super::walk::Spot;

/// A folder of more is nothing that a tool takes away in one go.
const MOST_ENTRIES: u64 = 1_000_000;
/// One handle is held for each level.
const DEEPEST: usize = 256;

/// What is there.
pub(super) fn inspect(spot: &Spot, limit: u64, path: &Path) -> Result<FileBody, HostError> {
    let missing = || HostError::Missing(path.to_owned());
    let found = spot.found.as_ref().ok_or_else(missing)?;
    if found.is_symlink() {
        let target = spot.folder.read_link_contents(&spot.name);
        let target = target.map_err(|error| failed(path, error))?;
        return Ok(body(target.into_os_string().into_encoded_bytes()));
    }
    if found.is_dir() {
        return inspect_folder(spot, path);
    }
    let read = spot.open(path)?.body(limit);
    read.map_err(|error| failed(path, error))
}

/// A folder with everything in it.
pub(super) fn inspect_folder(spot: &Spot, path: &Path) -> Result<FileBody, HostError> {
    match &spot.found {
        None => return Err(HostError::Missing(path.to_owned())),
        Some(found) if !found.is_dir() => return Err(refused(path, "is not a folder")),
        Some(_) => {}
    }
    let folder = spot.folder.open_dir_nofollow(&spot.name);
    let folder = folder.map_err(|error| failed(path, error))?;
    let mut count = Count::default();
    count.add_all(&folder, 0, path)?;
    Ok(FileBody::Folder {
        files: count.files,
        bytes: count.bytes,
        digest: Some(Digest(count.digest.finalize().into())),
    })
}

#[derive(Default)]
struct Count {
    entries: u64,
    files: u64,
    bytes: u64,
    digest: Sha256,
}

impl Count {
    fn add_all(&mut self, folder: &Dir, depth: usize, path: &Path) -> Result<(), HostError> {
        let failed = |error| failed(path, error);
        if depth > DEEPEST {
            return Err(refused(path, "holds folders nested too deeply"));
        }
        for name in self.names(folder, path)? {
            let found = folder.symlink_metadata(&name).map_err(failed)?;
            self.add(name.as_encoded_bytes(), &found);
            if found.is_dir() {
                let inner = folder.open_dir_nofollow(&name).map_err(failed)?;
                self.add_all(&inner, depth + 1, path)?;
            }
        }
        self.digest.update([0]);
        Ok(())
    }

    /// In an order that does not depend on the file system.
    fn names(&mut self, folder: &Dir, path: &Path) -> Result<Vec<OsString>, HostError> {
        let failed = |error| failed(path, error);
        let mut names = Vec::new();
        for entry in folder.entries().map_err(failed)? {
            names.push(entry.map_err(failed)?.file_name());
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(refused(
                    path,
                    "holds too many files to be taken away at once",
                ));
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Names hold no zero byte, so no two lists look the same.
    fn add(&mut self, name: &[u8], found: &Metadata) {
        self.digest.update(name);
        self.digest.update([0]);
        for value in [found.ino(), found.size(), u64::from(found.mode())] {
            self.digest.update(value.to_le_bytes());
        }
        for value in [found.mtime(), found.mtime_nsec()] {
            self.digest.update(value.to_le_bytes());
        }
        if !found.is_dir() {
            self.files += 1;
            self.bytes += found.size();
        }
    }
}
