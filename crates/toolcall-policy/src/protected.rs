//! Protected paths, which no rule can allow: files that make programs run code, secrets, and this program's own files.
//! It compares folded names only, whether the file exists or not.

use std::path::{Component, Path, PathBuf};

use crate::fold::{fold, fold_path, is_short_beginning, is_short_form};
use crate::rule_effect::RuleEffect;

/// How a call accesses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathAccess {
    Read,
    Change,
    /// Delete or move it, with everything beneath it.
    Remove,
}

/// The protection of a path: the effect, and the name that is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Protection {
    pub(crate) effect: RuleEffect,
    pub(crate) name: &'static str,
}

/// Names beneath which no tool call may write.
const DENIED: [&[&str]; 6] = [
    &[".git"],
    &[".toolcall"],
    &[".config", "toolcall"],
    &[".local", "share", "toolcall"],
    &[".local", "state", "toolcall"],
    &["application support", "toolcall"],
];

/// Names that are always asked about before they change, whatever rules say. `*` matches any characters.
const ASKED: [&[&str]; 51] = [
    &[".vscode"],
    &[".idea"],
    &["*.code-workspace"],
    &[".zed"],
    &[".cursor"],
    &[".claude"],
    &[".codex"],
    &[".gemini"],
    &[".agents"],
    &[".mcp.json"],
    &["claude.md"],
    &["agents.md"],
    &["gemini.md"],
    &[".github", "workflows"],
    &[".husky"],
    &[".pre-commit-config.yaml"],
    &[".env*"],
    &[".npmrc"],
    &[".yarnrc*"],
    &[".cargo", "config*"],
    &[".devcontainer"],
    &[".gitmodules"],
    &[".gitattributes"],
    &[".ripgreprc"],
    &[".gitconfig"],
    &[".git-credentials"],
    &[".netrc"],
    &[".ssh"],
    &[".gnupg"],
    &[".bashrc"],
    &[".bash_profile"],
    &[".bash_login"],
    &[".bash_logout"],
    &[".bash_aliases"],
    &[".profile"],
    &[".zshrc"],
    &[".zshenv"],
    &[".zprofile"],
    &[".zlogin"],
    &[".zlogout"],
    &[".kshrc"],
    &[".mkshrc"],
    &[".cshrc"],
    &[".tcshrc"],
    &[".login"],
    &[".logout"],
    &[".xprofile"],
    &[".inputrc"],
    &["config.fish"],
    &[".config", "fish"],
    &[".config", "git"],
];

/// Names that usually contain secrets: reading them is asked about, too.
const SECRET: [&[&str]; 8] = [
    &[".env*"],
    &[".npmrc"],
    &[".yarnrc*"],
    &[".netrc"],
    &[".git-credentials"],
    &[".ssh"],
    &[".gnupg"],
    &[".toolcall"],
];

/// Returns the protection of a path, if it has one. `own` are the files and directories of this program.
/// For names that are only asked about, the path of the root itself does not count.
pub(crate) fn protection(
    path: &Path,
    access: PathAccess,
    own: &[PathBuf],
    roots: &[PathBuf],
) -> Option<Protection> {
    let beneath = roots.iter().find_map(|root| path.strip_prefix(root).ok());
    let (all, names) = (folded_names(path), folded_names(beneath.unwrap_or(path)));
    if access == PathAccess::Read {
        let name = SECRET
            .iter()
            .find(|wanted| contains_names(&names, wanted))?;
        return Some(asked(name));
    }
    if let Some(name) = DENIED.iter().find(|wanted| contains_names(&all, wanted)) {
        return Some(denied(name[name.len() - 1]));
    }
    if own.iter().any(|own| is_own(path, own, access)) {
        return Some(denied("a file of this program"));
    }
    let asked_about = ASKED.iter().find(|wanted| {
        contains_names(&names, wanted) || (access == PathAccess::Remove && is_above(&names, wanted))
    });
    asked_about.map(|name| asked(name))
}

/// Returns the strongest protection of the paths that a word of a command may contain.
pub(crate) fn word_protection(word: &str, access: PathAccess) -> Option<Protection> {
    pieces(word)
        .filter_map(|piece| protection(Path::new(piece), access, &[], &[]))
        .max_by_key(|protection| protection.effect)
}

/// Returns the word and its parts after `=`, `:`, `,`, `@` or a short option.
fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    let attached = is_short.then(|| word.get(2..)).flatten();
    let split = word.split(['=', ':', ',', '@', '\\']);
    [Some(word), attached].into_iter().flatten().chain(split)
}

fn asked(name: &[&'static str]) -> Protection {
    Protection {
        effect: RuleEffect::Ask,
        name: name[name.len() - 1],
    }
}

fn denied(name: &'static str) -> Protection {
    Protection {
        effect: RuleEffect::Deny,
        name,
    }
}

fn folded_names(path: &Path) -> Vec<String> {
    let names = path.components().filter_map(|part| match part {
        // On Windows, a name with a backslash in it is a path.
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => {
            None
        }
    });
    names
        .flat_map(|name| name.split('\\').map(fold).collect::<Vec<_>>())
        .collect()
}

/// Whether the wanted names occur in the path, one directly after the other.
fn contains_names(names: &[String], wanted: &[&str]) -> bool {
    names.windows(wanted.len()).any(|window| {
        let mut pairs = window.iter().zip(wanted);
        pairs.all(|(name, wanted)| is_named(name, wanted))
    })
}

/// Whether the path ends in a directory that contains the wanted names.
fn is_above(names: &[String], wanted: &[&str]) -> bool {
    let ends_there = |length: usize| {
        let tail = &names[names.len() - length..];
        tail.iter()
            .zip(wanted)
            .all(|(name, wanted)| is_named(name, wanted))
    };
    (1..wanted.len().min(names.len() + 1)).any(ends_there)
}

fn is_named(name: &str, wanted: &str) -> bool {
    if let Some(start) = wanted.strip_suffix('*') {
        return name.starts_with(start) || is_short_beginning(name, start);
    }
    match wanted.strip_prefix('*') {
        Some(end) => name.ends_with(end),
        None => name == wanted || is_short_form(name, wanted),
    }
}

fn is_own(path: &Path, own: &Path, access: PathAccess) -> bool {
    let (path, own) = (fold_path(path), fold_path(own));
    path.starts_with(&own) || (access == PathAccess::Remove && own.starts_with(&path))
}
