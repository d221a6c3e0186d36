//! Reads regular files: opened without blocking, checked to be regular, and never beyond a limit.
//! It changes nothing.

use std::io::{Read as _, Seek as _, SeekFrom, Write};
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{File, Metadata, MetadataExt as _, OpenOptions};
use sha2::{Digest as _, Sha256};
use toolcall::{Digest, FileBody, HostError};

use super::errors::{host_error, not_a_file_error};
use super::path_walk::EntryLocation;

/// A part of a file, and the size of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePart {
    /// The bytes that were read.
    pub bytes: Vec<u8>,
    /// The size of the whole file.
    pub size: u64,
}

/// A regular file that is open for reading. While it is open, no other file gets its inode.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// The file.
    pub(super) file: File,
    /// Its metadata when it was opened.
    pub(super) metadata: Metadata,
}

/// Identifies a file and its version by device, inode, size and times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileFingerprint {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl From<&Metadata> for FileFingerprint {
    fn from(metadata: &Metadata) -> Self {
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl EntryLocation {
    /// Opens a regular file. Opening a pipe or a device can have side effects, so the type is checked
    /// before opening and again after.
    pub(super) fn open(&self, requested: &Path) -> Result<OpenFile, HostError> {
        let missing = || HostError::Missing(requested.to_owned());
        require_regular_file(self.found.as_ref().ok_or_else(missing)?, requested)?;
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let opened = self.dir.open_with(&self.name, &options);
        let file = opened.map_err(|error| host_error(requested, error))?;
        let metadata = file
            .metadata()
            .map_err(|error| host_error(requested, error))?;
        require_regular_file(&metadata, requested)?;
        Ok(OpenFile { file, metadata })
    }

    /// Fails if the name no longer leads to the same file in the same version.
    pub(super) fn require_unchanged(
        &self,
        known: &Metadata,
        requested: &Path,
    ) -> Result<(), HostError> {
        let now = self.dir.symlink_metadata(&self.name);
        let now = now.map_err(|error| host_error(requested, error))?;
        if FileFingerprint::from(&now) == FileFingerprint::from(known) {
            Ok(())
        } else {
            Err(HostError::Changed(requested.to_owned()))
        }
    }
}

pub(super) fn require_regular_file(metadata: &Metadata, requested: &Path) -> Result<(), HostError> {
    if metadata.is_file() {
        Ok(())
    } else {
        Err(not_a_file_error(requested, metadata.file_type()))
    }
}

impl OpenFile {
    /// Reads at most `limit` bytes from an offset. The limit matters because a file may grow while it
    /// is read.
    pub(super) fn read_at(&mut self, from: u64, limit: u64) -> std::io::Result<FilePart> {
        let left = self.metadata.size().saturating_sub(from).min(limit);
        let mut bytes = Vec::with_capacity(usize::try_from(left).unwrap_or(0));
        self.file.seek(SeekFrom::Start(from))?;
        (&mut self.file).take(limit).read_to_end(&mut bytes)?;
        let seen = match bytes.len() as u64 {
            0 => 0,
            read => from + read,
        };
        let size = self.metadata.size().max(seen);
        Ok(FilePart { bytes, size })
    }

    /// Returns the content, or only size and digest of a file that is larger than the limit.
    pub(super) fn body(&mut self, limit: u64) -> std::io::Result<FileBody> {
        let size = self.metadata.size();
        if size <= limit {
            return Ok(body(self.read_at(0, size + 1)?.bytes));
        }
        self.file.seek(SeekFrom::Start(0))?;
        let mut digest = DigestWriter(Sha256::new());
        let bytes = std::io::copy(&mut self.file, &mut digest)?;
        Ok(FileBody::Binary {
            bytes,
            digest: Some(Digest(digest.0.finalize().into())),
        })
    }

    /// Fails if the content is not the expected one.
    pub(super) fn require_body(
        &mut self,
        before: &FileBody,
        limit: u64,
        requested: &Path,
    ) -> Result<(), HostError> {
        let is_same = match before {
            FileBody::Text(text) if self.metadata.size() != text.len() as u64 => false,
            FileBody::Text(_) | FileBody::Binary { .. } | FileBody::Folder { .. } => {
                self.body(limit)
                    .map_err(|error| host_error(requested, error))?
                    == *before
            }
        };
        if is_same {
            Ok(())
        } else {
            Err(HostError::Changed(requested.to_owned()))
        }
    }
}

/// A writer that only computes a digest.
struct DigestWriter(Sha256);

impl Write for DigestWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Returns bytes as text if they are UTF-8, else only their size and digest.
pub(super) fn body(bytes: Vec<u8>) -> FileBody {
    match String::from_utf8(bytes) {
        Ok(text) => FileBody::Text(text.into()),
        Err(not_text) => FileBody::Binary {
            bytes: not_text.as_bytes().len() as u64,
            digest: Some(Digest::of(not_text.as_bytes())),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::local::Files;
    use crate::local::path_walk::{FinalSymlink, MissingDirectory};

    /// Another process changes the file between its check and its change.
    #[test]
    fn a_file_that_changed_meanwhile_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let path = root.join("f");
        let files = Files::open(&[root]).unwrap();
        let meanwhile: [fn(&Path); 3] = [
            |path| fs::write(path, "2").unwrap(),
            |path| {
                fs::write(path.with_extension("new"), "1").unwrap();
                fs::rename(path.with_extension("new"), path).unwrap();
            },
            |path| {
                fs::remove_file(path).unwrap();
                std::os::unix::fs::symlink("elsewhere", path).unwrap();
            },
        ];
        for change in meanwhile {
            fs::write(&path, "1").unwrap();
            let location = files
                .locate(&path, FinalSymlink::Followed, MissingDirectory::Fail)
                .unwrap();
            let opened = location.open(&path).unwrap();
            location.require_unchanged(&opened.metadata, &path).unwrap();
            change(&path);
            let changed = HostError::Changed(path.clone());
            assert_eq!(
                location.require_unchanged(&opened.metadata, &path),
                Err(changed)
            );
        }
    }

    /// What was a regular file when it was found is a symlink or a pipe when it is opened.
    #[test]
    fn what_was_swapped_before_it_was_opened_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (path, canary) = (root.join("f"), root.join("canary"));
        fs::write(&canary, "CANARY").unwrap();
        fs::write(&path, "1").unwrap();
        let files = Files::open(&[root]).unwrap();
        let location = files
            .locate(&path, FinalSymlink::Followed, MissingDirectory::Fail)
            .unwrap();
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("canary", &path).unwrap();
        location.open(&path).unwrap_err();
        fs::remove_file(&path).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).unwrap();
        let error = location.open(&path).unwrap_err().to_string();
        assert!(error.ends_with("is a pipe, not a file"), "{error}");
    }
}
