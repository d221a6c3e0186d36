//! Repositories that lie between a command and its root: `git` would go by their settings.
//! They are told, so that rules about `git` in the project do not count for them.

use std::path::Path;

use toolcall::{PrepareContext, Reading, Touch};

/// The repositories that `git` would find before that of the root, as files that are read.
pub(super) async fn between(reading: &Reading, look: &PrepareContext) -> Vec<Touch> {
    let Reading::Understood(parts) = reading else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let programs = parts
        .iter()
        .flat_map(|part| toolcall_shell::unwrapped(part).parts);
    for part in programs.filter(|part| part.argv.first().is_some_and(|name| name == "git")) {
        let roots = &look.setting().roots;
        let beneath = |folder: &&Path| !roots.iter().any(|root| root == folder);
        for folder in part.cwd.ancestors().take_while(beneath) {
            found.extend(told(folder, look).await);
        }
    }
    found
}

/// A folder of a repository has a configuration; a worktree or a submodule is a file.
async fn told(folder: &Path, look: &PrepareContext) -> Option<Touch> {
    let git = folder.join(".git");
    for path in [git.join("config"), git] {
        let is_file = matches!(look.read_if_there(&path).await, Ok(Some(_)));
        if is_file {
            return Some(Touch::Reads(path));
        }
    }
    None
}
