//! The folders a session works in, each held by a handle from the beginning.
//! A path is matched by its components, never as text, and nothing is opened by name after that.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _};

/// One folder of the session.
#[derive(Debug)]
pub(super) struct Root {
    /// Where it was when it was opened, with every link followed.
    pub(super) path: PathBuf,
    /// The folder itself, wherever it is now.
    pub(super) dir: Arc<Dir>,
    /// How it was given: callers may go on to name it so.
    given: PathBuf,
}

/// Which folder a root is, so that another process can open the same one and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootId {
    /// How it was given.
    pub path: PathBuf,
    /// The number of its file system.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// Every folder of the session.
#[derive(Debug)]
pub(super) struct Roots(Vec<Root>);

impl Roots {
    /// Opens every folder. This is the one place where names outside of a root are looked up.
    pub(super) fn open(paths: &[PathBuf]) -> io::Result<Self> {
        paths
            .iter()
            .map(|path| open(path))
            .collect::<io::Result<_>>()
            .map(Self)
    }

    /// Which folders they are.
    pub(super) fn ids(&self) -> io::Result<Vec<RootId>> {
        self.0.iter().map(Root::id).collect()
    }

    /// The handles of the folders.
    #[cfg(all(target_os = "linux", feature = "sandbox"))]
    pub(super) fn handles(&self) -> impl Iterator<Item = &Dir> {
        self.0.iter().map(|root| &*root.dir)
    }

    /// The innermost root that contains the path, and the way on from there.
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

/// The handle came first, so the name found for it after that may be that of another folder.
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
