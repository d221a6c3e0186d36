//! Walks the tree beneath a directory with several threads, through directory handles.
//! It follows no symlink, enters no `.git`, and reads no content itself.

mod names;
mod rules;
mod start;
mod worker;
mod workers;

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, readlinkat, statat};

pub(crate) use start::Start;

/// The deepest level of any walk.
const MAX_DEPTH: usize = 256;

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

/// Whether a walk includes dotfiles and entries matched by ignore files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignored {
    Hidden,
    Shown,
}

/// The options of a walk.
pub(crate) struct Walk<'a> {
    pub(crate) ignored: Ignored,
    /// How many levels to walk; entries of the start directory are level 1.
    pub(crate) depth: usize,
    /// Which entries to visit, by their path from the start. Directories are entered anyway.
    pub(crate) wants: &'a (dyn Fn(&Path, Kind) -> bool + Sync),
    /// Which entries may be seen at all, by absolute path. Checked before an entry is visited or
    /// entered.
    pub(crate) admits: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Whether the walk was cancelled.
    pub(crate) is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Receives the entries that one thread finds.
pub(crate) trait Visitor: Send {
    /// Visits an entry. `Break` ends the walk for all threads.
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()>;
}

/// An entry of a directory whose handle is held.
pub(crate) struct Found<'a> {
    dir: BorrowedFd<'a>,
    name: &'a CStr,
    pub(crate) kind: Kind,
    /// Its absolute path.
    pub(crate) path: &'a Path,
    /// Its path from the start.
    pub(crate) relative: &'a Path,
    /// Its level: 1 for entries of the start directory.
    pub(crate) depth: usize,
}

/// What a walk skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Entries that are hidden or ignored.
    pub(crate) hidden: u64,
    /// Entries that may not be seen.
    pub(crate) denied: u64,
    /// Directories that could not be read.
    pub(crate) unreadable: u64,
    /// Directories beyond the deepest level.
    pub(crate) too_deep: u64,
    /// Whether the limit of names in one walk was reached.
    pub(crate) too_many: bool,
}

impl Found<'_> {
    /// Opens a regular file without blocking, and returns its size, too.
    pub(crate) fn open(&self) -> io::Result<(File, u64)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(self.dir, self.name, flags, Mode::empty())?;
        let stat = fstat(&opened)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((File::from(opened), stat.st_size.unsigned_abs())),
            _swapped => Err(io::Error::other("no regular file")),
        }
    }

    /// Returns when it was last modified, in nanoseconds since 1970.
    pub(crate) fn modified(&self) -> io::Result<i128> {
        let stat = statat(self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec))
    }

    /// Returns the target of a symlink.
    pub(crate) fn target(&self) -> io::Result<PathBuf> {
        use std::os::unix::ffi::OsStringExt as _;
        let text = readlinkat(self.dir, self.name, Vec::new())?;
        Ok(std::ffi::OsString::from_vec(text.into_bytes()).into())
    }
}

impl Kind {
    fn of(kind: FileType) -> Option<Self> {
        match kind {
            FileType::RegularFile => Some(Kind::File),
            FileType::Directory => Some(Kind::Folder),
            FileType::Symlink => Some(Kind::Link),
            FileType::Fifo => Some(Kind::Pipe),
            FileType::Socket => Some(Kind::Socket),
            FileType::CharacterDevice | FileType::BlockDevice => Some(Kind::Device),
            FileType::Unknown => None,
        }
    }
}
