//! Finds the file of a program, by its path or on `PATH`.
//! It ignores builtins, aliases and relative directories in `PATH`.

use std::collections::BTreeMap;
use std::env::split_paths;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why a program cannot be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LookupError {
    NotFound,
    NotExecutable,
}

/// Returns the absolute path of a program; a relative path starts at `cwd`.
pub(super) fn lookup(
    name: &str,
    cwd: &Path,
    env: &BTreeMap<OsString, OsString>,
) -> Result<PathBuf, LookupError> {
    if name.contains('/') {
        return check(cwd.join(name));
    }
    let mut error = LookupError::NotFound;
    let directories = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let directories =
        split_paths(directories.unwrap_or_default()).filter(|directory| directory.is_absolute());
    // Shells skip directories of that name, too.
    for path in directories
        .map(|directory| directory.join(name))
        .filter(|path| path.is_file())
    {
        match check(path) {
            Ok(path) => return Ok(path),
            Err(why) => error = why,
        }
    }
    Err(error)
}

fn check(path: PathBuf) -> Result<PathBuf, LookupError> {
    let Ok(metadata) = path.metadata() else {
        return Err(LookupError::NotFound);
    };
    let is_executable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    is_executable
        .then_some(path)
        .ok_or(LookupError::NotExecutable)
}
