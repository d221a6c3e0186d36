//! A temporary piece of the file system: a root, what lies outside of it, and what became of both.
//! It judges nothing.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolcall::{FileBody, HostError};
use toolcall_tools::local::{Durability, Files};

/// A folder `w` with the root `proj` in it and everything else beside that.
pub(crate) struct Ground {
    temp: TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let temp = TempDir::new().unwrap();
        let ground = Self { temp };
        fs::create_dir_all(ground.root()).unwrap();
        fs::create_dir_all(ground.at("/w/outside")).unwrap();
        fs::write(ground.at("/w/outside/canary"), "CANARY").unwrap();
        ground
    }

    /// An absolute path within the ground.
    pub(crate) fn at(&self, path: &str) -> PathBuf {
        let base = self.temp.path().canonicalize().unwrap();
        base.join(path.trim_start_matches('/'))
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("/w/proj")
    }

    /// A path in the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn files(&self) -> Files {
        open(&[self.root()])
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        path
    }

    /// Everything outside the root, with its content and what the system knows of it.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut all = snapshot(&self.at("/"));
        all.retain(|path, _| !path.starts_with(self.root()));
        // The folder of the root sees the root come and go, which is no change of its own.
        all.remove(&self.at("/w"));
        all
    }

    /// Everything in the root.
    pub(crate) fn inside(&self) -> BTreeMap<PathBuf, String> {
        snapshot(&self.root())
    }
}

/// Without waiting for the disk: what is tested here is not its loss of power.
pub(crate) fn open(roots: &[PathBuf]) -> Files {
    let files = Files::open(roots).unwrap();
    files.with_durability(Durability::Cached)
}

pub(crate) fn text(text: &str) -> FileBody {
    FileBody::Text(text.into())
}

/// The message of an error that has no kind of its own.
pub(crate) fn message<T: std::fmt::Debug>(result: Result<T, HostError>) -> String {
    match result.unwrap_err() {
        HostError::Other(message) => message.to_string(),
        other => panic!("{other:?} has a kind"),
    }
}

/// Every path below a folder, with kind, rights, times and content.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut all = BTreeMap::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(path) = ahead.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            // One that is closed to us shows itself only.
            let entries = fs::read_dir(&path).into_iter().flatten();
            ahead.extend(entries.map(|entry| entry.unwrap().path()));
        }
        let line = format!(
            "{:o} {}:{:09} {}",
            metadata.mode(),
            metadata.mtime(),
            metadata.mtime_nsec(),
            content(&path, &metadata)
        );
        all.insert(path, line);
    }
    all
}

/// What is large is sparse here, and its size says enough.
fn content(path: &Path, metadata: &fs::Metadata) -> String {
    if metadata.is_symlink() {
        format!("-> {}", fs::read_link(path).unwrap().display())
    } else if metadata.is_file() && metadata.len() < 1 << 20 {
        fs::read(path).unwrap().escape_ascii().to_string()
    } else {
        format!("{} bytes", metadata.len())
    }
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().as_bytes().escape_ascii().to_string())
        .collect();
    names.sort();
    names
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}
