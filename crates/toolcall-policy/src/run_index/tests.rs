//! The index by words finds the same rules as trying each of them.
//! Texts and rules are made of the same few pieces, so that they match often.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

const PIECES: &[&str] = &[
    "rm", "git", "push", "r", "m", "a", "-f", "/bin/", "*", "?", "[m]", " ", " ", " ", "'", "\"",
    "\\", "$x", ";", "=", ":", "!", "{", "}", ",", "\u{200b}", "é",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES), 0..12).prop_map(|pieces| pieces.concat())
}

fn words() -> impl Strategy<Value = Vec<String>> {
    let word = prop::collection::vec(select(PIECES), 1..3);
    let word = word.prop_map(|pieces| pieces.concat().replace(' ', ""));
    prop::collection::vec(word, 0..3)
}

proptest! {
    #[test]
    fn the_search_finds_what_trying_all_would(
        rules in prop::collection::vec(words(), 0..12),
        text in text(),
    ) {
        let mut index = WordIndex::default();
        for (at, words) in rules.iter().enumerate() {
            index.add(words, at);
        }
        let words = Words::of(&text);
        let is_held = |wanted: &Vec<String>| {
            let wanted: Vec<_> = wanted.iter().map(String::as_str).collect();
            words.contains(&wanted)
        };
        let held = rules.iter().enumerate().filter(|(_, wanted)| is_held(wanted));
        let tried: Vec<usize> = held.map(|(at, _)| at).collect();
        prop_assert_eq!(index.find(&words), tried);
    }
}
