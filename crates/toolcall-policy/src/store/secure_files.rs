//! Reads and writes the files that decide what is allowed.
//! It rejects files that another user could have written, and anything but regular files.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use tempfile::NamedTempFile;

use crate::error::PolicyError;

/// The size in bytes above which a file is rejected.
const LONGEST_FILE: u64 = 4 * 1024 * 1024;

/// How long to wait for another process to release the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Who owns a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The user: no other user may be able to write it. It may be a symlink, as into a dotfiles directory.
    User,
    /// The workspace: anyone may have written it, so it needs trust. It must not be a symlink.
    Workspace,
}

/// Reads a file of the user's own, such as settings. Returns `None` if it does not exist, and an error
/// if another user could have written it.
pub fn read_own(path: &Path) -> Result<Option<String>, PolicyError> {
    read(path, Owner::User)
}

/// Returns the text of a file, or `None` if it does not exist.
pub(super) fn read(path: &Path, owner: Owner) -> Result<Option<String>, PolicyError> {
    let file = match open_plain(path, owner) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(file_error(
            path,
            "it is not a plain file",
            "put a file there",
        ));
    }
    if owner == Owner::User {
        check_permissions(path, &metadata)?;
    }
    text(path, file).map(Some)
}

/// Replaces a file atomically: readers see either the old content or the new.
pub(super) fn write(path: &Path, text: &str) -> Result<(), PolicyError> {
    let directory = path.parent().unwrap_or(path);
    let written = create_private_dir(directory).and_then(|()| {
        let mut file = NamedTempFile::new_in(directory)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| unwritable(path, &error))
}

/// Locks a directory until the returned file is dropped. Other processes of this program wait for it.
pub(super) fn lock(directory: &Path) -> Result<File, PolicyError> {
    let path = directory.join(".lock");
    let opened = create_private_dir(directory).and_then(|()| {
        let mut options = File::options();
        options.create(true).truncate(false).write(true).open(&path)
    });
    let file = opened.map_err(|error| unwritable(&path, &error))?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_TIMEOUT => {
                std::thread::sleep(LOCK_RETRY_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => {
                let problem = "another process has kept it locked for five seconds";
                return Err(file_error(&path, problem, "end that process and try again"));
            }
            Err(TryLockError::Error(error)) => return Err(unwritable(&path, &error)),
        }
    }
}

/// Opens a file without blocking on a FIFO and without acquiring a terminal.
fn open_plain(path: &Path, owner: Owner) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let flags = match owner {
        Owner::User => flags,
        Owner::Workspace => flags | OFlags::NOFOLLOW,
    };
    Ok(File::from(open(path, flags, Mode::empty())?))
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn check_permissions(path: &Path, metadata: &fs::Metadata) -> Result<(), PolicyError> {
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own && metadata.uid() != 0 {
        let advice = "own it yourself (`chown`), or remove it";
        return Err(file_error(path, "the file belongs to another user", advice));
    }
    if metadata.mode() & 0o022 != 0 {
        let advice = format!("run `chmod go-w '{}'`", path.display());
        return Err(file_error(path, "others may write this file", &advice));
    }
    Ok(())
}

fn text(path: &Path, file: File) -> Result<String, PolicyError> {
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(file_error(path, "it is too long", "keep it under 4 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| file_error(path, "it is not UTF-8", "save it as UTF-8"))
}

fn create_private_dir(directory: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
}

fn unreadable(path: &Path, error: &io::Error) -> PolicyError {
    let problem = format!("it cannot be read: {error}");
    file_error(path, &problem, "make it a readable file, or remove it")
}

fn unwritable(path: &Path, error: &io::Error) -> PolicyError {
    let problem = format!("it cannot be written: {error}");
    file_error(path, &problem, "make the directory writable for yourself")
}

fn file_error(path: &Path, problem: &str, advice: &str) -> PolicyError {
    PolicyError::of_file(path, problem, advice)
}
