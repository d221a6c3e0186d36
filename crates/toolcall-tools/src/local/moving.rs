//! Moves files and directories, also to another root or another file system.
//! It never replaces an existing file, and loses nothing if a move fails halfway.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use rustix::io::Errno;
use toolcall::HostError;

use super::errors::{host_error, path_error};
use super::files::{FileDurability, Files};
use super::path_walk::{EntryLocation, FinalSymlink, MissingDirectory};
use super::temporary::{TemporaryFile, rename_no_replace, sync_directory};
use super::trash::remove;

impl Files {
    /// Moves a file, a directory, or a symlink itself.
    pub(super) fn rename(&self, path: &Path, to: &Path) -> Result<(), HostError> {
        let from = self.locate(path, FinalSymlink::Itself, MissingDirectory::Fail)?;
        let missing = || HostError::Missing(path.to_owned());
        let found = from.found.as_ref().ok_or_else(missing)?;
        let mut target = self.locate(to, FinalSymlink::Itself, MissingDirectory::Create)?;
        if target.found.is_some() {
            return Err(HostError::Exists(to.to_owned()));
        }
        match rename_no_replace(&from.dir, &from.name, &target.dir, &target.name) {
            Err(error) if is_another_device(&error) => {
                self.move_across_devices(&from, found, &target, path)
            }
            other => other.map_err(|error| failed_move(path, to, error)),
        }?;
        target.created.keep();
        sync_directory(&target.dir, self.durability);
        sync_directory(&from.dir, self.durability);
        Ok(())
    }

    /// Moves a file to another file system: copies it, then removes the original. At every moment at
    /// least one of them is complete.
    fn move_across_devices(
        &self,
        from: &EntryLocation,
        found: &Metadata,
        to: &EntryLocation,
        path: &Path,
    ) -> Result<(), HostError> {
        if found.is_symlink() {
            copy_symlink(from, to).map_err(|error| host_error(path, error))?;
            from.require_unchanged(found, path)
                .inspect_err(|_| remove_copy(to))?;
        } else if found.is_file() {
            self.copy_to(from, to, path)?;
        } else {
            let why = "is no file and cannot be moved to another file system";
            return Err(path_error(path, why));
        }
        let removed = from.dir.remove_file(&from.name);
        removed.map_err(|error| {
            remove_copy(to);
            host_error(path, error)
        })
    }

    fn copy_to(
        &self,
        from: &EntryLocation,
        to: &EntryLocation,
        path: &Path,
    ) -> Result<(), HostError> {
        let mut opened = from.open(path)?;
        let host_error = |error| host_error(path, error);
        let mut copy = TemporaryFile::create(&to.dir, 0o600).map_err(host_error)?;
        io::copy(&mut opened.file, &mut copy.file).map_err(host_error)?;
        copy.copy_permissions_from(&opened.metadata)
            .map_err(host_error)?;
        from.require_unchanged(&opened.metadata, path)?;
        copy.persist_new(&to.name, self.durability)
            .map_err(host_error)
    }
}

fn copy_symlink(from: &EntryLocation, to: &EntryLocation) -> io::Result<()> {
    let target = from.dir.read_link_contents(&from.name)?;
    to.dir.symlink_contents(target, &to.name)
}

/// Moves a file or directory to another file system with everything in it: copies it, and removes
/// the original when the copy is complete. Devices, pipes and sockets cannot be copied.
pub(super) fn move_tree(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    match copy_tree(from, name, to, new) {
        Ok(()) => remove(from, name),
        Err(error) => {
            // The original is complete; the partial copy is not needed.
            let _ = remove(to, new);
            Err(error)
        }
    }
}

fn copy_tree(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    let found = from.symlink_metadata(name)?;
    if found.is_symlink() {
        return to.symlink_contents(from.read_link_contents(name)?, new);
    }
    if found.is_dir() {
        to.create_dir(new)?;
        let (inner, copy) = (from.open_dir_nofollow(name)?, to.open_dir_nofollow(new)?);
        for entry in inner.entries()? {
            let name = entry?.file_name();
            copy_tree(&inner, &name, &copy, &name)?;
        }
        return copy.set_permissions(".", found.permissions());
    }
    if !found.is_file() {
        let why = format!("`{}` is neither a file nor a folder", name.display());
        return Err(io::Error::other(why));
    }
    copy_file(from, name, to, new)
}

fn copy_file(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let mut original = from.open_with(name, &options)?;
    let mut copy = TemporaryFile::create(to, 0o600)?;
    io::copy(&mut original, &mut copy.file)?;
    copy.copy_permissions_from(&original.metadata()?)?;
    copy.persist_new(new, FileDurability::Synced)
}

/// Removes the copy, because the original is still there.
fn remove_copy(copy: &EntryLocation) {
    let _ = copy.dir.remove_file(&copy.name);
}

pub(super) fn is_another_device(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::XDEV)
}

fn failed_move(path: &Path, to: &Path, error: io::Error) -> HostError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => HostError::Exists(to.to_owned()),
        io::ErrorKind::NotFound => HostError::Missing(path.to_owned()),
        _ => {
            let why = format!("cannot be moved to `{}`: {error}", to.display());
            path_error(path, why)
        }
    }
}
