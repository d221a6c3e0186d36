//! `toolcall config show`: prints every key, its value and where the value comes from.
//! It changes nothing and defines no keys.

use serde_json::{Value, json};

use super::file::{self, FilePresence, ParsedConfig};
use super::keys::{ConfigKey, KEYS};
use super::settings::Config;
use crate::args::ConfigShowArgs;
use crate::environment::UserEnvironment;
use crate::screen;
use crate::view::{BOLD, DIM, one_line, paint};

/// Prints the settings in effect.
pub(super) fn run(user: &UserEnvironment, args: &ConfigShowArgs) -> anyhow::Result<()> {
    let parsed = file::read(user)?;
    let path = one_line(&file::path(user).to_string_lossy());
    let lines = if args.json {
        vec![format!("{:#}", as_json(&parsed, &path))]
    } else {
        as_lines(&parsed, &path)
    };
    screen::print(&lines)
}

fn as_json(parsed: &ParsedConfig, path: &str) -> Value {
    let defaults = Config::default();
    let keys = KEYS.iter().map(|key| {
        json!({
            "key": key.path(),
            "value": (key.get)(&parsed.settings).json(),
            "default": (key.get)(&defaults).json(),
            "line": parsed.lines.get(&key.path()),
        })
    });
    json!({
        "file": path,
        "exists": parsed.presence == FilePresence::Present,
        "keys": keys.collect::<Vec<_>>(),
    })
}

fn as_lines(parsed: &ParsedConfig, path: &str) -> Vec<String> {
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
        lines.push(format!("{text:<widest$}  {}", paint(style, &origin)));
    }
    lines
}

fn heading(presence: FilePresence, path: &str) -> String {
    match presence {
        FilePresence::Present => path.to_owned(),
        FilePresence::Missing => {
            format!(
                "{path} does not exist, so every key has its default; `toolcall config init` writes it"
            )
        }
    }
}

fn setting(key: &ConfigKey, parsed: &ParsedConfig) -> String {
    let value = (key.get)(&parsed.settings).json().to_string();
    format!("{} = {}", key.path(), one_line(&value))
}
