//! Redirects of commands open what lies beneath the roots, and nothing else.
//! It is a bridge between the two crates and decides nothing of its own.

use std::fs::File;
use std::io;
use std::path::Path;

use toolcall::Access;

use crate::local::Files;

/// What opens the files of redirects beneath the roots.
pub(super) struct RootedFiles<'a>(pub(super) &'a Files);

impl toolcall_shell::Files for RootedFiles<'_> {
    fn open(&self, path: &Path, access: Access) -> io::Result<File> {
        self.0.open_redirect(path, access).map_err(io::Error::other)
    }
}
