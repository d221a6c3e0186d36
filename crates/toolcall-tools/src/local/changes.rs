//! Changes to one file: adding, modifying, deleting.
//! It changes no file that differs from what the edit shows, and never leaves a change half made.

use std::io::Write as _;
use std::path::Path;

use cap_std::fs::{Metadata, MetadataExt as _};
use toolcall::{AppliedEdit, FileBody, HostError};

use super::errors::{host_error, path_error};
use super::files::Files;
use super::inspecting::inspect_directory;
use super::path_walk::{EntryLocation, FinalSymlink, MissingDirectory};
use super::temporary::{TemporaryFile, sync_directory};

impl Files {
    pub(super) fn add(&self, path: &Path, after: &FileBody) -> Result<(), HostError> {
        let text = writable(path, after)?;
        let mut location = self.locate(path, FinalSymlink::Itself, MissingDirectory::Create)?;
        if location.found.is_some() {
            return Err(HostError::Exists(path.to_owned()));
        }
        let written = TemporaryFile::create(&location.dir, 0o666).and_then(|mut new| {
            new.file.write_all(text.as_bytes())?;
            new.persist_new(&location.name, self.durability)
        });
        written.map_err(|error| host_error(path, error))?;
        location.created.keep();
        Ok(())
    }

    /// Replaces the content of a file. A symlink is followed: its target changes, and the symlink
    /// stays. A hard link to the same file keeps the old content, because it may lie outside.
    pub(super) fn modify(
        &self,
        path: &Path,
        before: &FileBody,
        after: &FileBody,
    ) -> Result<(), HostError> {
        let text = writable(path, after)?;
        let location = self.locate(path, FinalSymlink::Followed, MissingDirectory::Fail)?;
        let mut opened = location.open(path)?;
        opened.require_body(before, self.read_limit, path)?;
        require_writable(&opened.metadata, path)?;
        self.replace(&location, &opened.metadata, text, path)
    }

    fn replace(
        &self,
        location: &EntryLocation,
        known: &Metadata,
        text: &str,
        path: &Path,
    ) -> Result<(), HostError> {
        let host_error = |error| host_error(path, error);
        // No other user may read it before it has the permissions of the original.
        let mut new = TemporaryFile::create(&location.dir, 0o600).map_err(host_error)?;
        new.file.write_all(text.as_bytes()).map_err(host_error)?;
        new.copy_permissions_from(known).map_err(host_error)?;
        new.sync(self.durability).map_err(host_error)?;
        // As late as possible, because writing took time.
        let _lock = self.apply_lock.lock();
        location.require_unchanged(known, path)?;
        new.persist_over(&location.name, self.durability)
            .map_err(host_error)
    }

    /// Removes a file, a symlink (never its target), or a directory with everything in it. Content
    /// that the edit does not hold is moved to the trash.
    pub(super) fn delete(&self, path: &Path, before: &FileBody) -> Result<AppliedEdit, HostError> {
        let location = self.locate(path, FinalSymlink::Itself, MissingDirectory::Fail)?;
        let missing = || HostError::Missing(path.to_owned());
        let found = location.found.as_ref().ok_or_else(missing)?;
        if found.is_symlink() {
            self.require_symlink(&location, before, path)?;
            return self.remove(&location, found, path);
        }
        match before {
            FileBody::Text(_) => {
                let mut opened = location.open(path)?;
                opened.require_body(before, self.read_limit, path)?;
                self.remove(&location, &opened.metadata, path)
            }
            FileBody::Binary { .. } => {
                let mut opened = location.open(path)?;
                opened.require_body(before, self.read_limit, path)?;
                self.move_to_trash(&location, path)
            }
            FileBody::Folder { .. } if inspect_directory(&location, path)? == *before => {
                self.move_to_trash(&location, path)
            }
            FileBody::Folder { .. } => Err(HostError::Changed(path.to_owned())),
        }
    }

    fn move_to_trash(
        &self,
        location: &EntryLocation,
        path: &Path,
    ) -> Result<AppliedEdit, HostError> {
        let why = "is not text, and there is no place to keep it for undo";
        let trash = self.trash.as_ref().ok_or_else(|| path_error(path, why))?;
        let kept = trash.take(location, path)?;
        sync_directory(&location.dir, self.durability);
        Ok(AppliedEdit { kept: Some(kept) })
    }

    fn remove(
        &self,
        location: &EntryLocation,
        known: &Metadata,
        path: &Path,
    ) -> Result<AppliedEdit, HostError> {
        let _lock = self.apply_lock.lock();
        location.require_unchanged(known, path)?;
        let removed = location.dir.remove_file(&location.name);
        removed.map_err(|error| host_error(path, error))?;
        sync_directory(&location.dir, self.durability);
        Ok(AppliedEdit::default())
    }

    /// Fails if a symlink is not as the edit shows it: by the content of its target or, where that
    /// cannot be read, by its own text, which is what git stores.
    fn require_symlink(
        &self,
        location: &EntryLocation,
        before: &FileBody,
        path: &Path,
    ) -> Result<(), HostError> {
        let target = location.dir.read_link_contents(&location.name);
        let target = target.map_err(|error| host_error(path, error))?;
        let is_own = super::reading::body(target.into_os_string().into_encoded_bytes()) == *before;
        if is_own || self.read(path).is_ok_and(|now| now == *before) {
            Ok(())
        } else {
            Err(HostError::Changed(path.to_owned()))
        }
    }
}

fn writable<'b>(path: &Path, after: &'b FileBody) -> Result<&'b str, HostError> {
    match after {
        FileBody::Text(text) => Ok(text),
        FileBody::Binary { .. } | FileBody::Folder { .. } => Err(path_error(
            path,
            "cannot be written: of content that is not text only the size is known",
        )),
    }
}

/// Fails if a file is read-only. Write permission on its directory would suffice to replace it, but
/// its mode says that it is not to be changed.
fn require_writable(known: &Metadata, path: &Path) -> Result<(), HostError> {
    match known.mode() & 0o222 {
        0 => Err(path_error(path, "is read-only")),
        _ => Ok(()),
    }
}
