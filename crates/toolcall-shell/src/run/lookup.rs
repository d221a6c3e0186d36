//! Where a program is: by its path, or on `PATH`.
//! It never looks at builtins, aliases or folders that are not absolute.

use std::collections::BTreeMap;
use std::env::split_paths;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why there is no such program, and the exit code that shells give for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    NotFound,
    NotExecutable,
}

/// The absolute path of a program that is named in `cwd`.
pub(super) fn lookup(
    name: &str,
    cwd: &Path,
    env: &BTreeMap<OsString, OsString>,
) -> Result<PathBuf, Absent> {
    if name.contains('/') {
        return check(cwd.join(name));
    }
    let mut absent = Absent::NotFound;
    let folders = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    let folders = split_paths(folders.unwrap_or_default()).filter(|folder| folder.is_absolute());
    // Folders of that name are passed over, as shells do.
    for path in folders
        .map(|folder| folder.join(name))
        .filter(|path| path.is_file())
    {
        match check(path) {
            Ok(path) => return Ok(path),
            Err(why) => absent = why,
        }
    }
    Err(absent)
}

fn check(path: PathBuf) -> Result<PathBuf, Absent> {
    let Ok(metadata) = path.metadata() else {
        return Err(Absent::NotFound);
    };
    let is_executable = metadata.is_file() && metadata.permissions().mode() & 0o111 != 0;
    is_executable.then_some(path).ok_or(Absent::NotExecutable)
}
