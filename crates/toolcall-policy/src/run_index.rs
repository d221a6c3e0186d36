//! Indexes of `run` rules: parses their words, and finds the rules for a command.
//! Allow rules are found by the first words of a program; ask and deny rules by words anywhere.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use toolcall::{Part, Reading};
use toolcall_shell::{Words, read, unwrapped};

use crate::error::RuleError;
use crate::programs::is_shell;
use crate::rule_effect::RuleEffect;

/// The length in bytes above which a pattern in a text counts as matching every word.
const MAX_PATTERN_LEN: usize = 256;

/// Parses the words of a `run` text; none for `*`, which covers every command.
pub(crate) fn parse_run(text: &str, effect: RuleEffect) -> Result<Vec<String>, RuleError> {
    if text == "*" {
        return match effect {
            RuleEffect::Allow => Err(RuleError::new(
                "`*` allows every command",
                "name the programs, or set `mode = \"allow-all\"`",
            )),
            RuleEffect::Ask | RuleEffect::Deny => Ok(Vec::new()),
        };
    }
    match (read(text, Path::new("/")), effect) {
        (Reading::Understood(parts), _) => one_program(text, &parts, effect),
        (Reading::Unclear(_), RuleEffect::Ask | RuleEffect::Deny) if is_plain(text) => {
            Ok(text.split_whitespace().map(str::to_owned).collect())
        }
        (Reading::Unclear(why), _) => Err(RuleError::new(
            format!("`{text}` can never match: it has {why}"),
            "write plain words, in quotes where they hold anything else",
        )),
    }
}

fn one_program(text: &str, parts: &[Part], effect: RuleEffect) -> Result<Vec<String>, RuleError> {
    let [part] = parts else {
        let problem = format!("`{text}` is more than one program");
        return Err(RuleError::new(
            problem,
            "write a list, one string for each program",
        ));
    };
    if !part.redirects.is_empty() || part.cwd != Path::new("/") {
        let problem = format!("`{text}` is more than words");
        return Err(RuleError::new(
            problem,
            "leave redirects and `cd` out; files are matched by `read` and `write`",
        ));
    }
    if effect == RuleEffect::Allow && is_always_unclear(&part.argv) {
        let name = &part.argv[0];
        Err(RuleError::new(
            format!("no rule can allow `{name}`: what it runs is not seen"),
            "allow whole commands with `exactly`, or let it be asked",
        ))
    } else {
        Ok(part.argv.clone())
    }
}

/// Whether a command that begins with these words is unclear, whatever follows.
fn is_always_unclear(argv: &[String]) -> bool {
    let is_unclear = |argv: Vec<String>| unwrapped(&Part::new(argv, "/")).unclear.is_some();
    let with = |argv: &[String]| argv.iter().cloned().chain(["x".to_owned()]).collect();
    !is_shell(&argv[0])
        && is_unclear(argv.to_vec())
        && is_unclear(with(argv))
        && is_unclear(with(&argv[..1]))
}

fn is_plain(text: &str) -> bool {
    !text.trim().is_empty()
        && !text.contains(['\'', '"', '\\', '$', '`', ';', '|', '&', '<', '>', '\n'])
}

/// The rules that allow programs, by the first words of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct PrefixIndex {
    rules: HashMap<Vec<String>, Vec<usize>>,
    longest: usize,
}

impl PrefixIndex {
    pub(crate) fn add(&mut self, words: &[String], rule: usize) {
        self.longest = self.longest.max(words.len());
        self.rules.entry(words.to_vec()).or_default().push(rule);
    }

    /// Returns the rules whose words a program begins with, each with the number of its words.
    pub(crate) fn find<'a>(&'a self, argv: &'a [String]) -> impl Iterator<Item = (usize, usize)> {
        let lengths = (1..=self.longest.min(argv.len())).rev();
        lengths.flat_map(move |length| {
            let found = self.rules.get(&argv[..length]);
            found.into_iter().flatten().map(move |rule| (*rule, length))
        })
    }
}

/// The rules that ask about or deny words anywhere in a text, by the last of their words.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordIndex {
    by_word: BTreeMap<String, Vec<(usize, Vec<String>)>>,
    /// Rules whose last word cannot be searched for.
    others: Vec<(usize, Vec<String>)>,
    /// Rules about every command.
    always: Vec<usize>,
}

impl WordIndex {
    pub(crate) fn add(&mut self, words: &[String], rule: usize) {
        let Some(last) = words.last() else {
            return self.always.push(rule);
        };
        let pieces = Words::of(last);
        let mut is_found = false;
        for piece in pieces.iter() {
            let entry = self.by_word.entry(piece.to_owned()).or_default();
            entry.push((rule, words.to_vec()));
            is_found = true;
        }
        if !is_found {
            self.others.push((rule, words.to_vec()));
        }
    }

    /// Whether the index has no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_word.is_empty() && self.others.is_empty() && self.always.is_empty()
    }

    /// Returns the rules whose words a text may contain, in order.
    pub(crate) fn find(&self, words: &Words) -> Vec<usize> {
        let mut found = self.always.clone();
        let mut confirm = |rules: &[(usize, Vec<String>)]| {
            for (rule, wanted) in rules {
                let wanted: Vec<_> = wanted.iter().map(String::as_str).collect();
                if words.contains(&wanted) {
                    found.push(*rule);
                }
            }
        };
        confirm(&self.others);
        // A text that is too long to be split has no words, and may contain any.
        match words.iter().next() {
            None => self.by_word.values().for_each(|rules| confirm(rules)),
            Some(_) => words
                .iter()
                .for_each(|word| self.candidates(word, &mut confirm)),
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Confirms the rules that one word of a text may match: literally, as the end of a path, or as a pattern.
    fn candidates(&self, word: &str, confirm: &mut impl FnMut(&[(usize, Vec<String>)])) {
        let name = word.rsplit('/').next().unwrap_or(word);
        for text in [word, name] {
            if let Some(rules) = self.by_word.get(text) {
                confirm(rules);
            }
            if let Some(at) = text.find(['*', '?', '[']) {
                // A pattern that is too long to be matched counts as matching.
                let start = if text.len() > MAX_PATTERN_LEN {
                    ""
                } else {
                    &text[..at]
                };
                let range = self.by_word.range::<str, _>((
                    std::ops::Bound::Included(start),
                    std::ops::Bound::Unbounded,
                ));
                let like = range.take_while(|(word, _)| word.starts_with(start));
                like.for_each(|(_, rules)| confirm(rules));
            }
        }
    }
}

#[cfg(test)]
mod tests;
