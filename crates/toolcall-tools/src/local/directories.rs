//! Creates directories: private ones, and those on the way to a new file, removed again if that fails.
//! It removes no directory that it did not create, and none that is not empty.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// Opens a directory and returns its absolute path, too. Creates it if it is missing, accessible to
/// the user only.
pub(super) fn open_private_directory(dir: &Path) -> io::Result<(PathBuf, Dir)> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(dir)?;
    let path = std::path::absolute(dir)?;
    Ok((path, Dir::open_ambient_dir(dir, ambient_authority())?))
}

/// Directories created for a file that is about to be written. Dropping this removes them unless
/// [`CreatedDirectories::keep`] was called.
#[derive(Debug, Default)]
pub(super) struct CreatedDirectories(Vec<(Arc<Dir>, OsString)>);

impl CreatedDirectories {
    /// Creates a directory, unless another process just did.
    pub(super) fn create(&mut self, parent: &Arc<Dir>, name: &OsStr) -> io::Result<()> {
        match parent.create_dir(name) {
            Ok(()) => self.0.push((parent.clone(), name.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Keeps the directories: the file was written.
    pub(super) fn keep(&mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        for (parent, name) in self.0.drain(..).rev() {
            // Fails for a directory that is in use by now, because it is not empty.
            let _ = parent.remove_dir(name);
        }
    }
}
