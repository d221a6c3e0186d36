//! The settings as values, and what the parts of the program make of them.
//! It opens nothing; which keys there are is not said here.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, bail};
use toolcall::Limits;
use toolcall_history::{Durability, KeepContent, KeepUndo, OnFailure};
use toolcall_tools::web::{SearchSettings, Secret};

use super::file;
use crate::context::Walls;
use crate::places::Person;
use crate::recording;

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// How a person wants this program to work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    pub(crate) model: ModelChoice,
    /// What is around commands.
    pub(crate) walls: Walls,
    pub(crate) history: HistoryWishes,
    /// Calls that run side by side.
    pub(crate) running: usize,
    /// How long a tool may run that states no time of its own.
    pub(crate) call_seconds: u64,
    pub(crate) search: SearchChoice,
    /// Where the agent logs to, if it does.
    pub(crate) log: Option<PathBuf>,
}

/// Who answers prompts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModelChoice {
    /// The person.
    Manual,
    /// A written turn.
    Script(PathBuf),
}

/// As the command line says it: a script may be named relative to where one is.
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

/// What is kept of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryWishes {
    pub(crate) is_enabled: bool,
    pub(crate) durability: Durability,
    pub(crate) contents: KeepContent,
    pub(crate) on_failure: OnFailure,
    /// How long edits can be undone; 0 for not at all.
    pub(crate) undo_days: u64,
}

/// Who searches the web.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SearchChoice {
    Nobody,
    SearXng {
        endpoint: String,
    },
    /// The key is in a variable of the environment, so that no file has to hold it.
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
            walls: Walls::None,
            history: HistoryWishes::default(),
            running: limits.running,
            call_seconds: limits.run.as_secs(),
            search: SearchChoice::Nobody,
            log: None,
        }
    }
}

impl Default for HistoryWishes {
    fn default() -> Self {
        Self {
            is_enabled: true,
            durability: Durability::default(),
            contents: KeepContent::default(),
            // A person at work is better served by a warning than by a refusal.
            on_failure: OnFailure::GoOn,
            undo_days: match KeepUndo::default() {
                KeepUndo::For(time) => time.as_secs() / SECONDS_OF_A_DAY,
                KeepUndo::No => 0,
            },
        }
    }
}

impl Config {
    /// The settings of a person; the defaults where there is no file.
    pub(crate) fn read(person: &Person) -> anyhow::Result<Self> {
        Ok(file::read(person)?.settings)
    }

    /// The bounds of an engine.
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            running: self.running,
            run: Duration::from_secs(self.call_seconds),
            ..Limits::default()
        }
    }

    /// The service that searches the web, with its key from the environment.
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
            SearchChoice::Nobody => None,
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

impl HistoryWishes {
    /// How the history keeps what happens.
    pub(crate) fn settings(&self) -> toolcall_history::HistoryConfig {
        toolcall_history::HistoryConfig {
            durability: self.durability,
            on_failure: self.on_failure,
            keep: self.contents,
            undo: match self.undo_days {
                0 => KeepUndo::No,
                days => KeepUndo::For(Duration::from_secs(days * SECONDS_OF_A_DAY)),
            },
            ..recording::settings()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_reaches_the_history() {
        let wishes = HistoryWishes {
            is_enabled: true,
            durability: Durability::Power,
            contents: KeepContent::NoContents,
            on_failure: OnFailure::Refuse,
            undo_days: 2,
        };
        let made = wishes.settings();
        assert_eq!(
            (made.durability, made.keep, made.on_failure, made.undo),
            (
                Durability::Power,
                KeepContent::NoContents,
                OnFailure::Refuse,
                KeepUndo::For(Duration::from_secs(2 * SECONDS_OF_A_DAY))
            )
        );
        let never = HistoryWishes {
            undo_days: 0,
            ..wishes
        };
        assert_eq!(never.settings().undo, KeepUndo::No);
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
        let nobody = Config::default().search(|_| None);
        assert_eq!(nobody.unwrap(), None);
    }
}
