//! A temporary piece of the file system: a root, what lies outside of it, and what became of both.
//! It judges nothing.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcall::{FileBody, HostError};
use toolcall_testkit::dir::{TestDir, snapshot};
use toolcall_tools::local::{Durability, Files};

/// A folder `w` with the root `proj` in it and everything else beside that.
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

    /// A path in the root.
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

impl std::ops::Deref for Ground {
    type Target = TestDir;

    fn deref(&self) -> &TestDir {
        &self.0
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

/// The text of a file.
pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}
