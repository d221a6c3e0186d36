//! The settings file: TOML to settings, by the table of keys, with the place of whatever is wrong.
//! It takes nothing on trust: an unknown key or a value that a key does not take is an error.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use toolcall_policy::read_own;

use super::error::{ConfigError, Fault, line};
use super::given::Given;
use super::keys::{KEYS, Key};
use super::settings::Config;
use crate::places::Person;

/// What people look for here, and where it is.
const ELSEWHERE: [(&str, &str); 2] = [
    ("mode", "write it in `policy.toml`, beside this file"),
    ("mcpServers", "set servers up with `toolcall mcp add`"),
];

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parsed {
    pub(super) settings: Config,
    /// The lines of the keys that are set, by their paths.
    pub(super) lines: BTreeMap<String, usize>,
    pub(super) presence: Presence,
}

/// Whether there is a file at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Presence {
    #[default]
    Missing,
    There,
}

/// Where a person's settings are.
pub(super) fn path(person: &Person) -> PathBuf {
    person.places.config.join("config.toml")
}

/// Reads a person's settings; all defaults where there is no file.
pub(super) fn read(person: &Person) -> anyhow::Result<Parsed> {
    let path = path(person);
    let named = path.display().to_string();
    match read_own(&path)? {
        Some(text) => Ok(parse(&named, &text, person.home.as_deref())?),
        None => Ok(Parsed::default()),
    }
}

/// What a text says.
pub(super) fn parse(file: &str, text: &str, home: Option<&Path>) -> Result<Parsed, ConfigError> {
    let mut reader = Reader {
        file,
        text,
        home,
        parsed: Parsed {
            presence: Presence::There,
            ..Parsed::default()
        },
    };
    let table = DeTable::parse(text).map_err(|error| {
        let problem = format!("not TOML: {}", error.message().replace('\n', ", "));
        let advice = "mend the syntax; settings are lines such as `sandbox = true`";
        reader.fault(error.span().unwrap_or(0..0), Fault::new(problem, advice))
    })?;
    reader.top(table.get_ref())?;
    Ok(reader.parsed)
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    home: Option<&'a Path>,
    parsed: Parsed,
}

type Name<'i> = Spanned<Cow<'i, str>>;

impl Reader<'_> {
    fn fault(&self, span: Range<usize>, fault: Fault) -> ConfigError {
        fault.at(self.file, self.text, &span)
    }

    fn top(&mut self, table: &DeTable<'_>) -> Result<(), ConfigError> {
        for (name, value) in in_order(table) {
            match tables().contains(&name.get_ref().as_ref()) {
                true => self.table(name, value)?,
                false => self.key(None, name, value)?,
            }
        }
        Ok(())
    }

    fn table(&mut self, name: &Name<'_>, value: &Spanned<DeValue<'_>>) -> Result<(), ConfigError> {
        let table = name.get_ref().as_ref();
        let DeValue::Table(entries) = value.get_ref() else {
            let problem = format!("`{table}` is a table");
            let advice = format!("write `[{table}]` and its keys below it");
            return Err(self.fault(value.span(), Fault::new(problem, advice)));
        };
        for (name, value) in in_order(entries) {
            self.key(Some(table), name, value)?;
        }
        Ok(())
    }

    fn key(
        &mut self,
        table: Option<&str>,
        name: &Name<'_>,
        value: &Spanned<DeValue<'_>>,
    ) -> Result<(), ConfigError> {
        let written = name.get_ref().as_ref();
        let key = KEYS
            .iter()
            .find(|key| key.table == table && key.name == written)
            .ok_or_else(|| self.fault(name.span(), unknown(table, written)))?;
        let given = Given {
            value: value.get_ref(),
            home: self.home,
        };
        (key.take)(&mut self.parsed.settings, &given)
            .ok_or_else(|| self.fault(value.span(), unfit(key)))?;
        let line = line(self.text, &name.span());
        self.parsed.lines.insert(key.path(), line);
        Ok(())
    }
}

/// The entries of a table as they stand in the file.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<(&'t Name<'i>, &'t Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

/// The names of tables, each once.
fn tables() -> Vec<&'static str> {
    let mut tables: Vec<_> = KEYS.iter().filter_map(|key| key.table).collect();
    tables.dedup();
    tables
}

fn unfit(key: &Key) -> Fault {
    Fault::new(
        format!(
            "`{}` takes {}, and this is something else",
            key.name, key.takes
        ),
        format!("write for example `{} = {}`", key.name, key.example),
    )
}

fn unknown(table: Option<&str>, written: &str) -> Fault {
    let problem = match table {
        Some(table) => format!("there is no key `{written}` in `[{table}]`"),
        None => format!("there is no key `{written}`"),
    };
    Fault::new(problem, advice(table, written))
}

fn advice(table: Option<&str>, written: &str) -> String {
    if let Some((_, place)) = ELSEWHERE.iter().find(|(name, _)| *name == written) {
        return (*place).to_owned();
    }
    match KEYS.iter().find(|key| key.name == written) {
        Some(Key {
            table: Some(other), ..
        }) => format!("write it below `[{other}]`"),
        Some(Key { table: None, .. }) => "write it above the first table".to_owned(),
        None => nearest(table, written),
    }
}

fn nearest(table: Option<&str>, written: &str) -> String {
    let keys = KEYS.iter().filter(|key| key.table == table);
    let mut known: Vec<&str> = keys.map(|key| key.name).collect();
    if table.is_none() {
        known.extend(tables());
    }
    let close = known
        .iter()
        .map(|name| (strsim::jaro_winkler(written, name), name))
        .max_by(|one, other| one.0.total_cmp(&other.0));
    match close {
        Some((near, name)) if near > 0.75 => format!("write `{name}`"),
        Some(_) | None => format!("write one of `{}`", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests;
