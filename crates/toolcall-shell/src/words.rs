//! Every word that a text may expand to, so that a denied word is found however it is written.
//! It finds too many words rather than too few; not every word that it finds would run.

mod view;

use crate::read::MAX_TEXT_LEN;
use view::{bare, split, views};

/// The length in bytes above which a text is not searched and counts as containing every word.
const LONGEST_SEARCHED: usize = 4 * MAX_TEXT_LEN;

/// The length in bytes above which a pattern counts as matching every word.
const LONGEST_PATTERN: usize = 256;

/// The words of a text, in several views: split as it is, without quotes, with escapes decoded, and
/// without expansions.
///
/// ```
/// let words = toolcall_shell::Words::of("env sh -c 'r\"m\" -rf x'; /usr/bin/git -C y push");
/// assert!(words.contains(&["rm"]));
/// assert!(words.contains(&["git", "push"]));
/// assert!(!words.contains(&["push", "git"]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    views: Vec<Vec<String>>,
    extent: Extent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    /// The text is too long to be searched.
    TooLong,
}

impl Words {
    /// Returns the words of any text, understood or not.
    pub fn of(text: &str) -> Self {
        if text.len() > LONGEST_SEARCHED {
            return Self {
                views: Vec::new(),
                extent: Extent::TooLong,
            };
        }
        Self {
            views: views(text),
            extent: Extent::Whole,
        }
    }

    /// Whether the text may expand to these words in this order, with any others between them.
    ///
    /// A path counts as its file name, a pattern as everything that it matches. Punctuation that cannot
    /// be part of a word, such as `!` or `{}`, is ignored.
    pub fn contains(&self, words: &[&str]) -> bool {
        let plain: Vec<String> = words.iter().flat_map(|word| split(word)).collect();
        // A wanted word may contain a quote, which some views have removed.
        let bare: Vec<String> = words.iter().flat_map(|word| split(&bare(word))).collect();
        let is_found =
            |view: &Vec<String>| contains_in_order(view, &plain) || contains_in_order(view, &bare);
        match self.extent {
            Extent::TooLong => true,
            Extent::Whole => self.views.iter().any(is_found),
        }
    }

    /// Iterates over the words of all views in order, without duplicates.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let all = self.views.iter().flatten().map(String::as_str);
        let mut seen = std::collections::BTreeSet::new();
        all.filter(move |word| seen.insert(*word))
    }
}

fn contains_in_order(view: &[String], wanted: &[String]) -> bool {
    let mut words = view.iter();
    wanted
        .iter()
        .all(|wanted| words.any(|word| is_named(word, wanted)))
}

/// Whether a word of the text may be the wanted one: literally, as the end of a path, or as a pattern.
fn is_named(word: &str, wanted: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    word == wanted || name == wanted || matches(word, wanted) || matches(name, wanted)
}

fn matches(pattern: &str, name: &str) -> bool {
    // A pattern without a literal character would make every `ls *` match.
    let has_pattern = pattern.contains(['*', '?', '[']) && pattern.contains(char::is_alphanumeric);
    let glob = || {
        let [pattern, name] = [pattern, name].map(|text| text.chars().collect::<Vec<_>>());
        glob(&pattern, &name)
    };
    has_pattern && (pattern.len() > LONGEST_PATTERN || glob())
}

/// Matches `*` and `?` as usual; a set (`[…]`) matches any character.
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
