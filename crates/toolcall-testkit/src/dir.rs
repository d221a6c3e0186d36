//! A temporary directory of a test. It must not touch anything outside of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A directory that is deleted when this is dropped.
#[derive(Debug)]
pub struct TestDir {
    base: PathBuf,
    // Held, because the directory goes with it.
    _temp: TempDir,
}

impl TestDir {
    /// Creates an empty directory.
    pub fn create() -> Self {
        let temp = TempDir::new().expect("a temporary directory");
        let base = temp.path().canonicalize().expect("its path");
        Self { base, _temp: temp }
    }

    /// Creates a directory with these files, each with its text.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let dir = Self::create();
        for (path, text) in files {
            dir.write(path, text);
        }
        dir
    }

    /// The directory itself, without symlinks in its path.
    pub fn path(&self) -> &Path {
        &self.base
    }

    /// A path in the directory; a leading slash means the directory, too.
    pub fn at(&self, path: &str) -> PathBuf {
        self.base.join(path.trim_start_matches('/'))
    }

    /// Creates a directory and those above it.
    pub fn mkdir(&self, path: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(&path).expect("a directory");
        path
    }

    /// Writes a file and creates the directories above it.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(&path, content).expect("a file");
        path
    }

    /// The same for a file that its owner alone may read and write.
    #[cfg(unix)]
    pub fn write_private(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.write(path, content);
        set_mode(&path, 0o600);
        path
    }

    /// Creates a symlink and the directories above it.
    #[cfg(unix)]
    pub fn symlink(&self, path: &str, target: impl AsRef<Path>) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::os::unix::fs::symlink(target, &path).expect("a symlink");
        path
    }

    /// The text of a file, if there is one.
    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }

    /// Whether there is something at this path.
    pub fn has(&self, path: &str) -> bool {
        self.at(path).exists()
    }

    /// Replaces the name of the directory, which differs from run to run.
    pub fn steady(&self, text: &str, name: &str) -> String {
        text.replace(self.base.to_str().expect("a path in UTF-8"), name)
    }

    /// A program that runs in `project`, has `home` as its home, and sees nothing else of the environment but `PATH`.
    pub fn command(&self, program: &str, args: &[&str]) -> Command {
        let mut command = isolated(program, args);
        command
            .env("HOME", self.mkdir("home"))
            .current_dir(self.mkdir("project"));
        command
    }
}

/// A program that sees nothing of the environment but `PATH`, and reads nothing.
pub fn isolated(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.args(args).env_clear().env("PATH", path);
    command.stdin(Stdio::null());
    command
}

/// Sets the permissions of a file.
#[cfg(unix)]
pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("permissions");
}

/// The names in a directory, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a directory");
    let name = |entry: fs::DirEntry| {
        entry
            .file_name()
            .as_encoded_bytes()
            .escape_ascii()
            .to_string()
    };
    let mut names: Vec<_> = entries
        .map(|entry| name(entry.expect("an entry")))
        .collect();
    names.sort();
    names
}

/// Every path in a directory and below, with its kind, permissions, time and content.
#[cfg(unix)]
pub fn snapshot(dir: &Path) -> BTreeMap<PathBuf, String> {
    use std::os::unix::fs::MetadataExt as _;
    let mut all = BTreeMap::new();
    let mut ahead = vec![dir.to_owned()];
    while let Some(path) = ahead.pop() {
        let metadata = fs::symlink_metadata(&path).expect("metadata");
        if metadata.is_dir() {
            // One that is closed to us shows itself only.
            let entries = fs::read_dir(&path).into_iter().flatten();
            ahead.extend(entries.map(|entry| entry.expect("an entry").path()));
        }
        let (mode, time) = (metadata.mode(), metadata.mtime());
        let (nanoseconds, content) = (metadata.mtime_nsec(), content(&path, &metadata));
        all.insert(path, format!("{mode:o} {time}:{nanoseconds:09} {content}"));
    }
    all
}

/// What is large is sparse in these tests, and its size says enough.
#[cfg(unix)]
fn content(path: &Path, metadata: &fs::Metadata) -> String {
    if metadata.is_symlink() {
        let target = fs::read_link(path).expect("a symlink");
        format!("-> {}", target.display())
    } else if metadata.is_file() && metadata.len() < 1 << 20 {
        let bytes = fs::read(path).expect("a file");
        bytes.escape_ascii().to_string()
    } else {
        format!("{} bytes", metadata.len())
    }
}
