//! Resolves the paths of `cd` and of redirects.
//! It works on names alone and does not access the file system.

use std::path::{Component, Path, PathBuf};

use toolcall::{Access, Target};

use crate::ambiguity::AmbiguityKind;

/// Returns the directory that `cd` changes to, resolved by name as shells do.
pub(crate) fn cd_target(cwd: &Path, directory: &str) -> Result<PathBuf, AmbiguityKind> {
    if directory.is_empty() || directory.starts_with('-') || directory.starts_with("//") {
        return Err(AmbiguityKind::CdPlace);
    }
    let mut path = cwd.to_path_buf();
    let mut went_down = false;
    for component in Path::new(directory).components() {
        match component {
            Component::ParentDir if went_down => return Err(AmbiguityKind::CdBack),
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            Component::Normal(name) => {
                went_down = true;
                path.push(name);
            }
            Component::RootDir | Component::Prefix(_) => path = component.as_os_str().into(),
        }
    }
    Ok(path)
}

/// Returns what a redirect to `word` opens. `..` is an ambiguity, because symlinks change where it leads.
pub(crate) fn redirect_target(
    cwd: &Path,
    word: &str,
    access: Access,
) -> Result<Target, AmbiguityKind> {
    if word == "/dev/null" {
        return Ok(Target::Null);
    }
    let mut components = Path::new(word).components();
    if word.is_empty() || components.any(|part| part == Component::ParentDir) {
        return Err(AmbiguityKind::OddFile);
    }
    let path = cwd.join(word);
    if path.starts_with("/dev") || path.starts_with("/proc") {
        Err(AmbiguityKind::Device)
    } else {
        Ok(Target::File { path, access })
    }
}
