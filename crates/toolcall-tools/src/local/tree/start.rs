//! Where a walk begins: a folder beneath a root, or one file, with the rules of the folders above it.
//! It takes a path at its word and follows no link on the way there.

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

/// A folder, or a file in one, that is held.
#[derive(Debug)]
pub(crate) struct Start {
    pub(super) dir: OwnedFd,
    /// Where the folder is.
    pub(super) path: PathBuf,
    pub(super) rules: Option<Arc<IgnoreRules>>,
    /// The one file that is meant.
    file: Option<CString>,
}

impl Files {
    /// Opens what a walk begins with. The path is one that [`Files::resolve`] gave; if it leads
    /// through a link by now, somebody changed it since.
    pub(crate) fn start(&self, path: &Path) -> Result<Start, HostError> {
        let (root, rest) = self.roots.find(path).ok_or_else(|| outside_error(path))?;
        // A handle of its own: how far a folder was read belongs to the handle.
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

    /// Whether one file is meant.
    pub(crate) fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Visits the one file, if one is meant.
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

/// Opens a folder by its one name, never through a link.
pub(super) fn open_directory(
    parent: impl AsFd,
    name: impl rustix::path::Arg,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(parent, name, flags, Mode::empty())
}
