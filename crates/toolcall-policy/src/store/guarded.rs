//! Reading and writing the small files that decide what is allowed.
//! What somebody else could have written, or what is no plain file, is refused.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, open};
use tempfile::NamedTempFile;

use crate::error::PolicyError;

/// Longer files are not read.
const LONGEST_FILE: u64 = 4 * 1024 * 1024;

/// How long another process may hold the lock.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const BETWEEN_TRIES: Duration = Duration::from_millis(5);

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The person's: nobody else may write it. It may be a link, as in folders of dotfiles.
    Person,
    /// The workspace's: whoever wrote it, it is not taken on trust. It is no link.
    Workspace,
}

/// The text of a file of the person's, such as settings; none where there is no file. What somebody
/// else could have written is refused.
pub fn read_own(path: &Path) -> Result<Option<String>, PolicyError> {
    read(path, Owner::Person)
}

/// The text of a file; none where there is no file.
pub(super) fn read(path: &Path, owner: Owner) -> Result<Option<String>, PolicyError> {
    let file = match open_plain(path, owner) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    let metadata = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(fault(path, "it is not a plain file", "put a file there"));
    }
    if owner == Owner::Person {
        check_rights(path, &metadata)?;
    }
    text(path, file).map(Some)
}

/// Replaces a file as a whole, so that readers see the old one or the new one.
pub(super) fn write(path: &Path, text: &str) -> Result<(), PolicyError> {
    let folder = path.parent().unwrap_or(path);
    let written = private_folder(folder).and_then(|()| {
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map(drop).map_err(|error| error.error)
    });
    written.map_err(|error| unwritable(path, &error))
}

/// Holds the lock of a folder until it is dropped. Other processes of ours wait for it.
pub(super) fn lock(folder: &Path) -> Result<File, PolicyError> {
    let path = folder.join(".lock");
    let opened = private_folder(folder).and_then(|()| {
        let mut options = File::options();
        options.create(true).truncate(false).write(true).open(&path)
    });
    let file = opened.map_err(|error| unwritable(&path, &error))?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < LONGEST_WAIT => {
                std::thread::sleep(BETWEEN_TRIES);
            }
            Err(TryLockError::WouldBlock) => {
                let problem = "another process has kept it locked for five seconds";
                return Err(fault(&path, problem, "end that process and try again"));
            }
            Err(TryLockError::Error(error)) => return Err(unwritable(&path, &error)),
        }
    }
}

/// Never waits for the other end of a pipe, and takes no terminal.
fn open_plain(path: &Path, owner: Owner) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let flags = match owner {
        Owner::Person => flags,
        Owner::Workspace => flags | OFlags::NOFOLLOW,
    };
    Ok(File::from(open(path, flags, Mode::empty())?))
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn check_rights(path: &Path, metadata: &fs::Metadata) -> Result<(), PolicyError> {
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own && metadata.uid() != 0 {
        let advice = "own it yourself (`chown`), or take it away";
        return Err(fault(path, "the file belongs to somebody else", advice));
    }
    if metadata.mode() & 0o022 != 0 {
        let advice = format!("run `chmod go-w '{}'`", path.display());
        return Err(fault(path, "others may write this file", &advice));
    }
    Ok(())
}

fn text(path: &Path, file: File) -> Result<String, PolicyError> {
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_FILE + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(fault(path, "it is too long", "keep it under 4 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| fault(path, "it is not UTF-8", "save it as UTF-8"))
}

fn private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn unreadable(path: &Path, error: &io::Error) -> PolicyError {
    let problem = format!("it cannot be read: {error}");
    fault(path, &problem, "make it a readable file, or take it away")
}

fn unwritable(path: &Path, error: &io::Error) -> PolicyError {
    let problem = format!("it cannot be written: {error}");
    fault(path, &problem, "make the folder writable for yourself")
}

fn fault(path: &Path, problem: &str, advice: &str) -> PolicyError {
    PolicyError::of_file(path, problem, advice)
}
