//! Takes out of texts what looks like a key: by its shape, by the name beside it, by where it stands.
//! It rather takes too much than too little; what has neither shape nor name it cannot know.

mod names;
mod patterns;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

pub(crate) use names::{is_secret_name, names_next_secret};
use patterns::{PATTERNS, Pattern, Rule};

/// What stands in place of a secret.
pub const MASK: &str = "[redacted]";

/// Nothing longer is looked for where a text was cut.
const LONGEST_EDGE: usize = 4 * 1024;

/// Knows what keys look like.
#[derive(Debug)]
pub(crate) struct Redactor {
    /// Finds words that some pattern needs, before any pattern is tried.
    hints: AhoCorasick,
    /// Which patterns each hint is good for, one bit each.
    good_for: Vec<u32>,
    patterns: Vec<(Regex, Rule)>,
}

impl Redactor {
    /// The one there is: making it takes a thousand times as long as using it.
    pub(crate) fn get() -> &'static Self {
        static ONE: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &ONE
    }

    fn new() -> Self {
        let mut hints: Vec<&str> = Vec::new();
        let mut good_for: Vec<u32> = Vec::new();
        let mut patterns = Vec::new();
        for (
            place,
            Pattern {
                hints: some,
                regex,
                rule,
            },
        ) in PATTERNS.iter().enumerate()
        {
            for hint in *some {
                hints.push(hint);
                good_for.push(1 << place);
            }
            // The patterns are constants, and a test builds them all.
            let regex = Regex::new(regex).expect("a pattern is well formed");
            patterns.push((regex, *rule));
        }
        let hints = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(hints);
        Self {
            hints: hints.expect("the hints are few"),
            good_for,
            patterns,
        }
    }
}

impl Redactor {
    /// The text without secrets, if there are any in it.
    pub(crate) fn scrub(&self, text: &str) -> Option<String> {
        let wanted = self.wanted(text.as_bytes());
        if wanted == 0 {
            return None;
        }
        let mut clean = Cow::Borrowed(text);
        for (place, (regex, rule)) in self.patterns.iter().enumerate() {
            if wanted & (1 << place) == 0 {
                continue;
            }
            let replaced = regex.replace_all(&clean, |found: &Captures<'_>| masked(found, *rule));
            if let Cow::Owned(replaced) = replaced {
                clean = Cow::Owned(replaced);
            }
        }
        match clean {
            Cow::Owned(clean) if clean != text => Some(clean),
            Cow::Owned(_) | Cow::Borrowed(_) => None,
        }
    }

    /// Whether there may be a secret among bytes that are no text.
    pub(crate) fn may_hide(&self, bytes: &[u8]) -> bool {
        self.wanted(bytes) != 0
    }

    fn wanted(&self, bytes: &[u8]) -> u32 {
        let hits = self.hints.find_overlapping_iter(bytes);
        hits.fold(0, |wanted, hit| {
            wanted | self.good_for[hit.pattern().as_usize()]
        })
    }

    /// The beginning of a longer text: its last word may be half a secret.
    pub(crate) fn scrub_head(&self, text: &str) -> String {
        let clean = self.scrub(text).map_or(Cow::Borrowed(text), Cow::Owned);
        let word = clean.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = clean.ceil_char_boundary(word);
        if is_half_a_secret(&clean[word..]) {
            format!("{}{MASK}", &clean[..word])
        } else {
            clean.into_owned()
        }
    }

    /// The end of a longer text: its first word may be half a secret, its first lines half a key.
    pub(crate) fn scrub_tail(&self, text: &str) -> String {
        let text = without_half_a_key(text);
        let clean = self.scrub(&text).map_or(text, Cow::Owned);
        let word = clean.find(char::is_whitespace).unwrap_or(clean.len());
        if is_half_a_secret(&clean[..word]) {
            format!("{MASK}{}", &clean[word..])
        } else {
            clean.into_owned()
        }
    }

    /// The value without secrets, if there are any in it: by what its strings look like, and by the
    /// names of its members.
    pub(crate) fn scrub_json(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
            Value::String(text) => self.scrub(text).map(Value::String),
            Value::Array(items) => self.scrub_items(items).map(Value::Array),
            Value::Object(members) => self.scrub_members(members).map(Value::Object),
        }
    }

