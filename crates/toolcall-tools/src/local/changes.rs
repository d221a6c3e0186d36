//! Changes to one file: new, other content, gone.
//! Nothing is changed that is not as it was shown, and nothing is ever half changed.

use std::io::Write as _;
use std::path::Path;

use cap_std::fs::{Metadata, MetadataExt as _};
use toolcall::{Applied, FileBody, HostError};

use super::failure::{failed, refused};
use super::files::Files;
use super::inspecting::inspect_folder;
use super::temporary::{Temporary, settle_folder};
use super::walk::{Gap, LastLink, Spot};

impl Files {
    pub(super) fn add(&self, path: &Path, after: &FileBody) -> Result<(), HostError> {
        let text = writable(path, after)?;
        let mut spot = self.spot(path, LastLink::Meant, Gap::Filled)?;
        if spot.found.is_some() {
            return Err(HostError::Exists(path.to_owned()));
        }
        let written = Temporary::create(&spot.folder, 0o666).and_then(|mut new| {
            new.file.write_all(text.as_bytes())?;
            new.place_new(&spot.name, self.durability)
        });
        written.map_err(|error| failed(path, error))?;
        spot.made.keep();
        Ok(())
    }

    /// A link stands for what it leads to: that is changed, and the link stays. Another name of the
    /// same file (a hard link) keeps the old content: it may lie outside.
    pub(super) fn modify(
        &self,
        path: &Path,
        before: &FileBody,
        after: &FileBody,
    ) -> Result<(), HostError> {
        let text = writable(path, after)?;
        let spot = self.spot(path, LastLink::Followed, Gap::Fails)?;
        let mut opened = spot.open(path)?;
        opened.require_body(before, self.read_limit, path)?;
        require_writable(&opened.metadata, path)?;
        self.replace(&spot, &opened.metadata, text, path)
    }

    fn replace(
        &self,
        spot: &Spot,
        known: &Metadata,
        text: &str,
        path: &Path,
    ) -> Result<(), HostError> {
        let failed = |error| failed(path, error);
        // Nobody else reads it before it has the rights of the original.
        let mut new = Temporary::create(&spot.folder, 0o600).map_err(failed)?;
        new.file.write_all(text.as_bytes()).map_err(failed)?;
        new.take_rights_of(known).map_err(failed)?;
        new.settle(self.durability).map_err(failed)?;
        // As late as can be: writing took its time.
        let _turn = self.turn.lock();
        spot.require_still(known, path)?;
        new.place_over(&spot.name, self.durability).map_err(failed)
    }

    /// Removes a file, or a link itself and never what it leads to, or a folder with everything in
    /// it. What the edit does not hold is put away.
    pub(super) fn delete(&self, path: &Path, before: &FileBody) -> Result<Applied, HostError> {
        let spot = self.spot(path, LastLink::Meant, Gap::Fails)?;
        let missing = || HostError::Missing(path.to_owned());
        let found = spot.found.as_ref().ok_or_else(missing)?;
        if found.is_symlink() {
            self.require_link(&spot, before, path)?;
            return self.remove(&spot, found, path);
        }
        match before {
            FileBody::Text(_) => {
                let mut opened = spot.open(path)?;
                opened.require_body(before, self.read_limit, path)?;
                self.remove(&spot, &opened.metadata, path)
            }
            FileBody::Binary { .. } => {
                let mut opened = spot.open(path)?;
                opened.require_body(before, self.read_limit, path)?;
                self.put_away(&spot, path)
            }
            FileBody::Folder { .. } if inspect_folder(&spot, path)? == *before => {
                self.put_away(&spot, path)
            }
            FileBody::Folder { .. } => Err(HostError::Changed(path.to_owned())),
        }
    }

    fn put_away(&self, spot: &Spot, path: &Path) -> Result<Applied, HostError> {
        let why = "is not text, and there is no place to keep it for undo";
        let bin = self.bin.as_ref().ok_or_else(|| refused(path, why))?;
        let kept = bin.take(spot, path)?;
        settle_folder(&spot.folder, self.durability);
        Ok(Applied { kept: Some(kept) })
    }

    fn remove(&self, spot: &Spot, known: &Metadata, path: &Path) -> Result<Applied, HostError> {
        let _turn = self.turn.lock();
        spot.require_still(known, path)?;
        let removed = spot.folder.remove_file(&spot.name);
        removed.map_err(|error| failed(path, error))?;
        settle_folder(&spot.folder, self.durability);
        Ok(Applied::default())
    }

    /// A link is shown as what it leads to, or, where that cannot be read, as its own text: what
    /// git keeps of it.
    fn require_link(&self, spot: &Spot, before: &FileBody, path: &Path) -> Result<(), HostError> {
        let target = spot.folder.read_link_contents(&spot.name);
        let target = target.map_err(|error| failed(path, error))?;
        let is_own = super::reading::body(target.into_os_string().into_encoded_bytes()) == *before;
        match is_own || self.read(path).is_ok_and(|now| now == *before) {
            true => Ok(()),
            false => Err(HostError::Changed(path.to_owned())),
        }
    }
}

fn writable<'b>(path: &Path, after: &'b FileBody) -> Result<&'b str, HostError> {
    match after {
        FileBody::Text(text) => Ok(text),
        FileBody::Binary { .. } | FileBody::Folder { .. } => Err(refused(
            path,
            "cannot be written: of content that is not text only the size is known",
        )),
    }
}

/// Whoever may change the folder could put a new file here all the same, but a file that nobody
/// may write says that it is not to be changed.
fn require_writable(known: &Metadata, path: &Path) -> Result<(), HostError> {
    match known.mode() & 0o222 {
        0 => Err(refused(path, "is read-only")),
        _ => Ok(()),
    }
}
