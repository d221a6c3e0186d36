//! What lies beneath one folder, found by several threads, each name reached through a held handle.
//! It follows no link, enters no `.git`, and shows no content itself.

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

/// As deep as a walk goes, whatever was asked for.
const MAX_DEPTH: usize = 256;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

/// What to do with hidden names and those that ignore files name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignored {
    Hidden,
    Shown,
}

/// A way to walk.
pub(crate) struct Walk<'a> {
    pub(crate) ignored: Ignored,
    /// How many levels, the names in the first folder being the first.
    pub(crate) depth: usize,
    /// Which names are of interest, by their path from the start. Folders are entered anyway.
    pub(crate) wants: &'a (dyn Fn(&Path, Kind) -> bool + Sync),
    /// What may be seen at all, by its absolute path. Asked before a name is shown or entered.
    pub(crate) admits: &'a (dyn Fn(&Path) -> bool + Sync),
    /// Whether nobody waits for the result any more.
    pub(crate) is_cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// What one thread does with the names it finds.
pub(crate) trait Visitor: Send {
    /// A name that is wanted and admitted. `Break` ends the walk.
    fn visit(&mut self, found: &Found<'_>) -> ControlFlow<()>;
}

/// A name in a folder that is held.
pub(crate) struct Found<'a> {
    dir: BorrowedFd<'a>,
    name: &'a CStr,
    pub(crate) kind: Kind,
    /// Its absolute path.
    pub(crate) path: &'a Path,
    /// Its path from the start.
    pub(crate) relative: &'a Path,
    /// 1 for the names in the first folder.
    pub(crate) depth: usize,
}

/// What a walk passed by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    /// Names that are hidden or ignored.
    pub(crate) hidden: u64,
    /// Names that may not be seen.
    pub(crate) denied: u64,
    /// Folders that could not be read.
    pub(crate) unreadable: u64,
    /// Folders that lie deeper than any walk goes.
    pub(crate) too_deep: u64,
    /// Whether there were more names than any walk looks at.
    pub(crate) too_many: bool,
}

impl Found<'_> {
    /// Opens a regular file, without waiting, and says how large it is.
    pub(crate) fn open(&self) -> io::Result<(File, u64)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = openat(self.dir, self.name, flags, Mode::empty())?;
        let stat = fstat(&opened)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((File::from(opened), stat.st_size.unsigned_abs())),
            _swapped => Err(io::Error::other("no regular file")),
        }
    }

    /// When it was changed last, in nanoseconds.
    pub(crate) fn modified(&self) -> io::Result<i128> {
        let stat = statat(self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec))
    }

    /// The text of a link.
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
