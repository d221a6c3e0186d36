//! Real files beneath the roots of a session, each reached through a directory handle.
//! No byte outside the roots is read or changed, whatever is swapped meanwhile.

use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use toolcall::{Applied, Change, FileBody, FileEdit, HostError};

use super::failure::{failed, refused};
use super::inspecting::inspect;
use super::reading::{FilePart, body};
use super::roots::{RootId, Roots};
use super::trash::Trash;
use super::walk::{Arrival, Gap, LastLink, Links, Spot, walk};

/// More than this is no text that anybody reads at once.
const READ_LIMIT: u64 = 32 * 1024 * 1024;

/// Files beneath the roots of a session. Its methods block: a host runs them where that is allowed.
#[derive(Debug)]
pub struct Files {
    pub(super) roots: Roots,
    pub(super) links: Links,
    pub(super) bin: Option<Trash>,
    pub(super) read_limit: u64,
    pub(super) durability: Durability,
    /// Held between the last look at a file and its change, so that of two edits of what both were
    /// shown one fails. Other processes can still come between; the system has no step for that.
    pub(super) turn: Mutex<()>,
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
            links: Links::Followed,
            bin: None,
            read_limit: READ_LIMIT,
            durability: Durability::default(),
            turn: Mutex::default(),
        })
    }

    /// Refuses to go through a link: paths come from [`Files::resolve`], and where one leads
    /// through a link by now, something was swapped since it was judged.
    pub fn refusing_links(mut self) -> Self {
        self.links = Links::Refused;
        self
    }

    /// Whether it does.
    pub(crate) fn refuses_links(&self) -> bool {
        self.links == Links::Refused
    }

    /// Puts away what is deleted and not held by the edit. Without a bin it is not deleted.
    pub fn with_bin(mut self, bin: Trash) -> Self {
        self.bin = Some(bin);
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
        match walk(
            &self.roots,
            path,
            Links::Followed,
            LastLink::Followed,
            Gap::Imagined,
        )? {
            Arrival::Name(spot) => Ok(spot.path),
            Arrival::Folder(path) | Arrival::Nowhere(path) => Ok(path),
        }
    }

    /// Reads a regular file.
    pub fn read(&self, path: &Path) -> Result<FileBody, HostError> {
        let mut opened = self.readable(path)?.open(path)?;
        let limit = self.read_limit;
        let wanted = match opened.metadata.len() > limit {
            true => 0,
            // One byte more shows a file that grew, or one that does not know its size.
            false => limit.saturating_add(1),
        };
        let portion = opened.portion(0, wanted);
        let FilePart { bytes, size } = portion.map_err(|error| failed(path, error))?;
        match size > limit {
            true => Err(refused(
                path,
                format_args!("has {size} bytes, more than {limit}"),
            )),
            false => Ok(body(bytes)),
        }
    }

    /// Reads a part of a regular file, from a place on and at most `limit` bytes.
    pub fn read_part(&self, path: &Path, from: u64, limit: u64) -> Result<FilePart, HostError> {
        let mut opened = self.readable(path)?.open(path)?;
        let portion = opened.portion(from, limit);
        portion.map_err(|error| failed(path, error))
    }

    /// What there is at a path: a file, a folder with everything in it, or the text of a link.
    pub fn inspect(&self, path: &Path) -> Result<FileBody, HostError> {
        let spot = self.spot(path, LastLink::Meant, Gap::Fails)?;
        inspect(&spot, self.read_limit, path)
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

    fn readable(&self, path: &Path) -> Result<Spot, HostError> {
        self.spot(path, LastLink::Followed, Gap::Fails)
    }

    /// The name in a folder that a path leads to.
    pub(super) fn spot(&self, path: &Path, last: LastLink, gap: Gap) -> Result<Spot, HostError> {
        match walk(&self.roots, path, self.links, last, gap)? {
            Arrival::Name(spot) => Ok(*spot),
            Arrival::Folder(_) => Err(refused(path, "is a folder, not a file")),
            Arrival::Nowhere(_) => Err(HostError::Missing(path.to_owned())),
        }
    }
}
