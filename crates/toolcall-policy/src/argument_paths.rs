//! Paths in the words of commands.
//! A word may hold more than one; all of them are looked at, by the letter.

use std::path::{Component, Path, PathBuf};

use toolcall::Part;

use crate::fold::normal;

/// Devices that hold nothing.
const EMPTY: [&str; 4] = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// The paths that a word of a part may name: itself, and what is attached to an option in it.
pub(crate) fn paths_in_word(part: &Part, word: &str) -> Vec<PathBuf> {
    texts(word)
        .map(|text| normal(&part.cwd.join(text)))
        .collect()
}

/// The paths in a word that lead somewhere else than down from the folder.
pub(crate) fn paths_leading_away(part: &Part, word: &str) -> Vec<PathBuf> {
    let leads_away = |text: &&str| {
        let goes_up = Path::new(text)
            .components()
            .any(|part| part == Component::ParentDir);
        (text.starts_with('/') || goes_up) && !EMPTY.contains(text)
    };
    let texts = texts(word).filter(leads_away);
    texts.map(|text| normal(&part.cwd.join(text))).collect()
}

fn texts(word: &str) -> impl Iterator<Item = &str> {
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
