//! Every word that a text may come to, so that a denied one is found wherever it hides.
//! It finds too much rather than too little; a word that it finds need not run.

mod view;

use crate::read::LONGEST_TEXT;
use view::{bare, split, views};

/// Longer texts may hold any word.
const LONGEST_SCANNED: usize = 4 * LONGEST_TEXT;

/// Longer patterns may match any word.
const LONGEST_PATTERN: usize = 256;

/// The words of a text, in several views: as it is split, without its quotes, with its escapes
/// undone, without its expansions.
///
/// ```
/// let words = toolcall_shell::Words::of("env sh -c 'r\"m\" -rf x'; /usr/bin/git -C y push");
/// assert!(words.contain(&["rm"]));
/// assert!(words.contain(&["git", "push"]));
/// assert!(!words.contain(&["push", "git"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    views: Vec<Vec<String>>,
    extent: Extent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    /// The text is too long to be looked through.
    Beyond,
}

impl Words {
    /// The words of a text, whatever is in it.
    pub fn of(text: &str) -> Self {
        if text.len() > LONGEST_SCANNED {
            return Self {
                views: Vec::new(),
                extent: Extent::Beyond,
            };
        }
        Self {
            views: views(text),
            extent: Extent::Whole,
        }
    }

    /// Whether the text may come to these words in this order, with others between them.
    ///
    /// A path counts as the name at its end, a pattern as everything it matches. What no word is
    /// made of, such as `!` or `{}`, is passed over.
    pub fn contain(&self, words: &[&str]) -> bool {
        let plain: Vec<String> = words.iter().flat_map(|word| split(word)).collect();
        // A word may have a quote of its own, which some views have lost.
        let bare: Vec<String> = words.iter().flat_map(|word| split(&bare(word))).collect();
        let is_held = |view: &Vec<String>| holds(view, &plain) || holds(view, &bare);
        match self.extent {
            Extent::Beyond => true,
            Extent::Whole => self.views.iter().any(is_held),
        }
    }

    /// The words as they are split, in their order, without repetition from the views.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let all = self.views.iter().flatten().map(String::as_str);
        let mut seen = std::collections::BTreeSet::new();
        all.filter(move |word| seen.insert(*word))
    }
}

fn holds(view: &[String], wanted: &[String]) -> bool {
    let mut words = view.iter();
    wanted
        .iter()
        .all(|wanted| words.any(|word| is_named(word, wanted)))
}

/// Whether a word of the text may be the wanted one: itself, at the end of a path, or by a pattern.
fn is_named(word: &str, wanted: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    word == wanted || name == wanted || matches(word, wanted) || matches(name, wanted)
}

fn matches(pattern: &str, name: &str) -> bool {
    // A pattern without a letter of its own would make every `ls *` a suspect.
    let has_pattern = pattern.contains(['*', '?', '[']) && pattern.contains(char::is_alphanumeric);
    let glob = || {
        let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<_>>());
        glob(&pattern, &name)
    };
    has_pattern && (pattern.len() > LONGEST_PATTERN || glob())
}

/// `*` and `?` as usual; a set (`[…]`) matches any character.
fn glob(pattern: &[char], name: &[char]) -> bool {
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        let set = if *first == '[' {
            after.iter().position(|c| *c == ']')
        } else {
            None
        };
        rest = set.map_or(after, |end| &after[end + 1..]);
        advance(&mut reached, *first, name);
    }
    reached[name.len()]
}

fn advance(reached: &mut [bool], symbol: char, name: &[char]) {
    if symbol == '*' {
        let first = reached.iter().position(|here| *here);
        reached[first.unwrap_or(name.len())..].fill(first.is_some());
        return;
    }
    for place in (0..name.len()).rev() {
        let fits = symbol == '?' || symbol == '[' || symbol == name[place];
        reached[place + 1] = reached[place] && fits;
    }
    reached[0] = false;
}

#[cfg(test)]
mod tests;
