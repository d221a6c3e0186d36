//! Finds nested git repositories whose configuration a `git` command would use instead of the root's.
//! They are stated as reads, so that rules about `git` in the project do not apply to them silently.

use std::path::Path;

use toolcall::{PrepareContext, Reading, Touch};

/// Returns the repositories that `git` would find before that of the root, as reads of their files.
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
        let beneath = |directory: &&Path| !roots.iter().any(|root| root == directory);
        for directory in part.cwd.ancestors().take_while(beneath) {
            found.extend(config_touch(directory, look).await);
        }
    }
    found
}

/// Returns a read of `.git/config`, or of `.git` where it is a file (worktrees and submodules).
async fn config_touch(directory: &Path, look: &PrepareContext) -> Option<Touch> {
    let git = directory.join(".git");
    for path in [git.join("config"), git] {
        let is_file = matches!(look.read_if_exists(&path).await, Ok(Some(_)));
        if is_file {
            return Some(Touch::Reads(path));
        }
    }
    None
}
