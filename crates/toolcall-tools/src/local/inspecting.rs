//! Describes what a delete would remove: a file, a symlink, or a directory with everything in it.
//! It follows no symlink and changes nothing.

use std::ffi::OsString;
use std::path::Path;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use sha2::{Digest as _, Sha256};
use toolcall::{Digest, FileBody, HostError};

use super::errors::{host_error, path_error};
use super::path_walk::EntryLocation;
use super::reading::body;

/// A directory with more entries is too large to delete with one call.
const MAX_ENTRIES: u64 = 1_000_000;
/// The deepest level: one handle is held for each.
const MAX_DEPTH: usize = 256;

/// Returns what is at a location.
pub(super) fn inspect(
    location: &EntryLocation,
    limit: u64,
    path: &Path,
) -> Result<FileBody, HostError> {
    let missing = || HostError::Missing(path.to_owned());
    let found = location.found.as_ref().ok_or_else(missing)?;
    if found.is_symlink() {
        let target = location.dir.read_link_contents(&location.name);
        let target = target.map_err(|error| host_error(path, error))?;
        return Ok(body(target.into_os_string().into_encoded_bytes()));
    }
    if found.is_dir() {
        return inspect_directory(location, path);
    }
    let read = location.open(path)?.body(limit);
    read.map_err(|error| host_error(path, error))
}

/// Returns the size and digest of a directory with everything in it.
pub(super) fn inspect_directory(
    location: &EntryLocation,
    path: &Path,
) -> Result<FileBody, HostError> {
    match &location.found {
        None => return Err(HostError::Missing(path.to_owned())),
        Some(found) if !found.is_dir() => return Err(path_error(path, "is not a folder")),
        Some(_) => {}
    }
    let dir = location.dir.open_dir_nofollow(&location.name);
    let dir = dir.map_err(|error| host_error(path, error))?;
    let mut tree = TreeDigest::default();
    tree.add_all(&dir, 0, path)?;
    Ok(FileBody::Folder {
        files: tree.files,
        bytes: tree.bytes,
        digest: Some(Digest(tree.digest.finalize().into())),
    })
}

#[derive(Default)]
struct TreeDigest {
    entries: u64,
    files: u64,
    bytes: u64,
    digest: Sha256,
}

impl TreeDigest {
    fn add_all(&mut self, dir: &Dir, depth: usize, path: &Path) -> Result<(), HostError> {
        let host_error = |error| host_error(path, error);
        if depth > MAX_DEPTH {
            return Err(path_error(path, "holds folders nested too deeply"));
        }
        for name in self.names(dir, path)? {
            let found = dir.symlink_metadata(&name).map_err(host_error)?;
            self.add(name.as_encoded_bytes(), &found);
            if found.is_dir() {
                let inner = dir.open_dir_nofollow(&name).map_err(host_error)?;
                self.add_all(&inner, depth + 1, path)?;
            }
        }
        self.digest.update([0]);
        Ok(())
    }

    /// Returns the names in a directory, sorted, so that the digest does not depend on the file system.
    fn names(&mut self, dir: &Dir, path: &Path) -> Result<Vec<OsString>, HostError> {
        let host_error = |error| host_error(path, error);
        let mut names = Vec::new();
        for entry in dir.entries().map_err(host_error)? {
            names.push(entry.map_err(host_error)?.file_name());
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(path_error(
                    path,
                    "holds too many files to be taken away at once",
                ));
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Adds an entry to the digest. Names contain no zero byte, so no two lists encode alike.
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
