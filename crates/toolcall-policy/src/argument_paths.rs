//! Finds the paths in the arguments of commands.
//! An argument may hold more than one. It works on text and does not access the file system.

use std::path::{Component, Path, PathBuf};

use toolcall::Part;

use crate::fold::normalize;

/// Devices that are not files.
const STANDARD_DEVICES: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Returns the paths that an argument may name: itself, and values attached to an option.
pub(crate) fn paths_in_word(part: &Part, word: &str) -> Vec<PathBuf> {
    path_texts(word)
        .map(|text| normalize(&part.cwd.join(text)))
        .collect()
}

/// Returns the paths in an argument that are absolute or contain `..`, so that they may leave the directory.
pub(crate) fn paths_leading_away(part: &Part, word: &str) -> Vec<PathBuf> {
    let leads_away = |text: &&str| {
        let goes_up = Path::new(text)
            .components()
            .any(|part| part == Component::ParentDir);
        (text.starts_with('/') || goes_up) && !STANDARD_DEVICES.contains(text)
    };
    let texts = path_texts(word).filter(leads_away);
    texts.map(|text| normalize(&part.cwd.join(text))).collect()
}

fn path_texts(word: &str) -> impl Iterator<Item = &str> {
    let is_short = word.starts_with('-') && !word.starts_with("--");
    let attached = is_short.then(|| word.get(2..)).flatten();
    let value = word.split_once('=').map(|(_, value)| value);
    let whole = (!word.starts_with('-')).then_some(word);
    let addressed = word.strip_prefix('@');
    let local = word.split_once("file://").map(|(_, path)| path);
    let all = [whole, attached, value, addressed].into_iter().flatten();
    let named = all.filter(|text| !text.contains("://")).chain(local);
    named.filter(|text| !text.is_empty())
}
