//! Folders that are made: one of the user's own, or on the way to a new file, taken back if it never comes.
//! It removes nothing that it did not make, and nothing that holds something.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// Opens a folder of the user's alone, which is made if need be; returns its absolute path, too.
pub(super) fn open_private_directory(dir: &Path) -> io::Result<(PathBuf, Dir)> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(dir)?;
    let path = std::path::absolute(dir)?;
    Ok((path, Dir::open_ambient_dir(dir, ambient_authority())?))
}

/// Folders that were made for what follows. Dropped, they go; kept, they stay.
#[derive(Debug, Default)]
pub(super) struct CreatedDirectories(Vec<(Arc<Dir>, OsString)>);

impl CreatedDirectories {
    /// Makes a folder, unless somebody else just did.
    pub(super) fn create(&mut self, parent: &Arc<Dir>, name: &OsStr) -> io::Result<()> {
        match parent.create_dir(name) {
            Ok(()) => self.0.push((parent.clone(), name.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// What they were made for is there.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        for (parent, name) in self.0.drain(..).rev() {
            // One that somebody uses by now is not empty and stays.
            let _ = parent.remove_dir(name);
        }
    }
}
