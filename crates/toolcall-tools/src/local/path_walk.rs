//! Walks a path from a root, one component at a time, beneath directory handles that it holds.
//! The system never follows a symlink for it: symlinks are read and walked like any other path.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata};
use toolcall::HostError;

use super::directories::CreatedDirectories;
use super::errors::{host_error, outside_error, path_error};
use super::roots::{Root, Roots};

/// The limit of Linux for symlinks in one path.
const MAX_SYMLINKS: usize = 40;
/// The limit of Linux for the length of a path.
const MAX_PATH_BYTES: usize = 4096;

/// How to treat a symlink at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FinalSymlink {
    /// Go on to its target.
    Followed,
    /// The symlink itself is the destination.
    Itself,
}

/// How to treat symlinks within a path, and at its end unless the symlink itself is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symlinks {
    /// Go on to their target.
    Followed,
    /// Fail: the path was resolved before, so a symlink was swapped in since.
    Refused,
}

/// What to do about a directory within the path that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingDirectory {
    /// Fail: nothing is at the path.
    Fail,
    /// Return the path as if the directory existed.
    Assume,
    /// Create the directory.
    Create,
}

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Destination {
    /// A name in a directory, whether or not it exists.
    Entry(Box<EntryLocation>),
    /// A directory that was entered: a root, or a path that ends in `/`, `.` or `..`.
    Directory(PathBuf),
    /// A path with a directory that does not exist.
    Missing(PathBuf),
}

/// A name in a directory whose handle is held.
#[derive(Debug)]
pub(super) struct EntryLocation {
    /// The directory.
    pub(super) dir: Arc<Dir>,
    /// The name, one component.
    pub(super) name: OsString,
    /// Its metadata when the walk reached it, if it existed.
    pub(super) found: Option<Metadata>,
    /// The directories that were created on the way.
    pub(super) created: CreatedDirectories,
    /// The path of the entry, with every symlink followed.
    pub(super) path: PathBuf,
}

/// Walks a path and returns what it leads to.
pub(super) fn walk_path(
    roots: &Roots,
    path: &Path,
    symlinks: Symlinks,
    final_symlink: FinalSymlink,
    missing_directory: MissingDirectory,
) -> Result<Destination, HostError> {
    validate(path)?;
    let (root, rest) = roots.find(path).ok_or_else(|| outside_error(path))?;
    let mut walk = PathWalk {
        roots,
        requested: path,
        symlinks,
        final_symlink,
        missing_directory,
        root,
        dir: root.dir.clone(),
        names: Vec::new(),
        steps: VecDeque::new(),
        symlinks_followed: 0,
        created: CreatedDirectories::default(),
    };
    walk.push_steps(rest, path);
    walk.run()
}

fn validate(path: &Path) -> Result<(), HostError> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() > MAX_PATH_BYTES {
        let why = format!("the path is too long: {} bytes", bytes.len());
        return Err(HostError::Other(why.into()));
    }
    if bytes.contains(&0) {
        return Err(HostError::Other("the path contains a NUL".into()));
    }
    if path.is_absolute() {
        Ok(())
    } else {
        Err(path_error(path, "is not an absolute path"))
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PathStep {
    Down(OsString),
    Up,
    /// Stay in the current directory: what comes before must be a directory.
    Stay,
}

struct PathWalk<'a> {
    roots: &'a Roots,
    requested: &'a Path,
    symlinks: Symlinks,
    final_symlink: FinalSymlink,
    missing_directory: MissingDirectory,
    root: &'a Root,
    dir: Arc<Dir>,
    names: Vec<OsString>,
    steps: VecDeque<PathStep>,
    symlinks_followed: usize,
    created: CreatedDirectories,
}

