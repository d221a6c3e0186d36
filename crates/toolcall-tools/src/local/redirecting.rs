//! Files of redirects: opened beneath the roots, as they are, to be handed to a program.
//! Nothing but a regular file is opened, and none is emptied before that is known.

use std::fs::File;
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::OpenOptions;
use toolcall::{Access, HostError};

use super::failure::failed;
use super::files::Files;
use super::reading::require_file;
use super::walk::{Gap, LastLink, Spot};

impl Files {
    /// Opens a regular file as a redirect does. A link stands for what it leads to; no folder is
    /// made. What is written goes into the file itself, so every name of it shows the change.
    pub fn redirect(&self, path: &Path, access: Access) -> Result<File, HostError> {
        let spot = self.spot(path, LastLink::Followed, Gap::Fails)?;
        match access {
            Access::Read => Ok(spot.open(path)?.file.into_std()),
            Access::Append => spot.open_to_write(path, OpenOptions::new().append(true)),
            Access::Replace => {
                let file = spot.open_to_write(path, OpenOptions::new().write(true))?;
                file.set_len(0).map_err(|error| failed(path, error))?;
                Ok(file)
            }
        }
    }
}

impl Spot {
    fn open_to_write(&self, asked: &Path, options: &mut OpenOptions) -> Result<File, HostError> {
        if let Some(found) = &self.found {
            require_file(found, asked)?;
        }
        options.create(true).nonblock(true);
        let options = options.follow(FollowSymlinks::No);
        let opened = self.folder.open_with(&self.name, options);
        let file = opened.map_err(|error| failed(asked, error))?;
        let metadata = file.metadata().map_err(|error| failed(asked, error))?;
        require_file(&metadata, asked)?;
        Ok(file.into_std())
    }
}
