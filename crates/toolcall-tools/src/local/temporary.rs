//! Temporary files that are written next to their destination and renamed to it in one step.
//! It never writes into an existing file, and leaves nothing behind when it fails.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::io;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use cap_std::fs::{Permissions, PermissionsExt as _};
use rustix::fs::{Gid, Uid};
use rustix::io::Errno;

use super::files::FileDurability;

/// A file under a random name. Dropping it removes the file, unless it was renamed to its
/// destination.
#[derive(Debug)]
pub(super) struct TemporaryFile<'a> {
    dir: &'a Dir,
    /// `None` once it was renamed.
    name: Option<String>,
    /// The open file.
    pub(super) file: File,
}

/// Returns a name that no other process uses. The standard library's hasher is randomly seeded.
pub(crate) fn random_name() -> String {
    let number = RandomState::new().hash_one(std::process::id());
    format!(".toolcall-{number:016x}")
}

impl<'a> TemporaryFile<'a> {
    /// Creates an empty file in a directory, with this mode as far as the umask permits.
    pub(super) fn create(dir: &'a Dir, mode: u32) -> io::Result<Self> {
        let name = random_name();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(mode);
        let file = dir.open_with(&name, options.follow(FollowSymlinks::No))?;
        Ok(Self {
            dir,
            name: Some(name),
            file,
        })
    }

    /// Copies owner and permissions, but not setuid and setgid: those were granted to the old
    /// content.
    pub(super) fn copy_permissions_from(&self, original: &Metadata) -> io::Result<()> {
        let (owner, group) = (original.uid(), original.gid());
        // Only root may change the owner; otherwise the file belongs to the current user.
        let _ = rustix::fs::fchown(
            &self.file,
            Some(Uid::from_raw(owner)),
            Some(Gid::from_raw(group)),
        );
        let rights = Permissions::from_mode(original.mode() & 0o777);
        self.file.set_permissions(rights)
    }

    /// Renames it to a name that must not exist.
    pub(super) fn persist_new(
        mut self,
        name: &OsStr,
        durability: FileDurability,
    ) -> io::Result<()> {
        self.sync(durability)?;
        if let Some(own) = &self.name {
            rename_no_replace(self.dir, own.as_ref(), self.dir, name)?;
        }
        self.name = None;
        sync_directory(self.dir, durability);
        Ok(())
    }

    /// Renames it over an existing file.
    pub(super) fn persist_over(
        mut self,
        name: &OsStr,
        durability: FileDurability,
    ) -> io::Result<()> {
        if let Some(own) = &self.name {
            self.dir.rename(own, self.dir, name)?;
        }
        self.name = None;
        sync_directory(self.dir, durability);
        Ok(())
    }

    /// Syncs the content before a name leads to it.
    pub(super) fn sync(&self, durability: FileDurability) -> io::Result<()> {
        match durability {
            FileDurability::Synced => self.file.sync_all(),
            FileDurability::Cached => Ok(()),
        }
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            // A failure cannot be reported here; the name of the file shows who made it.
            let _ = self.dir.remove_file(name);
        }
    }
}

/// Syncs the names in a directory. Errors are ignored, because the change is already made.
pub(super) fn sync_directory(dir: &Dir, durability: FileDurability) {
    match durability {
        FileDurability::Synced => drop(dir.open(".").and_then(|dir| dir.sync_all())),
        FileDurability::Cached => {}
    }
}

/// Renames without replacing an existing file.
pub(super) fn rename_no_replace(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    match try_rename_no_replace(from, old, to, new) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_then_remove(from, old, to, new),
        other => Ok(other?),
    }
}

#[cfg(any(target_vendor = "apple", target_os = "linux", target_os = "android"))]
fn try_rename_no_replace(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> Result<(), Errno> {
    rustix::fs::renameat_with(from, old, to, new, rustix::fs::RenameFlags::NOREPLACE)
}

#[cfg(not(any(target_vendor = "apple", target_os = "linux", target_os = "android")))]
fn try_rename_no_replace(_: &Dir, _: &OsStr, _: &Dir, _: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// Renames on file systems that cannot do so in one step. A hard link never replaces a file, either;
/// between the two steps the file has both names. Directories cannot be hard-linked, so this fails
/// for them.
fn link_then_remove(from: &Dir, old: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    from.hard_link(old, to, new)?;
    from.remove_file(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_in_two_steps_never_goes_over_something() {
        let dir = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(dir.path(), cap_std::ambient_authority()).unwrap();
        dir.write("a", "1").unwrap();
        dir.write("b", "2").unwrap();
        dir.symlink_contents("/nowhere", "l").unwrap();
        for taken in ["b", "l"] {
            let error = link_then_remove(&dir, "a".as_ref(), &dir, taken.as_ref()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        }
        link_then_remove(&dir, "a".as_ref(), &dir, "c".as_ref()).unwrap();
        assert_eq!(dir.read_to_string("c").unwrap(), "1");
        assert_eq!(dir.read_to_string("b").unwrap(), "2");
        assert!(!dir.exists("a"));
    }
}
