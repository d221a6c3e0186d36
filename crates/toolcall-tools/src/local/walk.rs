//! The way from a root to where a path leads, one component at a time, beneath held handles.
//! No step follows a link on its own: links are read and walked like any other path.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata};
use toolcall::HostError;

use super::failure::{failed, outside, refused};
use super::folders::MadeFolders;
use super::roots::{Root, Roots};

/// What Linux follows, too.
const MOST_LINKS: usize = 40;
/// What Linux takes, too.
const LONGEST_PATH: usize = 4096;

/// What to do with a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastLink {
    /// It stands for what it leads to.
    Followed,
    /// It is meant itself.
    Meant,
}

/// What to do with links on the way, and at its end where they are not meant themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// They stand for what they lead to.
    Followed,
    /// There was none when the path was judged, so there must be none now.
    Refused,
}

/// What to do where a folder on the way is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing: the path leads nowhere.
    Fails,
    /// The path is taken at its word from there on.
    Imagined,
    /// The folder is made.
    Filled,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) enum Arrival {
    /// To a name in a folder, whether or not something is there.
    Name(Box<Spot>),
    /// To a folder that was entered: a root, or a path that ends like one.
    Folder(PathBuf),
    /// To a folder that is not there.
    Nowhere(PathBuf),
}

/// A name in a folder that is held.
#[derive(Debug)]
pub(super) struct Spot {
    /// The folder.
    pub(super) folder: Arc<Dir>,
    /// The one name in it.
    pub(super) name: OsString,
    /// What it was when it was reached.
    pub(super) found: Option<Metadata>,
    /// The folders that were made on the way.
    pub(super) made: MadeFolders,
    /// Where that is, with every link followed.
    pub(super) path: PathBuf,
}

/// Walks a path.
pub(super) fn walk(
    roots: &Roots,
    path: &Path,
    links: Links,
    last: LastLink,
    gap: Gap,
) -> Result<Arrival, HostError> {
    check(path)?;
    let (root, rest) = roots.find(path).ok_or_else(|| outside(path))?;
    let mut walk = Walk {
        roots,
        asked: path,
        links,
        last,
        gap,
        root,
        folder: root.dir.clone(),
        names: Vec::new(),
        ahead: VecDeque::new(),
        followed: 0,
        made: MadeFolders::default(),
    };
    walk.put_ahead(rest, path);
    walk.go()
}

fn check(path: &Path) -> Result<(), HostError> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() > LONGEST_PATH {
        let why = format!("the path is too long: {} bytes", bytes.len());
        return Err(HostError::Other(why.into()));
    }
    if bytes.contains(&0) {
        return Err(HostError::Other("the path contains a NUL".into()));
    }
    match path.is_absolute() {
        true => Ok(()),
        false => Err(refused(path, "is not an absolute path")),
    }
}

/// One step of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Down(OsString),
    Up,
    /// Stay here, which must be a folder.
    Stay,
}

struct Walk<'a> {
    roots: &'a Roots,
    asked: &'a Path,
    links: Links,
    last: LastLink,
    gap: Gap,
    root: &'a Root,
    folder: Arc<Dir>,
    names: Vec<OsString>,
    ahead: VecDeque<Step>,
    followed: usize,
    made: MadeFolders,
}

