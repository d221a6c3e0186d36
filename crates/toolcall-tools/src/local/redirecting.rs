//! Opens the files of redirects beneath the roots, to be passed to a program.
//! It opens only regular files, and truncates none before it knows that.

use std::fs::File;
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::OpenOptions;
use toolcall::{Access, HostError};

use super::errors::host_error;
use super::files::Files;
use super::path_walk::{EntryLocation, FinalSymlink, MissingDirectory};
use super::reading::require_regular_file;

impl Files {
    /// Opens a regular file as a redirect of a shell does. Follows a symlink at the end of the path,
    /// and creates no directory. Writes go into the file in place, so hard links show the change.
    pub fn open_redirect(&self, path: &Path, access: Access) -> Result<File, HostError> {
        let location = self.locate(path, FinalSymlink::Followed, MissingDirectory::Fail)?;
        match access {
            Access::Read => Ok(location.open(path)?.file.into_std()),
            Access::Append => location.open_to_write(path, OpenOptions::new().append(true)),
            Access::Replace => {
                let file = location.open_to_write(path, OpenOptions::new().write(true))?;
                file.set_len(0).map_err(|error| host_error(path, error))?;
                Ok(file)
            }
        }
    }
}

impl EntryLocation {
    fn open_to_write(
        &self,
        requested: &Path,
        options: &mut OpenOptions,
    ) -> Result<File, HostError> {
        if let Some(found) = &self.found {
            require_regular_file(found, requested)?;
        }
        options.create(true).nonblock(true);
        let options = options.follow(FollowSymlinks::No);
        let opened = self.dir.open_with(&self.name, options);
        let file = opened.map_err(|error| host_error(requested, error))?;
        let metadata = file
            .metadata()
            .map_err(|error| host_error(requested, error))?;
        require_regular_file(&metadata, requested)?;
        Ok(file.into_std())
    }
}
