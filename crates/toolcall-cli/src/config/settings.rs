//! The settings as values, and their conversion to the configs of other crates.
//! It opens nothing, and it does not define keys: `keys.rs` does.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use toolcall::Limits;
use toolcall_history::{Durability, KeepContent, KeepUndo, OnFailure};
use toolcall_tools::web::{SearchSettings, Secret};

use super::file;
use crate::context::CommandIsolation;
use crate::environment::UserEnvironment;
use crate::recording;

const SECONDS_PER_DAY: u64 = 24 * 60 * 60;

/// The user's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) model: ModelChoice,
    /// Whether commands run in a sandbox.
    pub(crate) isolation: CommandIsolation,
    pub(crate) history: HistoryOptions,
    /// How many calls of a session run at the same time.
    pub(crate) running: usize,
    /// How long a call may run if its tool sets no limit of its own.
    pub(crate) call_seconds: u64,
    pub(crate) search: SearchChoice,
    /// The agent's log file.
    pub(crate) log: Option<PathBuf>,
}

/// Who answers prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelChoice {
    /// The user, by typing calls.
    Manual,
    /// A script file.
    Script(PathBuf),
}

/// Parses the value of `--model`. Unlike in the settings file, the path of a script may be relative.
impl std::str::FromStr for ModelChoice {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        match (text, text.strip_prefix("script:")) {
            ("manual", _) => Ok(ModelChoice::Manual),
            (_, Some(file)) if !file.is_empty() => Ok(ModelChoice::Script(file.into())),
            _ => bail!("there is no model `{text}`; there are `manual` and `script:FILE`"),
        }
    }
}

/// The settings of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryOptions {
    pub(crate) is_enabled: bool,
    pub(crate) durability: Durability,
    pub(crate) contents: KeepContent,
    pub(crate) on_failure: OnFailure,
    /// For how many days edits can be undone; 0 for not at all.
    pub(crate) undo_days: u64,
}

/// The service that searches the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchChoice {
    None,
    SearXng {
        endpoint: String,
    },
    /// The key is in an environment variable, so that no file has to contain it.
    Brave {
        variable: String,
    },
    Tavily {
        variable: String,
    },
}

impl Default for Config {
    fn default() -> Self {
        let limits = Limits::default();
        Self {
            model: ModelChoice::Manual,
            isolation: CommandIsolation::None,
            history: HistoryOptions::default(),
            running: limits.running,
            call_seconds: limits.run.as_secs(),
            search: SearchChoice::None,
            log: None,
        }
    }
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self {
            is_enabled: true,
            durability: Durability::default(),
            contents: KeepContent::default(),
            // A warning interrupts the user's work less than refused calls.
            on_failure: OnFailure::RunUnrecorded,
            undo_days: match KeepUndo::default() {
                KeepUndo::For(time) => time.as_secs() / SECONDS_PER_DAY,
                KeepUndo::No => 0,
            },
        }
    }
}

impl Config {
    /// Reads the user's settings; every key has its default if there is no file.
    pub(crate) fn read(user: &UserEnvironment) -> anyhow::Result<Self> {
        Ok(file::read(user)?.settings)
    }

    /// Returns the limits of an engine.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            running: self.running,
            run: Duration::from_secs(self.call_seconds),
            ..Limits::default()
        }
    }

    /// Returns the service that searches the web, with its key from the environment.
    pub(crate) fn search(
        &self,
        environment: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Option<SearchSettings>> {
        let key = |variable: &str| {
            let key = environment(variable).filter(|key| !key.is_empty());
            key.map(Secret::new).with_context(|| {
                format!("`web.search` takes its key from `{variable}`, which is not set; set it, or write `search = \"none\"`")
            })
        };
        Ok(match &self.search {
            SearchChoice::None => None,
            SearchChoice::SearXng { endpoint } => Some(SearchSettings::SearXng {
                endpoint: endpoint.clone(),
            }),
            SearchChoice::Brave { variable } => Some(SearchSettings::Brave {
                key: key(variable)?,
                endpoint: None,
            }),
            SearchChoice::Tavily { variable } => Some(SearchSettings::Tavily {
                key: key(variable)?,
                endpoint: None,
            }),
        })
    }
}

impl HistoryOptions {
    /// Returns the config of the history.
    pub(crate) fn to_config(&self) -> toolcall_history::HistoryConfig {
        toolcall_history::HistoryConfig {
            durability: self.durability,
            on_failure: self.on_failure,
            keep: self.contents,
            undo: match self.undo_days {
                0 => KeepUndo::No,
                days => KeepUndo::For(Duration::from_secs(days * SECONDS_PER_DAY)),
            },
            ..recording::history_config()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_reaches_the_history() {
        let options = HistoryOptions {
            is_enabled: true,
            durability: Durability::Power,
            contents: KeepContent::NoContents,
            on_failure: OnFailure::Refuse,
            undo_days: 2,
        };
        let config = options.to_config();
        assert_eq!(
            (
                config.durability,
                config.keep,
                config.on_failure,
                config.undo
            ),
            (
                Durability::Power,
                KeepContent::NoContents,
                OnFailure::Refuse,
                KeepUndo::For(Duration::from_secs(2 * SECONDS_PER_DAY))
            )
        );
        let never = HistoryOptions {
            undo_days: 0,
            ..options
        };
        assert_eq!(never.to_config().undo, KeepUndo::No);
    }

    #[test]
    fn what_is_set_reaches_the_engine() {
        let settings = Config {
            running: 3,
            call_seconds: 7,
            ..Config::default()
        };
        let expected = Limits {
            running: 3,
            run: Duration::from_secs(7),
            ..Limits::default()
        };
        assert_eq!(settings.limits(), expected);
    }

    #[test]
    fn a_key_comes_from_the_environment() {
        let brave = Config {
            search: SearchChoice::Brave {
                variable: "MY_KEY".to_owned(),
            },
            ..Config::default()
        };
        let found = brave.search(|name| Some(format!("value of {name}")));
        let expected = SearchSettings::Brave {
            key: Secret::new("value of MY_KEY"),
            endpoint: None,
        };
        assert_eq!(found.unwrap(), Some(expected));
        let missing = brave.search(|_| None).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "`web.search` takes its key from `MY_KEY`, which is not set; set it, or write `search = \"none\"`"
        );
        let none = Config::default().search(|_| None);
        assert_eq!(none.unwrap(), None);
    }
}
