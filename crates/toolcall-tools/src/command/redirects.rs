//! Opens the files of redirects for `toolcall-shell`, beneath the roots only.
//! It is an adapter and decides nothing itself.

use std::fs::File;
use std::io;
use std::path::Path;

use toolcall::Access;

use crate::local::Files;

/// Opens files of redirects beneath the roots.
pub(super) struct RootedFiles<'a>(pub(super) &'a Files);

impl toolcall_shell::FileOpener for RootedFiles<'_> {
    fn open(&self, path: &Path, access: Access) -> io::Result<File> {
        self.0.open_redirect(path, access).map_err(io::Error::other)
    }
}
