//! Redacts secrets in texts and JSON: by their shape, by the name beside them, by their position.
//! It rather redacts too much than too little; a secret with neither shape nor name is not recognized.

mod names;
mod patterns;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

pub(crate) use names::{is_secret_name, names_next_secret};
use patterns::{MaskRule, PATTERNS, SecretPattern};

/// The text that replaces a secret.
pub const MASK: &str = "[redacted]";

/// A longer word at a cut edge is not treated as part of a secret.
const MAX_EDGE: usize = 4 * 1024;

/// Finds and masks secrets.
#[derive(Debug)]
pub(crate) struct Redactor {
    /// Finds the hints, so that only patterns whose hint occurs are tried.
    hints: AhoCorasick,
    /// The patterns that each hint belongs to, one bit each.
    patterns_by_hint: Vec<u32>,
    patterns: Vec<(Regex, MaskRule)>,
}

impl Redactor {
    /// Returns the shared redactor: building it takes a thousand times as long as using it.
    pub(crate) fn get() -> &'static Self {
        static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);
        &REDACTOR
    }

    fn new() -> Self {
        let mut hints: Vec<&str> = Vec::new();
        let mut patterns_by_hint: Vec<u32> = Vec::new();
        let mut patterns = Vec::new();
        for (
            place,
            SecretPattern {
                hints: some,
                regex,
                rule,
            },
        ) in PATTERNS.iter().enumerate()
        {
            for hint in *some {
                hints.push(hint);
                patterns_by_hint.push(1 << place);
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
            patterns_by_hint,
            patterns,
        }
    }
}

impl Redactor {
    /// Returns the text with its secrets masked; `None` if it has none.
    pub(crate) fn redact(&self, text: &str) -> Option<String> {
        let candidates = self.candidates(text.as_bytes());
        if candidates == 0 {
            return None;
        }
        let mut clean = Cow::Borrowed(text);
        for (place, (regex, rule)) in self.patterns.iter().enumerate() {
            if candidates & (1 << place) == 0 {
                continue;
            }
            let replaced =
                regex.replace_all(&clean, |found: &Captures<'_>| mask_match(found, *rule));
            if let Cow::Owned(replaced) = replaced {
                clean = Cow::Owned(replaced);
            }
        }
        match clean {
            Cow::Owned(clean) if clean != text => Some(clean),
            Cow::Owned(_) | Cow::Borrowed(_) => None,
        }
    }

    /// Returns whether bytes that are not text may contain a secret.
    pub(crate) fn may_contain_secret(&self, bytes: &[u8]) -> bool {
        self.candidates(bytes) != 0
    }

    fn candidates(&self, bytes: &[u8]) -> u32 {
        let hits = self.hints.find_overlapping_iter(bytes);
        hits.fold(0, |candidates, hit| {
            candidates | self.patterns_by_hint[hit.pattern().as_usize()]
        })
    }

    /// Redacts the beginning of a longer text, whose last word may be part of a secret.
    pub(crate) fn redact_head(&self, text: &str) -> String {
        let clean = self.redact(text).map_or(Cow::Borrowed(text), Cow::Owned);
        let word = clean.rfind(char::is_whitespace).map_or(0, |at| at + 1);
        let word = clean.ceil_char_boundary(word);
        if may_be_partial_secret(&clean[word..]) {
            format!("{}{MASK}", &clean[..word])
        } else {
            clean.into_owned()
        }
    }

    /// Redacts the end of a longer text, whose first word may be part of a secret and whose first lines may be part
    /// of a private key.
    pub(crate) fn redact_tail(&self, text: &str) -> String {
        let text = mask_partial_key(text);
        let clean = self.redact(&text).map_or(text, Cow::Owned);
        let word = clean.find(char::is_whitespace).unwrap_or(clean.len());
        if may_be_partial_secret(&clean[..word]) {
            format!("{MASK}{}", &clean[word..])
        } else {
            clean.into_owned()
        }
    }

    /// Returns the value with its secrets masked, found by the shape of strings and the names of members; `None` if it
    /// has none.
    pub(crate) fn redact_json(&self, value: &Value) -> Option<Value> {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
            Value::String(text) => self.redact(text).map(Value::String),
            Value::Array(items) => self.redact_items(items).map(Value::Array),
            Value::Object(members) => self.redact_members(members).map(Value::Object),
        }
    }

    fn redact_items(&self, items: &[Value]) -> Option<Vec<Value>> {
        let mut clean: Option<Vec<Value>> = None;
        for (place, item) in items.iter().enumerate() {
            let before = place
                .checked_sub(1)
                .and_then(|before| items[before].as_str());
            let is_secret = before.is_some_and(names_next_secret) && item.is_string();
            let redacted = if is_secret {
                (item != MASK).then(|| MASK.into())
            } else {
                self.redact_json(item)
            };
            if let Some(redacted) = redacted {
                clean.get_or_insert_with(|| items.to_vec())[place] = redacted;
            }
        }
        clean
    }

    fn redact_members(&self, members: &Map<String, Value>) -> Option<Map<String, Value>> {
        let named = members.get("name").or_else(|| members.get("key"));
        let is_named = named.and_then(Value::as_str).is_some_and(is_secret_name);
        let redact = |key: &str, member: &Value| {
            let is_secret = is_secret_name(key) || (is_named && key == "value");
            match member {
                Value::String(text) if is_secret && text == MASK => None,
                Value::String(text) if is_secret && !text.is_empty() => Some(MASK.into()),
                Value::Number(_) if is_secret => Some(MASK.into()),
                member => self.redact_json(member),
            }
        };
        let is_dirty = members
            .iter()
            .any(|(key, member)| redact(key, member).is_some() || self.redact(key).is_some());
        is_dirty.then(|| {
            let clean = members.iter().map(|(key, member)| {
                let clean = redact(key, member).unwrap_or_else(|| member.clone());
                (self.redact(key).unwrap_or_else(|| key.clone()), clean)
            });
            clean.collect()
        })
    }
}

/// Returns the replacement for a match.
fn mask_match(found: &Captures<'_>, rule: MaskRule) -> String {
    let all = &found[0];
    let Some(secret) = found
        .name("secret")
        .or_else(|| found.name("bare"))
        .or_else(|| found.name("quoted"))
    else {
        return match rule {
            MaskRule::Shape => MASK.to_owned(),
            MaskRule::Value | MaskRule::Assigned => all.to_owned(),
        };
    };
    let is_plain = match rule {
        MaskRule::Shape | MaskRule::Value => false,
        MaskRule::Assigned => {
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

/// Returns whether a word at a cut edge may be part of a secret: four or more characters that keys consist of.
fn may_be_partial_secret(word: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-+/=.:~".contains(c);
    let run = word.chars().rev().take_while(|c| fits(*c)).count();
    let lead = word.chars().take_while(|c| fits(*c)).count();
    !word.contains(MASK) && word.len() <= MAX_EDGE && run.max(lead) >= 4
        || patterns::has_prefix(word)
}

/// Masks the rest of a private key whose beginning was cut off.
fn mask_partial_key(text: &str) -> Cow<'_, str> {
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
