//! The files beneath the roots of a session, each reached through a directory handle.
//! It reads and changes no byte outside the roots, even if a path is swapped meanwhile.

use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use toolcall::{AppliedEdit, FileBody, FileChange, FileEdit, HostError};

use super::errors::{host_error, path_error};
use super::inspecting::inspect;
use super::path_walk::{
    Destination, EntryLocation, FinalSymlink, MissingDirectory, Symlinks, walk_path,
};
use super::reading::{FilePart, body};
use super::roots::{RootId, Roots};
use super::trash::Trash;

/// The default limit of [`Files::read`].
const READ_LIMIT: u64 = 32 * 1024 * 1024;

/// The files beneath the roots of a session. Its methods block: call them where that is allowed.
///
/// ```
/// use toolcall::{FileBody, FileEdit};
/// use toolcall_tools::local::Files;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let root = tempfile::tempdir()?;
/// let files = Files::open(&[root.path().to_owned()])?;
///
/// let path = root.path().join("notes.txt");
/// files.apply(&FileEdit::added(&path, "hello\n"))?;
/// assert_eq!(files.read(&path)?, FileBody::Text("hello\n".into()));
///
/// // An edit fails if the file is not as it says.
/// files.apply(&FileEdit::modified(&path, "something else", "new")).unwrap_err();
/// // Nothing outside of the roots can be read.
/// files.read("/etc/passwd".as_ref()).unwrap_err();
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Files {
    pub(super) roots: Roots,
    pub(super) symlinks: Symlinks,
    pub(super) trash: Option<Trash>,
    pub(super) read_limit: u64,
    pub(super) durability: FileDurability,
    /// Held between the last check of a file and its change, so that one of two concurrent edits of
    /// the same content fails. Other processes can still intervene: the system has no atomic step.
    pub(super) apply_lock: Mutex<()>,
}

/// What a change survives once it is reported as made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileDurability {
    /// It is synced to the disk: it survives a loss of power.
    #[default]
    Synced,
    /// It is in the system's cache: it survives the end of this process.
    Cached,
}

impl Files {
    /// Opens the roots, each an absolute path. Symlinks in these paths are followed only now: a root
    /// stays the directory that was opened, whatever its path leads to later.
    pub fn open(roots: &[PathBuf]) -> io::Result<Self> {
        Ok(Self {
            roots: Roots::open(roots)?,
            symlinks: Symlinks::Followed,
            trash: None,
            read_limit: READ_LIMIT,
            durability: FileDurability::default(),
            apply_lock: Mutex::default(),
        })
    }

    /// Refuses paths that lead through a symlink. For callers whose paths come from
    /// [`Files::resolve`]: a symlink in such a path was swapped in after the decision.
    pub fn refusing_symlinks(mut self) -> Self {
        self.symlinks = Symlinks::Refused;
        self
    }

    /// Whether it refuses symlinks.
    pub(crate) fn refuses_symlinks(&self) -> bool {
        self.symlinks == Symlinks::Refused
    }

    /// Moves deleted content that the edit does not hold to this trash. Without one, deleting it
    /// fails.
    pub fn with_trash(mut self, trash: Trash) -> Self {
        self.trash = Some(trash);
        self
    }

    /// Opens the same directories that another process has opened as its roots. One that was
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

    /// Returns the identities of the roots, for [`Files::open_same`].
    pub fn root_ids(&self) -> io::Result<Vec<RootId>> {
        self.roots.ids()
    }

    /// Returns the handles of the roots.
    #[cfg(all(target_os = "linux", feature = "sandbox"))]
    pub(crate) fn root_handles(&self) -> impl Iterator<Item = std::os::fd::BorrowedFd<'_>> {
        use std::os::fd::AsFd as _;
        self.roots.handles().map(|dir| dir.as_fd())
    }

    /// Sets the size of the largest file that [`Files::read`] accepts.
    pub fn with_read_limit(mut self, bytes: u64) -> Self {
        self.read_limit = bytes;
        self
    }

    /// Sets what a change survives once it is reported as made.
    pub fn with_durability(mut self, durability: FileDurability) -> Self {
        self.durability = durability;
        self
    }

    /// Returns the absolute path beneath a root that a path leads to, with every symlink followed.
    /// The last components need not exist.
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

    /// Reads a regular file as a whole.
    pub fn read(&self, path: &Path) -> Result<FileBody, HostError> {
        let mut opened = self.locate_readable(path)?.open(path)?;
        let limit = self.read_limit;
        let wanted = if opened.metadata.len() > limit {
            0
        } else {
            // One byte more reveals a file that grew, or one that reports no size.
            limit.saturating_add(1)
        };
        let part = opened.read_at(0, wanted);
        let FilePart { bytes, size } = part.map_err(|error| host_error(path, error))?;
        if size > limit {
            let why = format_args!("has {size} bytes, more than {limit}");
            return Err(path_error(path, why));
        }
        Ok(body(bytes))
    }

    /// Reads at most `limit` bytes of a regular file, starting at offset `from`.
    pub fn read_part(&self, path: &Path, from: u64, limit: u64) -> Result<FilePart, HostError> {
        let mut opened = self.locate_readable(path)?.open(path)?;
        let part = opened.read_at(from, limit);
        part.map_err(|error| host_error(path, error))
    }

    /// Returns what is at a path, without following a symlink at its end: the content of a file, the
    /// size and digest of a directory with everything in it, or the text of a symlink.
    pub fn inspect(&self, path: &Path) -> Result<FileBody, HostError> {
        let location = self.locate(path, FinalSymlink::Itself, MissingDirectory::Fail)?;
        inspect(&location, self.read_limit, path)
    }

    /// Makes one change if the file still is as the edit says. The change is made as a whole or not
    /// at all, and a failure leaves nothing behind.
    pub fn apply(&self, edit: &FileEdit) -> Result<AppliedEdit, HostError> {
        match &edit.change {
            FileChange::Added { after } => self.add(&edit.path, after)?,
            FileChange::Modified { before, after } => self.modify(&edit.path, before, after)?,
            FileChange::Deleted { before } => return self.delete(&edit.path, before),
            FileChange::Moved { to } => self.rename(&edit.path, to)?,
        }
        Ok(AppliedEdit::default())
    }

    fn locate_readable(&self, path: &Path) -> Result<EntryLocation, HostError> {
        self.locate(path, FinalSymlink::Followed, MissingDirectory::Fail)
    }

    /// Walks a path to the directory entry that it leads to.
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
