//! Paths of a command line: where `cd` leads, and what a redirect opens.
//! It works on text alone; no folder is looked at.

use std::path::{Component, Path, PathBuf};

use toolcall::{Access, Target};

use crate::refusal::Refusal;

/// Where `cd` leads, as a shell keeps it: by the names that were gone through.
pub(crate) fn entered(cwd: &Path, folder: &str) -> Result<PathBuf, Refusal> {
    if folder.is_empty() || folder.starts_with('-') || folder.starts_with("//") {
        return Err(Refusal::CdPlace);
    }
    let mut path = cwd.to_path_buf();
    let mut went_down = false;
    for component in Path::new(folder).components() {
        match component {
            Component::ParentDir if went_down => return Err(Refusal::CdBack),
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

/// What a redirect to `word` opens. A way up (`..`) is not understood: where it leads depends on links.
pub(crate) fn opened(cwd: &Path, word: &str, access: Access) -> Result<Target, Refusal> {
    if word == "/dev/null" {
        return Ok(Target::Null);
    }
    let mut components = Path::new(word).components();
    if word.is_empty() || components.any(|part| part == Component::ParentDir) {
        return Err(Refusal::OddFile);
    }
    let path = cwd.join(word);
    match path.starts_with("/dev") || path.starts_with("/proc") {
        true => Err(Refusal::Device),
        false => Ok(Target::File { path, access }),
    }
}
