//! The directories a session works in, each held by a handle from the start.
//! It matches paths by components, never as text, and opens nothing by name after that.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _};

/// A directory that the session works in.
#[derive(Debug)]
pub(super) struct Root {
    /// Its canonical path when it was opened.
    pub(super) path: PathBuf,
    /// The open directory, wherever it has been moved since.
    pub(super) dir: Arc<Dir>,
    /// The path it was opened by: callers may go on to use it.
    given: PathBuf,
}

/// The identity of a root, with which another process can open the same directory and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootId {
    /// The path it was opened by.
    pub path: PathBuf,
    /// The device number of its file system.
    pub device: u64,
    /// Its inode number.
    pub inode: u64,
}

/// The roots of a session.
#[derive(Debug)]
pub(super) struct Roots(Vec<Root>);

impl Roots {
    /// Opens every root. Only here are names outside of a root looked up.
    pub(super) fn open(paths: &[PathBuf]) -> io::Result<Self> {
        paths
            .iter()
            .map(|path| open(path))
            .collect::<io::Result<_>>()
            .map(Self)
    }

    /// Returns the identities of the roots.
    pub(super) fn ids(&self) -> io::Result<Vec<RootId>> {
        self.0.iter().map(Root::id).collect()
    }

    /// Returns the handles of the roots.
    #[cfg(all(target_os = "linux", feature = "sandbox"))]
    pub(super) fn handles(&self) -> impl Iterator<Item = &Dir> {
        self.0.iter().map(|root| &*root.dir)
    }

    /// Returns the innermost root that contains a path, and the rest of the path.
    pub(super) fn find<'p>(&self, path: &'p Path) -> Option<(&Root, &'p Path)> {
        let named = self.0.iter().flat_map(|root| {
            let rest = |name: &Path| path.strip_prefix(name).ok().map(|rest| (root, rest));
            [rest(&root.path), rest(&root.given)]
        });
        named
            .flatten()
            .min_by_key(|(_, rest)| rest.components().count())
    }
}

impl Root {
    fn id(&self) -> io::Result<RootId> {
        let held = self.dir.dir_metadata()?;
        Ok(RootId {
            path: self.given.clone(),
            device: held.dev(),
            inode: held.ino(),
        })
    }
}

fn open(given: &Path) -> io::Result<Root> {
    if !given.is_absolute() {
        let reason = format!("`{}` is not an absolute path", given.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let dir = Dir::open_ambient_dir(given, ambient_authority())?;
    let path = std::fs::canonicalize(given)?;
    require_same(&dir, &path)?;
    Ok(Root {
        path,
        dir: Arc::new(dir),
        given: given.to_owned(),
    })
}

/// Fails if the canonical path leads to another directory: it was looked up after the handle was
/// opened.
fn require_same(dir: &Dir, path: &Path) -> io::Result<()> {
    let (held, named) = (dir.dir_metadata()?, std::fs::metadata(path)?);
    let named = (
        std::os::unix::fs::MetadataExt::dev(&named),
        std::os::unix::fs::MetadataExt::ino(&named),
    );
    if (held.dev(), held.ino()) == named {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "`{}` was replaced while it was opened",
            path.display()
        )))
    }
}
