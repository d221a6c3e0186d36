//! Values of the settings file, and their conversion to the types that keys need.
//! A value that does not fit is `None`; the parser, which knows the key, reports it.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toml::de::DeValue;

/// A value as it stands in the file.
pub(super) struct GivenValue<'a> {
    pub(super) value: &'a DeValue<'a>,
    /// The directory that `~` stands for.
    pub(super) home: Option<&'a Path>,
}

impl GivenValue<'_> {
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

    /// Returns the one of `all` whose word is the given text.
    pub(super) fn one_of<T: Copy>(&self, all: &[T], word: fn(T) -> &'static str) -> Option<T> {
        let text = self.text()?;
        all.iter().copied().find(|one| word(*one) == text)
    }

    /// Returns an absolute path. A relative one would depend on the current directory.
    pub(super) fn path(&self, text: &str) -> Option<PathBuf> {
        match text.strip_prefix("~/") {
            Some(rest) => Some(self.home?.join(rest)),
            None => Path::new(text).is_absolute().then(|| text.into()),
        }
    }
}

/// The value of a key, as it is written to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingValue {
    Switch(bool),
    Count(u64),
    Text(String),
}

impl SettingValue {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns the value as JSON, which writes these three types as TOML does.
    pub(super) fn json(&self) -> Value {
        match self {
            SettingValue::Switch(is_on) => json!(is_on),
            SettingValue::Count(count) => json!(count),
            SettingValue::Text(text) => json!(text),
        }
    }
}