impl Walk<'_> {
    fn go(mut self) -> Result<Arrival, HostError> {
        while let Some(step) = self.ahead.pop_front() {
            let arrival = match step {
                Step::Stay => None,
                Step::Up => self.climb().map(|()| None)?,
                Step::Down(name) if self.ahead.is_empty() => self.arrive(name)?,
                Step::Down(name) => self.descend(name)?,
            };
            if let Some(arrival) = arrival {
                return Ok(arrival);
            }
        }
        Ok(Arrival::Folder(self.here()))
    }

    /// The last name of the path.
    fn arrive(&mut self, name: OsString) -> Result<Option<Arrival>, HostError> {
        let found = match self.folder.symlink_metadata(&name) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(self.asked, error)),
        };
        let is_link = found.as_ref().is_some_and(Metadata::is_symlink);
        if is_link && self.last == LastLink::Followed {
            return self.follow(&name).map(|()| None);
        }
        Ok(Some(Arrival::Name(Box::new(Spot {
            folder: self.folder.clone(),
            path: self.here().join(&name),
            name,
            found,
            made: std::mem::take(&mut self.made),
        }))))
    }

    fn descend(&mut self, name: OsString) -> Result<Option<Arrival>, HostError> {
        match self.enter(&name) {
            Ok(()) => Ok(None),
            Err(error) => self.pass(name, error),
        }
    }

    fn enter(&mut self, name: &OsStr) -> io::Result<()> {
        self.folder = Arc::new(self.folder.open_dir_nofollow(name)?);
        self.names.push(name.to_owned());
        Ok(())
    }

    /// What is not a folder is a link, or a gap, or in the way.
    fn pass(&mut self, name: OsString, error: io::Error) -> Result<Option<Arrival>, HostError> {
        match self.folder.symlink_metadata(&name) {
            Ok(found) if found.is_symlink() => self.follow(&name).map(|()| None),
            Ok(found) if found.is_dir() => Err(failed(self.asked, error)),
            Ok(_) => Err(refused(self.asked, "leads through what is not a folder")),
            Err(gone) if gone.kind() == io::ErrorKind::NotFound => self.bridge(name),
            Err(other) => Err(failed(self.asked, other)),
        }
    }

    /// What comes after a gap is known by its name only, so there is no way back up from it.
    fn bridge(&mut self, name: OsString) -> Result<Option<Arrival>, HostError> {
        let missing = || HostError::Missing(self.asked.to_owned());
        if self.ahead.contains(&Step::Up) {
            return Err(missing());
        }
        match self.gap {
            Gap::Fails => Err(missing()),
            Gap::Imagined => Ok(Some(Arrival::Nowhere(self.imagine(name)))),
            Gap::Filled => {
                let made = self.made.make(&self.folder, &name);
                made.and_then(|()| self.enter(&name))
                    .map_err(|error| failed(self.asked, error))?;
                Ok(None)
            }
        }
    }

    fn imagine(&self, name: OsString) -> PathBuf {
        let mut path = self.here().join(name);
        for step in &self.ahead {
            if let Step::Down(name) = step {
                path.push(name);
            }
        }
        path
    }

    fn follow(&mut self, name: &OsStr) -> Result<(), HostError> {
        if self.links == Links::Refused {
            return Err(HostError::Changed(self.asked.to_owned()));
        }
        self.followed += 1;
        if self.followed > MOST_LINKS {
            return Err(refused(self.asked, "leads through too many links"));
        }
        if leads_by_magic(&self.folder) {
            return Err(refused(self.asked, "leads through a link of the system"));
        }
        let target = self.folder.read_link_contents(name);
        let target = target.map_err(|error| failed(self.asked, error))?;
        if target.is_absolute() {
            return self.start_over(target);
        }
        self.put_ahead(&target, &target);
        Ok(())
    }

    /// Up is where the names say, found again from a root: a handle's own parent may be anywhere.
    fn climb(&mut self) -> Result<(), HostError> {
        let base = match self.names.pop() {
            Some(_) => self.here(),
            None => self.root.path.parent().unwrap_or(&self.root.path).into(),
        };
        // What is above something is a folder.
        if self.ahead.is_empty() {
            self.ahead.push_back(Step::Stay);
        }
        self.start_over(base)
    }

    /// Goes on from an absolute path, if a root contains what results.
    fn start_over(&mut self, mut path: PathBuf) -> Result<(), HostError> {
        for step in self.ahead.drain(..) {
            match step {
                Step::Down(name) => path.push(name),
                Step::Up => path.push(".."),
                Step::Stay => path.push("."),
            }
        }
        let found = self.roots.find(&path).ok_or_else(|| outside(self.asked));
        let (root, rest) = found?;
        self.root = root;
        self.folder = root.dir.clone();
        self.names.clear();
        self.put_ahead(rest, &path);
        Ok(())
    }

    /// Puts steps before those that are left. How the path ends is read off the whole of it.
    fn put_ahead(&mut self, path: &Path, whole: &Path) {
        if ends_like_a_folder(whole) {
            self.ahead.push_front(Step::Stay);
        }
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.ahead.push_front(Step::Down(name.to_owned())),
                Component::ParentDir => self.ahead.push_front(Step::Up),
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
    }

    fn here(&self) -> PathBuf {
        let mut path = self.root.path.clone();
        path.extend(&self.names);
        path
    }
}

/// The standard library drops these endings, and with them that a folder is meant.
fn ends_like_a_folder(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

/// Links of procfs lead to what a process holds, whatever their text says.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn leads_by_magic(folder: &Dir) -> bool {
    // A folder that does not say what it is on is not trusted.
    rustix::fs::fstatfs(folder).map_or(true, |on| on.f_type == rustix::fs::PROC_SUPER_MAGIC)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn leads_by_magic(_folder: &Dir) -> bool {
    false
}
