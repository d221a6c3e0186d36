//! `toolcall config show`: every key, what it is set to, and where that comes from.
//! It changes nothing, and knows no key by itself.

use serde_json::{Value, json};

use super::file::{self, Parsed, Presence};
use super::keys::{KEYS, Key};
use super::settings::Config;
use crate::args::ConfigShowing;
use crate::places::Person;
use crate::screen;
use crate::view::{BOLD, DIM, one_line, painted};

/// Shows what holds.
pub(super) fn show(person: &Person, showing: &ConfigShowing) -> anyhow::Result<()> {
    let parsed = file::read(person)?;
    let path = one_line(&file::path(person).to_string_lossy());
    let lines = match showing.json {
        true => vec![format!("{:#}", as_json(&parsed, &path))],
        false => as_lines(&parsed, &path),
    };
    screen::print(&lines)
}

fn as_json(parsed: &Parsed, path: &str) -> Value {
    let defaults = Config::default();
    let keys = KEYS.iter().map(|key| {
        json!({
            "key": key.path(),
            "value": (key.give)(&parsed.settings).json(),
            "default": (key.give)(&defaults).json(),
            "line": parsed.lines.get(&key.path()),
        })
    });
    json!({
        "file": path,
        "exists": parsed.presence == Presence::There,
        "keys": keys.collect::<Vec<_>>(),
    })
}

fn as_lines(parsed: &Parsed, path: &str) -> Vec<String> {
    let set: Vec<String> = KEYS.iter().map(|key| setting(key, parsed)).collect();
    let widest = set.iter().map(|text| text.chars().count()).max();
    let widest = widest.unwrap_or_default();
    let mut lines = vec![heading(parsed.presence, path)];
    for (key, text) in KEYS.iter().zip(&set) {
        let line = parsed.lines.get(&key.path());
        let (style, origin) = match line {
            Some(line) => (BOLD, format!("config.toml:{line}")),
            None => (DIM, "default".to_owned()),
        };
        lines.push(format!("{text:<widest$}  {}", painted(style, &origin)));
    }
    lines
}

fn heading(presence: Presence, path: &str) -> String {
    match presence {
        Presence::There => path.to_owned(),
        Presence::Missing => {
            format!(
                "{path} is not there, so every key has its default; `toolcall config init` writes it"
            )
        }
    }
}

fn setting(key: &Key, parsed: &Parsed) -> String {
    let value = (key.give)(&parsed.settings).json().to_string();
    format!("{} = {}", key.path(), one_line(&value))
}
