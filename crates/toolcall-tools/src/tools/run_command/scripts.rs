//! Files of the project that a command would run: what was approved is what was in them.
//! They are found by where they stand in the command; what programs run by themselves is not seen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toolcall::{Command, Digest, FileBody, Part, PrepareContext, Reading, RunContext, ToolError};
use toolcall_shell::{Words, unwrapped};

/// More files than this are not looked at.
const MOST_SCRIPTS: usize = 16;

/// Programs whose first operand is what they run.
const INTERPRETERS: [&str; 18] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "node", "deno", "bun", "tsx",
    "ts-node", "ruby", "perl", "php", "source", ".",
];

/// How files end that are run rather than read.
const ENDINGS: [&str; 9] = ["sh", "bash", "zsh", "py", "js", "mjs", "ts", "rb", "pl"];

/// The files that the command would run, as they are now.
pub(super) async fn seen(command: &Command, look: &PrepareContext) -> BTreeMap<PathBuf, Digest> {
    let mut scripts = BTreeMap::new();
    let named = named(command).into_iter();
    let inside = named.filter(|path| look.setting().contains(path));
    for path in inside.take(MOST_SCRIPTS) {
        // What cannot be read here is told by whoever runs it.
        if let Ok(Some(body)) = look.read_if_there(&path).await
            && let Some(digest) = digest(&body)
        {
            scripts.insert(path, digest);
        }
    }
    scripts
}

/// Fails if one of them is no longer what was approved.
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

fn named(command: &Command) -> Vec<PathBuf> {
    match &command.reading {
        Reading::Understood(parts) => {
            let programs = parts.iter().flat_map(|part| unwrapped(part).parts);
            programs.filter_map(|part| script_of(&part)).collect()
        }
        // Where nobody knows what runs, whatever looks like a script may.
        Reading::Unclear(_) => {
            let words = Words::of(&command.text);
            let scripts = words.iter().filter(|word| looks_like_script(word));
            scripts.map(|word| command.cwd.join(word)).collect()
        }
    }
}

/// The program itself, if it is a file that is named, or what an interpreter is given.
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
