//! Real files beneath the roots of a session, each reached through a directory handle.
//! No byte outside the roots is read or changed, whatever is swapped meanwhile.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use toolcall::{Change, FileBody, FileEdit, HostError};

use super::failure::{failed, refused};
use super::reading::{Portion, body};
use super::roots::Roots;
use super::walk::{Arrival, Gap, LastLink, Spot, walk};

/// More than this is no text that anybody reads at once.
const READ_LIMIT: u64 = 32 * 1024 * 1024;

/// Files beneath the roots of a session. Its methods block: a host runs them where that is allowed.
#[derive(Debug)]
pub struct Files {
    roots: Roots,
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
            read_limit: READ_LIMIT,
            durability: Durability::default(),
            turn: Mutex::default(),
        })
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
        match walk(&self.roots, path, LastLink::Followed, Gap::Imagined)? {
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
        let Portion { bytes, size } = portion.map_err(|error| failed(path, error))?;
        match size > limit {
            true => Err(refused(
                path,
                format_args!("has {size} bytes, more than {limit}"),
            )),
            false => Ok(body(bytes)),
        }
    }

    /// Reads the beginning of a regular file, at most `limit` bytes of it.
    pub fn read_bytes(&self, path: &Path, limit: u64) -> Result<Portion, HostError> {
        let mut opened = self.readable(path)?.open(path)?;
        let portion = opened.portion(0, limit);
        portion.map_err(|error| failed(path, error))
    }

    /// Makes one change, if the file still is as the edit says it was. It is made whole or not at
    /// all, and nothing is left behind when it fails.
    pub fn apply(&self, edit: &FileEdit) -> Result<(), HostError> {
        match &edit.change {
            Change::Added { after } => self.add(&edit.path, after),
            Change::Modified { before, after } => self.modify(&edit.path, before, after),
            Change::Deleted { before } => self.delete(&edit.path, before),
            Change::Moved { to } => self.rename(&edit.path, to),
        }
    }

    fn readable(&self, path: &Path) -> Result<Spot, HostError> {
        self.spot(path, LastLink::Followed, Gap::Fails)
    }

    /// The name in a folder that a path leads to.
    pub(super) fn spot(&self, path: &Path, last: LastLink, gap: Gap) -> Result<Spot, HostError> {
        match walk(&self.roots, path, last, gap)? {
            Arrival::Name(spot) => Ok(*spot),
            Arrival::Folder(_) => Err(refused(path, "is a folder, not a file")),
            Arrival::Nowhere(_) => Err(HostError::Missing(path.to_owned())),
        }
    }
}
