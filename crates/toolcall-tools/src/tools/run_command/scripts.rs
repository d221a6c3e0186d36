//! Finds scripts of the project that a command would run, and checks that they did not change after approval.
//! It sees only scripts that the command line names, not those that a program runs by itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcall::{Command, Digest, FileBody, Part, PrepareContext, Reading, RunContext, ToolError};
use toolcall_shell::{Words, unwrapped};

/// The maximum number of scripts to check.
const MOST_SCRIPTS: usize = 16;

/// Programs that run their first operand.
const INTERPRETERS: [&str; 18] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "deno", "bun", "tsx",
    "ts-node", "ruby", "perl", "php", "source", ".",
];

/// File extensions of scripts.
const ENDINGS: [&str; 9] = ["sh", "bash", "zsh", "py", "js", "mjs", "ts", "rb", "pl"];

/// Returns the scripts that the command would run, with the digests of their current content.
pub(super) async fn digests(command: &Command, look: &PrepareContext) -> BTreeMap<PathBuf, Digest> {
    let mut scripts = BTreeMap::new();
    let paths = script_paths(command).into_iter();
    let inside = paths.filter(|path| look.setting().contains(path));
    for path in inside.take(MOST_SCRIPTS) {
        // If the script cannot be read, running it reports that.
        if let Ok(Some(body)) = look.read_if_exists(&path).await
            && let Some(digest) = digest(&body)
        {
            scripts.insert(path, digest);
        }
    }
    scripts
}

/// Fails if a script changed after it was approved.
pub(super) async fn check(command: &Command, scope: &RunContext) -> Result<(), ToolError> {
    for (path, approved) in &command.scripts {
        let now = scope.read(path).await?;
        if digest(&now) != Some(*approved) {
            return Err(ToolError::new(format!(
                "`{}` changed after the command was approved, so it was not run; ask again",
                path.display()
            )));
        }
    }
    Ok(())
}

fn digest(body: &FileBody) -> Option<Digest> {
    match body {
        FileBody::Text(text) => Some(Digest::of(text.as_bytes())),
        FileBody::Binary { digest, .. } => *digest,
        FileBody::Folder { .. } => None,
    }
}

fn script_paths(command: &Command) -> Vec<PathBuf> {
    match &command.reading {
        Reading::Understood(parts) => {
            let programs = parts.iter().flat_map(|part| unwrapped(part).parts);
            programs.filter_map(|part| script_of(&part)).collect()
        }
        // In a command that was not understood, anything that looks like a script may be run.
        Reading::Unclear(_) => {
            let words = Words::of(&command.text);
            let scripts = words.iter().filter(|word| looks_like_script(word));
            scripts.map(|word| command.cwd.join(word)).collect()
        }
    }
}

/// Returns the program if it is a path, or the script of an interpreter.
fn script_of(part: &Part) -> Option<PathBuf> {
    let (program, operands) = part.argv.split_first()?;
    if program.contains('/') {
        return Some(part.cwd.join(program));
    }
    let is_interpreter = INTERPRETERS.contains(&program.as_str());
    let script = operands.iter().find(|word| !word.starts_with('-'));
    script
        .filter(|_| is_interpreter)
        .map(|word| part.cwd.join(word))
}

fn looks_like_script(word: &str) -> bool {
    let ending = Path::new(word)
        .extension()
        .and_then(|ending| ending.to_str());
    let is_path = word.contains('/') && !word.starts_with('-');
    is_path || ending.is_some_and(|ending| ENDINGS.contains(&ending))
}
