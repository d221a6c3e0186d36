//! Parses the settings file: TOML to `Config`, by the table of keys, with positions in its errors.
//! It is strict: an unknown key, or a value that a key does not accept, is an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolcall_policy::read_own;

use super::error::{ConfigError, ConfigProblem, line};
use super::keys::{ConfigKey, KEYS};
use super::settings::Config;
use super::value::GivenValue;
use crate::environment::UserEnvironment;

/// Keys that users look for here, and where they belong instead.
const ELSEWHERE: [(&str, &str); 2] = [
    ("mode", "write it in `policy.toml`, beside this file"),
    ("mcpServers", "set servers up with `toolcall mcp add`"),
];

/// The contents of a settings file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedConfig {
    pub(super) settings: Config,
    /// The line of each key that is set, by the key's path.
    pub(super) lines: BTreeMap<String, usize>,
    pub(super) presence: FilePresence,
}

/// Whether the settings file exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FilePresence {
    #[default]
    Missing,
    Present,
}

/// Returns the path of the user's settings file.
pub(super) fn path(user: &UserEnvironment) -> PathBuf {
    user.dirs.config.join("config.toml")
}

/// Reads the user's settings; every key has its default if there is no file.
pub(super) fn read(user: &UserEnvironment) -> anyhow::Result<ParsedConfig> {
    let path = path(user);
    let named = path.display().to_string();
    match read_own(&path)? {
        Some(text) => Ok(parse(&named, &text, user.home.as_deref())?),
        None => Ok(ParsedConfig::default()),
    }
}

/// Parses the text of a settings file.
pub(super) fn parse(
    file: &str,
    text: &str,
    home: Option<&Path>,
) -> Result<ParsedConfig, ConfigError> {
    let mut parser = ConfigParser {
        file,
        text,
        home,
        parsed: ParsedConfig {
            presence: FilePresence::Present,
            ..ParsedConfig::default()
        },
    };
    let table = DeTable::parse(text).map_err(|error| {
        let problem = format!("not TOML: {}", error.message().replace('\n', ", "));
        let advice = "fix the syntax; settings are lines such as `sandbox = true`";
        parser.error(
            error.span().unwrap_or(0..0),
            ConfigProblem::new(problem, advice),
        )
    })?;
    parser.top(table.get_ref())?;
    Ok(parser.parsed)
}

struct ConfigParser<'a> {
    file: &'a str,
    text: &'a str,
    home: Option<&'a Path>,
    parsed: ParsedConfig,
}

type KeyName<'i> = Spanned<Cow<'i, str>>;

impl ConfigParser<'_> {
    fn error(&self, span: Range<usize>, problem: ConfigProblem) -> ConfigError {
        problem.at(self.file, self.text, &span)
    }

    fn top(&mut self, table: &DeTable<'_>) -> Result<(), ConfigError> {
        for (name, value) in in_order(table) {
            if tables().contains(&name.get_ref().as_ref()) {
                self.table(name, value)?;
            } else {
                self.key(None, name, value)?;
            }
        }
        Ok(())
    }

    fn table(
        &mut self,
        name: &KeyName<'_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let table = name.get_ref().as_ref();
        let DeValue::Table(entries) = value.get_ref() else {
            let problem = format!("`{table}` is a table");
            let advice = format!("write `[{table}]` and its keys below it");
            return Err(self.error(value.span(), ConfigProblem::new(problem, advice)));
        };
        for (name, value) in in_order(entries) {
            self.key(Some(table), name, value)?;
        }
        Ok(())
    }

    fn key(
        &mut self,
        table: Option<&str>,
        name: &KeyName<'_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let text = name.get_ref().as_ref();
        let key = KEYS
            .iter()
            .find(|key| key.table == table && key.name == text)
            .ok_or_else(|| self.error(name.span(), unknown_key(table, text)))?;
        let given = GivenValue {
            value: value.get_ref(),
            home: self.home,
        };
        (key.set)(&mut self.parsed.settings, &given)
            .ok_or_else(|| self.error(value.span(), wrong_value(key)))?;
        let line = line(self.text, &name.span());
        self.parsed.lines.insert(key.path(), line);
        Ok(())
    }
}

/// Returns the entries of a table in the order of the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t KeyName<'i>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

/// Returns the names of all tables, each once.
fn tables() -> Vec<&'static str> {
    let mut tables: Vec<_> = KEYS.iter().filter_map(|key| key.table).collect();
    tables.dedup();
    tables
}

fn wrong_value(key: &ConfigKey) -> ConfigProblem {
    ConfigProblem::new(
        format!(
            "`{}` takes {}, and this is something else",
            key.name, key.accepts
        ),
        format!("write for example `{} = {}`", key.name, key.example),
    )
}

fn unknown_key(table: Option<&str>, name: &str) -> ConfigProblem {
    let problem = match table {
        Some(table) => format!("there is no key `{name}` in `[{table}]`"),
        None => format!("there is no key `{name}`"),
    };
    ConfigProblem::new(problem, advice(table, name))
}

fn advice(table: Option<&str>, name: &str) -> String {
    if let Some((_, place)) = ELSEWHERE.iter().find(|(key, _)| *key == name) {
        return (*place).to_owned();
    }
    match KEYS.iter().find(|key| key.name == name) {
        Some(ConfigKey {
            table: Some(other), ..
        }) => format!("write it below `[{other}]`"),
        Some(ConfigKey { table: None, .. }) => "write it above the first table".to_owned(),
        None => suggest_key(table, name),
    }
}

fn suggest_key(table: Option<&str>, name: &str) -> String {
    let keys = KEYS.iter().filter(|key| key.table == table);
    let mut known: Vec<&str> = keys.map(|key| key.name).collect();
    if table.is_none() {
        known.extend(tables());
    }
    let nearest = known
        .iter()
        .map(|key| (strsim::jaro_winkler(name, key), key))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match nearest {
        Some((likeness, key)) if likeness > 0.75 => format!("write `{key}`"),
        Some(_) | None => format!("write one of `{}`", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests;
