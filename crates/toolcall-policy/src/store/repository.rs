//! What the repository around a folder makes `git` run, found in its configuration.
//! What cannot be read counts as something that runs.

use std::path::{Path, PathBuf};

use super::fingerprint::Fingerprint;
use super::guarded::{self, Owner};
use crate::git::helpers_named;

/// What stands for a configuration that nobody could read.
const UNREADABLE: &str = "a configuration that cannot be read";

/// The helpers that are configured, and the files that say so.
#[derive(Debug, Default)]
pub(super) struct Repository {
    pub(super) helpers: Vec<String>,
    pub(super) fingerprints: Vec<Fingerprint>,
}

/// Looks for the repository that `git` would find from this folder.
pub(super) fn look_around(folder: &Path) -> Repository {
    let mut found = Repository::default();
    for ancestor in folder.ancestors() {
        let git = ancestor.join(".git");
        found.fingerprints.push(Fingerprint::of(&git));
        if git.is_dir() {
            found.read_folder(&git);
        } else if git.exists() {
            found.read_pointer(ancestor, &git);
        } else {
            continue;
        }
        break;
    }
    found
}

impl Repository {
    fn read_folder(&mut self, git: &Path) {
        self.read_config(&git.join("config"));
        self.read_config(&git.join("config.worktree"));
    }

    /// A worktree or a submodule: a file that says where the repository is.
    fn read_pointer(&mut self, folder: &Path, pointer: &Path) {
        let text = guarded::read(pointer, Owner::Workspace).ok().flatten();
        let named = text
            .as_deref()
            .and_then(|text| text.strip_prefix("gitdir:"));
        let Some(named) = named.map(str::trim) else {
            self.helpers.push(UNREADABLE.to_owned());
            return;
        };
        let git = folder.join(named);
        self.read_folder(&git);
        let shared = git.join("commondir");
        self.fingerprints.push(Fingerprint::of(&shared));
        match guarded::read(&shared, Owner::Workspace) {
            Ok(Some(text)) => self.read_folder(&git.join(PathBuf::from(text.trim()))),
            Ok(None) => {}
            Err(_) => self.helpers.push(UNREADABLE.to_owned()),
        }
    }

    fn read_config(&mut self, config: &Path) {
        self.fingerprints.push(Fingerprint::of(config));
        match guarded::read(config, Owner::Workspace) {
            Ok(text) => self
                .helpers
                .extend(helpers_named(&text.unwrap_or_default())),
            Err(_) => self.helpers.push(UNREADABLE.to_owned()),
        }
    }
}