impl PathWalk<'_> {
    fn run(mut self) -> Result<Destination, HostError> {
        while let Some(step) = self.steps.pop_front() {
            let destination = match step {
                PathStep::Stay => None,
                PathStep::Up => self.go_up().map(|()| None)?,
                PathStep::Down(name) if self.steps.is_empty() => self.finish_at(name)?,
                PathStep::Down(name) => self.descend(name)?,
            };
            if let Some(destination) = destination {
                return Ok(destination);
            }
        }
        Ok(Destination::Directory(self.current_path()))
    }

    /// Handles the last name of the path; `None` if the walk goes on through a symlink.
    fn finish_at(&mut self, name: OsString) -> Result<Option<Destination>, HostError> {
        let found = match self.dir.symlink_metadata(&name) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(host_error(self.requested, error)),
        };
        let is_symlink = found.as_ref().is_some_and(Metadata::is_symlink);
        if is_symlink && self.final_symlink == FinalSymlink::Followed {
            return self.follow(&name).map(|()| None);
        }
        Ok(Some(Destination::Entry(Box::new(EntryLocation {
            dir: self.dir.clone(),
            path: self.current_path().join(&name),
            name,
            found,
            created: std::mem::take(&mut self.created),
        }))))
    }

    fn descend(&mut self, name: OsString) -> Result<Option<Destination>, HostError> {
        match self.enter(&name) {
            Ok(()) => Ok(None),
            Err(error) => self.handle_not_a_directory(name, error),
        }
    }

    fn enter(&mut self, name: &OsStr) -> io::Result<()> {
        self.dir = Arc::new(self.dir.open_dir_nofollow(name)?);
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Handles a name that cannot be entered: a symlink, a missing directory, or an obstacle.
    fn handle_not_a_directory(
        &mut self,
        name: OsString,
        error: io::Error,
    ) -> Result<Option<Destination>, HostError> {
        match self.dir.symlink_metadata(&name) {
            Ok(found) if found.is_symlink() => self.follow(&name).map(|()| None),
            Ok(found) if found.is_dir() => Err(host_error(self.requested, error)),
            Ok(_) => Err(path_error(
                self.requested,
                "leads through what is not a folder",
            )),
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => self.handle_missing(name),
            Err(other) => Err(host_error(self.requested, other)),
        }
    }

    /// Handles a directory that does not exist. A `..` after it fails, because nothing is known about
    /// what lies there.
    fn handle_missing(&mut self, name: OsString) -> Result<Option<Destination>, HostError> {
        let missing = || HostError::Missing(self.requested.to_owned());
        if self.steps.contains(&PathStep::Up) {
            return Err(missing());
        }
        match self.missing_directory {
            MissingDirectory::Fail => Err(missing()),
            MissingDirectory::Assume => Ok(Some(Destination::Missing(self.assumed_path(name)))),
            MissingDirectory::Create => {
                let created = self.created.create(&self.dir, &name);
                created
                    .and_then(|()| self.enter(&name))
                    .map_err(|error| host_error(self.requested, error))?;
                Ok(None)
            }
        }
    }

    fn assumed_path(&self, name: OsString) -> PathBuf {
        let mut path = self.current_path().join(name);
        for step in &self.steps {
            if let PathStep::Down(name) = step {
                path.push(name);
            }
        }
        path
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), HostError> {
        if self.symlinks == Symlinks::Refused {
            return Err(HostError::Changed(self.requested.to_owned()));
        }
        self.symlinks_followed += 1;
        if self.symlinks_followed > MAX_SYMLINKS {
            return Err(path_error(self.requested, "leads through too many links"));
        }
        if is_on_procfs(&self.dir) {
            return Err(path_error(
                self.requested,
                "leads through a link of the system",
            ));
        }
        let target = self.dir.read_link_contents(name);
        let target = target.map_err(|error| host_error(self.requested, error))?;
        if target.is_absolute() {
            return self.start_over(target);
        }
        self.push_steps(&target, &target);
        Ok(())
    }

    /// Goes to the parent directory by its name, from a root again: the parent of a handle may have
    /// been moved anywhere.
    fn go_up(&mut self) -> Result<(), HostError> {
        let base = match self.names.pop() {
            Some(_) => self.current_path(),
            None => self.root.path.parent().unwrap_or(&self.root.path).into(),
        };
        // A parent is a directory.
        if self.steps.is_empty() {
            self.steps.push_back(PathStep::Stay);
        }
        self.start_over(base)
    }

    /// Continues from an absolute path, if the resulting path is in a root.
    fn start_over(&mut self, mut path: PathBuf) -> Result<(), HostError> {
        for step in self.steps.drain(..) {
            match step {
                PathStep::Down(name) => path.push(name),
                PathStep::Up => path.push(".."),
                PathStep::Stay => path.push("."),
            }
        }
        let found = self
            .roots
            .find(&path)
            .ok_or_else(|| outside_error(self.requested));
        let (root, rest) = found?;
        self.root = root;
        self.dir = root.dir.clone();
        self.names.clear();
        self.push_steps(rest, &path);
        Ok(())
    }

    /// Puts the steps of a path before the remaining ones. `whole` is the complete path, whose end
    /// shows whether a directory is meant.
    fn push_steps(&mut self, path: &Path, whole: &Path) {
        if names_directory(whole) {
            self.steps.push_front(PathStep::Stay);
        }
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.steps.push_front(PathStep::Down(name.to_owned())),
                Component::ParentDir => self.steps.push_front(PathStep::Up),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
    }

    fn current_path(&self) -> PathBuf {
        let mut path = self.root.path.clone();
        path.extend(&self.names);
        path
    }
}

/// Whether the path says that it names a directory. `Path::components` drops these endings.
fn names_directory(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

/// Whether a directory is on procfs, whose symlinks lead to open files of processes, whatever their
/// text says.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_on_procfs(dir: &Dir) -> bool {
    // A directory whose file system is unknown is not trusted.
    rustix::fs::fstatfs(dir).map_or(true, |on| on.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_on_procfs(_folder: &Dir) -> bool {
    false
}