    fn scrub_items(&self, items: &[Value]) -> Option<Vec<Value>> {
        let mut clean: Option<Vec<Value>> = None;
        for (place, item) in items.iter().enumerate() {
            let before = place
                .checked_sub(1)
                .and_then(|before| items[before].as_str());
            let is_secret = before.is_some_and(names_next_secret) && item.is_string();
            let scrubbed = if is_secret {
                (item != MASK).then(|| MASK.into())
            } else {
                self.scrub_json(item)
            };
            if let Some(scrubbed) = scrubbed {
                clean.get_or_insert_with(|| items.to_vec())[place] = scrubbed;
            }
        }
        clean
    }

    fn scrub_members(&self, members: &Map<String, Value>) -> Option<Map<String, Value>> {
        let named = members.get("name").or_else(|| members.get("key"));
        let is_named = named.and_then(Value::as_str).is_some_and(is_secret_name);
        let scrub = |key: &str, member: &Value| {
            let is_secret = is_secret_name(key) || (is_named && key == "value");
            match member {
                Value::String(text) if is_secret && text == MASK => None,
                Value::String(text) if is_secret && !text.is_empty() => Some(MASK.into()),
                Value::Number(_) if is_secret => Some(MASK.into()),
                member => self.scrub_json(member),
            }
        };
        let is_dirty = members
            .iter()
            .any(|(key, member)| scrub(key, member).is_some() || self.scrub(key).is_some());
        is_dirty.then(|| {
            let clean = members.iter().map(|(key, member)| {
                let clean = scrub(key, member).unwrap_or_else(|| member.clone());
                (self.scrub(key).unwrap_or_else(|| key.clone()), clean)
            });
            clean.collect()
        })
    }
}

/// What stands in place of a match.
fn masked(found: &Captures<'_>, rule: Rule) -> String {
    let all = &found[0];
    let Some(secret) = found
        .name("secret")
        .or_else(|| found.name("bare"))
        .or_else(|| found.name("quoted"))
    else {
        return match rule {
            Rule::Shape => MASK.to_owned(),
            Rule::Value | Rule::Assigned => all.to_owned(),
        };
    };
    let is_plain = match rule {
        Rule::Shape | Rule::Value => false,
        Rule::Assigned => {
            let name = found.name("name").map_or("", |name| name.as_str());
            let is_bare = found.name("bare").is_some();
            !names::is_assigned_secret(name, secret.as_str(), is_bare)
        }
    };
    if is_plain || secret.is_empty() {
        return all.to_owned();
    }
    let whole = found.get(0).map_or(0, |whole| whole.start());
    let (from, to) = (secret.start() - whole, secret.end() - whole);
    format!("{}{MASK}{}", &all[..from], &all[to..])
}

/// Words are short; a long run of the characters of keys may be the rest of one.
fn is_half_a_secret(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-+/=.:~".contains(c);
    let run = word.chars().rev().take_while(|c| fits(*c)).count();
    let lead = word.chars().take_while(|c| fits(*c)).count();
    !word.contains(MASK) && word.len() <= LONGEST_EDGE && run.max(lead) >= 4
        || patterns::has_prefix(word)
}

/// Without what may be the end of a private key.
fn without_half_a_key(text: &str) -> Cow<'_, str> {
    let Some(end) = text.find("-----END ") else {
        return Cow::Borrowed(text);
    };
    let is_whole = text[..end].contains("-----BEGIN ");
    let is_private = text[end..]
        .lines()
        .next()
        .is_some_and(|line| line.contains("PRIVATE KEY"));
    if is_private && !is_whole {
        Cow::Owned(format!("{MASK}\n{}", &text[end..]))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
