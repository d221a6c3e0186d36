//! A value of a settings file, and how it is taken as what a key wants.
//! What does not fit is no value; saying so is left to whoever knows the key.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toml::de::DeValue;

/// A value that somebody wrote.
pub(super) struct Given<'a> {
    pub(super) value: &'a DeValue<'a>,
    /// What `~` stands for.
    pub(super) home: Option<&'a Path>,
}

impl Given<'_> {
    pub(super) fn switch(&self) -> Option<bool> {
        self.value.as_bool()
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_str()
    }

    pub(super) fn count(&self, allowed: RangeInclusive<u64>) -> Option<u64> {
        let DeValue::Integer(written) = self.value else {
            return None;
        };
        let count = u64::from_str_radix(written.as_str(), written.radix()).ok()?;
        allowed.contains(&count).then_some(count)
    }

    /// One of these, by its word.
    pub(super) fn one_of<T: Copy>(&self, all: &[T], word: fn(T) -> &'static str) -> Option<T> {
        let text = self.text()?;
        all.iter().copied().find(|one| word(*one) == text)
    }

    /// An absolute path. A relative one would change with the folder one is in.
    pub(super) fn path(&self, text: &str) -> Option<PathBuf> {
        match text.strip_prefix("~/") {
            Some(rest) => Some(self.home?.join(rest)),
            None => Path::new(text).is_absolute().then(|| text.into()),
        }
    }
}

/// A value as a key would have it written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Switch(bool),
    Count(u64),
    Text(String),
}

impl Plain {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// JSON writes these three as TOML does.
    pub(super) fn json(&self) -> Value {
        match self {
            Plain::Switch(is_on) => json!(is_on),
            Plain::Count(count) => json!(count),
            Plain::Text(text) => json!(text),
        }
    }
}
