//! Finds the programs that the configuration of a repository makes `git` run.
//! A configuration that cannot be read counts as one that runs programs.

use std::path::{Path, PathBuf};

use super::fingerprint::Fingerprint;
use super::secure_files::{self, Owner};
use crate::git::find_git_helpers;

/// Reported as the helper if a configuration cannot be read.
const UNREADABLE: &str = "a configuration that cannot be read";

/// The configured helpers, and fingerprints of the files that configure them.
#[derive(Debug, Default)]
pub(super) struct Repository {
    pub(super) helpers: Vec<String>,
    pub(super) fingerprints: Vec<Fingerprint>,
}

/// Reads the configuration of the repository that `git` would find from a directory.
pub(super) fn read_repository(directory: &Path) -> Repository {
    let mut found = Repository::default();
    for ancestor in directory.ancestors() {
        let git = ancestor.join(".git");
        found.fingerprints.push(Fingerprint::of(&git));
        if git.is_dir() {
            found.read_git_dir(&git);
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
    fn read_git_dir(&mut self, git: &Path) {
        self.read_config(&git.join("config"));
        self.read_config(&git.join("config.worktree"));
    }

    /// Reads the `.git` file of a worktree or submodule, which names the repository's directory.
    fn read_pointer(&mut self, directory: &Path, pointer: &Path) {
        let text = secure_files::read(pointer, Owner::Workspace).ok().flatten();
        let named = text
            .as_deref()
            .and_then(|text| text.strip_prefix("gitdir:"));
        let Some(named) = named.map(str::trim) else {
            self.helpers.push(UNREADABLE.to_owned());
            return;
        };
        let git = directory.join(named);
        self.read_git_dir(&git);
        let shared = git.join("commondir");
        self.fingerprints.push(Fingerprint::of(&shared));
        match secure_files::read(&shared, Owner::Workspace) {
            Ok(Some(text)) => self.read_git_dir(&git.join(PathBuf::from(text.trim()))),
            Ok(None) => {}
            Err(_) => self.helpers.push(UNREADABLE.to_owned()),
        }
    }

    fn read_config(&mut self, config: &Path) {
        self.fingerprints.push(Fingerprint::of(config));
        match secure_files::read(config, Owner::Workspace) {
            Ok(text) => self
                .helpers
                .extend(find_git_helpers(&text.unwrap_or_default())),
            Err(_) => self.helpers.push(UNREADABLE.to_owned()),
        }
    }
}
