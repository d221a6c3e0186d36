//! Moving: a name gets another place, also in another root or on another file system.
//! Nothing is ever moved over something, and nothing is lost between the two places.

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use rustix::io::Errno;
use toolcall::HostError;

use super::failure::{failed, refused};
use super::files::{Durability, Files};
use super::temporary::{Temporary, rename_new, settle_folder};
use super::trash::remove;
use super::walk::{Gap, LastLink, Spot};

impl Files {
    /// Moves a file, a folder, or a link itself.
    pub(super) fn rename(&self, path: &Path, to: &Path) -> Result<(), HostError> {
        let from = self.spot(path, LastLink::Meant, Gap::Fails)?;
        let missing = || HostError::Missing(path.to_owned());
        let found = from.found.as_ref().ok_or_else(missing)?;
        let mut target = self.spot(to, LastLink::Meant, Gap::Filled)?;
        if target.found.is_some() {
            return Err(HostError::Exists(to.to_owned()));
        }
        match rename_new(&from.folder, &from.name, &target.folder, &target.name) {
            Err(error) if is_another_device(&error) => self.carry(&from, found, &target, path),
            other => other.map_err(|error| failed_move(path, to, error)),
        }?;
        target.made.keep();
        settle_folder(&target.folder, self.durability);
        settle_folder(&from.folder, self.durability);
        Ok(())
    }

    /// To another file system: a copy, and then the original goes. At every moment there is one of
    /// them whole, or both.
    fn carry(
        &self,
        from: &Spot,
        found: &Metadata,
        to: &Spot,
        path: &Path,
    ) -> Result<(), HostError> {
        if found.is_symlink() {
            carry_link(from, to).map_err(|error| failed(path, error))?;
            from.require_still(found, path)
                .inspect_err(|_| take_back(to))?;
        } else if found.is_file() {
            self.carry_file(from, to, path)?;
        } else {
            let why = "is no file and cannot be moved to another file system";
            return Err(refused(path, why));
        }
        let removed = from.folder.remove_file(&from.name);
        removed.map_err(|error| {
            take_back(to);
            failed(path, error)
        })
    }

    fn carry_file(&self, from: &Spot, to: &Spot, path: &Path) -> Result<(), HostError> {
        let mut opened = from.open(path)?;
        let failed = |error| failed(path, error);
        let mut copy = Temporary::create(&to.folder, 0o600).map_err(failed)?;
        io::copy(&mut opened.file, &mut copy.file).map_err(failed)?;
        copy.take_rights_of(&opened.metadata).map_err(failed)?;
        from.require_still(&opened.metadata, path)?;
        copy.place_new(&to.name, self.durability).map_err(failed)
    }
}

fn carry_link(from: &Spot, to: &Spot) -> io::Result<()> {
    let target = from.folder.read_link_contents(&from.name)?;
    to.folder.symlink_contents(target, &to.name)
}

/// Carries something to another file system with everything in it: a copy, and when that is whole
/// the original goes. What is neither file, folder nor link cannot be copied.
pub(super) fn carry_tree(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    match copy_tree(from, name, to, new) {
        Ok(()) => remove(from, name),
        Err(error) => {
            // The original is whole; of the copy nothing is needed.
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
    let mut copy = Temporary::create(to, 0o600)?;
    io::copy(&mut original, &mut copy.file)?;
    copy.take_rights_of(&original.metadata()?)?;
    copy.place_new(new, Durability::Synced)
}

/// The original is still there, so the copy goes.
fn take_back(copy: &Spot) {
    let _ = copy.folder.remove_file(&copy.name);
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
            refused(path, why)
        }
    }
}
