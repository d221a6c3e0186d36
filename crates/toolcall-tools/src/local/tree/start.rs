//! The start of a walk: a directory beneath a root, or one file, with the ignore rules above it.
//! It expects a resolved path and follows no symlink.

use std::ffi::CString;
use std::ops::ControlFlow;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use toolcall::HostError;

use super::rules::{IgnoreFiles, IgnoreRules};
use super::{Found, Kind, Visitor};
use crate::local::Files;
use crate::local::errors::{host_error, outside_error, path_error};

/// An open directory in which a walk starts, or one file in it.
#[derive(Debug)]
pub(crate) struct Start {
    pub(super) dir: OwnedFd,
    /// The path of the directory.
    pub(super) path: PathBuf,
    pub(super) rules: Option<Arc<IgnoreRules>>,
    /// The file, if the walk is about one.
    file: Option<CString>,
}

impl Files {
    /// Opens the start of a walk. The path comes from [`Files::resolve`]; if it leads through a
    /// symlink, it was changed since, and this fails.
    pub(crate) fn start(&self, path: &Path) -> Result<Start, HostError> {
        let (root, rest) = self.roots.find(path).ok_or_else(|| outside_error(path))?;
        // A separate handle, because the read position of a directory belongs to its handle.
        let dir =
            open_directory(&*root.dir, c".").map_err(|error| host_error(path, error.into()))?;
        let mut start = Start {
            dir,
            path: root.path.clone(),
            rules: None,
            file: None,
        };
        for step in rest.components() {
            start.go(step, path)?;
        }
        Ok(start)
    }
}

impl Start {
    fn go(&mut self, step: Component<'_>, requested: &Path) -> Result<(), HostError> {
        let Component::Normal(name) = step else {
            return Err(path_error(requested, "is not a plain path"));
        };
        if self.file.is_some() {
            return Err(path_error(requested, "leads through what is not a folder"));
        }
        let name = CString::new(name.as_bytes())
            .map_err(|_| HostError::Other("the path contains a NUL".into()))?;
        let stat = statat(&self.dir, &*name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| host_error(requested, error.into()))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => self.enter(&name, requested),
            FileType::RegularFile => {
                self.file = Some(name);
                Ok(())
            }
            FileType::Symlink => Err(HostError::Changed(requested.to_owned())),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Err(path_error(requested, "is neither a folder nor a file")),
        }
    }

    fn enter(&mut self, name: &CString, requested: &Path) -> Result<(), HostError> {
        let dir = self.dir.as_fd();
        self.rules =
            IgnoreRules::with_directory(self.rules.take(), dir, &self.path, IgnoreFiles::UNKNOWN);
        let entered = open_directory(dir, &**name);
        self.dir = entered.map_err(|error| host_error(requested, error.into()))?;
        self.path.push(std::ffi::OsStr::from_bytes(name.to_bytes()));
        Ok(())
    }

    /// Whether the walk is about one file.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Visits the file, if the walk is about one.
    pub(crate) fn visit_file(&self, visitor: &mut impl Visitor) -> ControlFlow<()> {
        let Some(name) = &self.file else {
            return ControlFlow::Continue(());
        };
        let relative = Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        visitor.visit(&Found {
            dir: self.dir.as_fd(),
            name,
            kind: Kind::File,
            path: &self.path.join(relative),
            relative,
            depth: 1,
        })
    }
}

/// Opens a directory by a single name, never through a symlink.
pub(super) fn open_directory(
    parent: impl AsFd,
    name: impl rustix::path::Arg,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}
