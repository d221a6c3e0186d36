//! A temporary directory with a root, files outside of it, and snapshots of both.
//! It asserts nothing.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcall::{FileBody, HostError};
use toolcall_testkit::dir::{TestDir, snapshot};
use toolcall_tools::local::{FileDurability, Files};

/// A directory `w` with the root `proj` in it and the files outside next to it.
pub(crate) struct Ground(TestDir);

impl Ground {
    pub(crate) fn new() -> Self {
        let fixture = Self(TestDir::with(&[("/w/outside/canary", "CANARY")]));
        fixture.0.mkdir("/w/proj");
        fixture
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("/w/proj")
    }

    /// Returns a path in the root.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn files(&self) -> Files {
        open(&[self.root()])
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        self.0.write(&format!("w/proj/{path}"), content)
    }

    pub(crate) fn link(&self, path: &str, target: impl AsRef<Path>) -> PathBuf {
        self.symlink(&format!("w/proj/{path}"), target)
    }

    /// Returns everything outside the root, with content and metadata.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut all = snapshot(&self.at("/"));
        all.retain(|path, _| !path.starts_with(self.root()));
        // The parent of the root changes when the root is replaced, which is not a change outside.
        all.remove(&self.at("/w"));
        all
    }

    /// Returns everything in the root.
    pub(crate) fn inside(&self) -> BTreeMap<PathBuf, String> {
        snapshot(&self.root())
    }
}

impl std::ops::Deref for Ground {
    type Target = TestDir;

    fn deref(&self) -> &TestDir {
        &self.0
    }
}

/// Opens roots without syncing to the disk: a loss of power is not tested here.
pub(crate) fn open(roots: &[PathBuf]) -> Files {
    let files = Files::open(roots).unwrap();
    files.with_durability(FileDurability::Cached)
}

pub(crate) fn text(text: &str) -> FileBody {
    FileBody::Text(text.into())
}

/// Returns the message of a `HostError::Other`.
pub(crate) fn message<T: std::fmt::Debug>(result: Result<T, HostError>) -> String {
    match result.unwrap_err() {
        HostError::Other(message) => message.to_string(),
        other => panic!("{other:?} has a kind"),
    }
}

/// Reads a file as text.
pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
