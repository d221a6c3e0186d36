//! Real files beneath the roots of a session, each reached through a directory handle.
//! No byte outside the roots is read or changed, whatever is swapped meanwhile.

use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use toolcall::{Applied, Change, FileBody, FileEdit, HostError};

use super::errors::{host_error, path_error};
use super::inspecting::inspect;
use super::path_walk::{
    Destination, EntryLocation, FinalSymlink, MissingDirectory, Symlinks, walk_path,
};
use super::reading::{FilePart, body};
use super::roots::{RootId, Roots};
use super::trash::Trash;

/// More than this is no text that anybody reads at once.
const READ_LIMIT: u64 = 32 * 1024 * 1024;

/// Files beneath the roots of a session. Its methods block: a host runs them where that is allowed.
#[derive(Debug)]
pub struct Files {
    pub(super) roots: Roots,
    pub(super) symlinks: Symlinks,
    pub(super) trash: Option<Trash>,
    pub(super) read_limit: u64,
    pub(super) durability: Durability,
    /// Held between the last look at a file and its change, so that of two edits of what both were
    /// shown one fails. Other processes can still come between; the system has no step for that.
    pub(super) apply_lock: Mutex<()>,
}

/// What is certain when a change is reported as made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// It is on the disk: it survives a loss of power.
    #[default]
    Synced,
    /// The system has it: it survives the end of this process.
    Cached,
}

impl Files {
    /// Opens the roots, each an absolute path. Links are followed now and never again: a root is
    /// the folder that was opened, whatever its name leads to later.
    pub fn open(roots: &[PathBuf]) -> io::Result<Self> {
        Ok(Self {
            roots: Roots::open(roots)?,
            symlinks: Symlinks::Followed,
            trash: None,
            read_limit: READ_LIMIT,
            durability: Durability::default(),
            apply_lock: Mutex::default(),
        })
    }

    /// Refuses to go through a link: paths come from [`Files::resolve`], and where one leads
    /// through a link by now, something was swapped since it was judged.
    pub fn refusing_symlinks(mut self) -> Self {
        self.symlinks = Symlinks::Refused;
        self
    }

    /// Whether it does.
    pub(crate) fn refuses_symlinks(&self) -> bool {
        self.symlinks == Symlinks::Refused
    }

    /// Puts away what is deleted and not held by the edit. Without a bin it is not deleted.
    pub fn with_trash(mut self, trash: Trash) -> Self {
        self.trash = Some(trash);
        self
    }

    /// Opens the folders that another process has opened as its roots, and no others: one that was
    /// replaced meanwhile is an error.
    pub fn open_same(ids: &[RootId]) -> io::Result<Self> {
        let paths: Vec<_> = ids.iter().map(|id| id.path.clone()).collect();
        let files = Self::open(&paths)?;
        let opened = files.roots.ids()?;
        match opened.iter().zip(ids).find(|(now, then)| now != then) {
            None => Ok(files),
            Some((now, _)) => Err(io::Error::other(format!(
                "`{}` is not the folder it was when the session began",
                now.path.display()
            ))),
        }
    }

    /// Which folders its roots are.
    pub fn root_ids(&self) -> io::Result<Vec<RootId>> {
        self.roots.ids()
    }

    /// The handles of its roots.
    #[cfg(all(target_os = "linux", feature = "sandbox"))]
    pub(crate) fn root_handles(&self) -> impl Iterator<Item = std::os::fd::BorrowedFd<'_>> {
        use std::os::fd::AsFd as _;
        self.roots.handles().map(|dir| dir.as_fd())
    }

    /// Reads no file of more bytes as a whole.
    pub fn with_read_limit(mut self, bytes: u64) -> Self {
        self.read_limit = bytes;
        self
    }

    /// How certain a change is when it is reported.
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Where a path leads: absolute, with every link followed, beneath a root. What is not there
    /// yet lies where its folder leads.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, HostError> {
        match walk_path(
            &self.roots,
            path,
            Symlinks::Followed,
            FinalSymlink::Followed,
            MissingDirectory::Assume,
        )? {
            Destination::Entry(location) => Ok(location.path),
            Destination::Directory(path) | Destination::Missing(path) => Ok(path),
        }
    }

    /// Reads a regular file.
    pub fn read(&self, path: &Path) -> Result<FileBody, HostError> {
        let mut opened = self.locate_readable(path)?.open(path)?;
        let limit = self.read_limit;
        let wanted = if opened.metadata.len() > limit {
            0
        } else {
            // One byte more shows a file that grew, or one that does not know its size.
            limit.saturating_add(1)
        };
        let part = opened.read_at(0, wanted);
        let FilePart { bytes, size } = part.map_err(|error| host_error(path, error))?;
        if size > limit {
            Err(path_error(
                path,
                format_args!("has {size} bytes, more than {limit}"),
            ))
        } else {
            Ok(body(bytes))
        }
    }

    /// Reads a part of a regular file, from a place on and at most `limit` bytes.
    pub fn read_part(&self, path: &Path, from: u64, limit: u64) -> Result<FilePart, HostError> {
        let mut opened = self.locate_readable(path)?.open(path)?;
        let part = opened.read_at(from, limit);
        part.map_err(|error| host_error(path, error))
    }

    /// What there is at a path: a file, a folder with everything in it, or the text of a link.
    pub fn inspect(&self, path: &Path) -> Result<FileBody, HostError> {
        let location = self.locate(path, FinalSymlink::Itself, MissingDirectory::Fail)?;
        inspect(&location, self.read_limit, path)
    }

    /// Makes one change, if the file still is as the edit says it was. It is made whole or not at
    /// all, and nothing is left behind when it fails.
    pub fn apply(&self, edit: &FileEdit) -> Result<Applied, HostError> {
        match &edit.change {
            Change::Added { after } => self.add(&edit.path, after)?,
            Change::Modified { before, after } => self.modify(&edit.path, before, after)?,
            Change::Deleted { before } => return self.delete(&edit.path, before),
            Change::Moved { to } => self.rename(&edit.path, to)?,
        }
        Ok(Applied::default())
    }

    fn locate_readable(&self, path: &Path) -> Result<EntryLocation, HostError> {
        self.locate(path, FinalSymlink::Followed, MissingDirectory::Fail)
    }

    /// The name in a folder that a path leads to.
    pub(super) fn locate(
        &self,
        path: &Path,
        final_symlink: FinalSymlink,
        missing_directory: MissingDirectory,
    ) -> Result<EntryLocation, HostError> {
        match walk_path(
            &self.roots,
            path,
            self.symlinks,
            final_symlink,
            missing_directory,
        )? {
            Destination::Entry(location) => Ok(*location),
            Destination::Directory(_) => Err(path_error(path, "is a folder, not a file")),
            Destination::Missing(_) => Err(HostError::Missing(path.to_owned())),
        }
    }
}
