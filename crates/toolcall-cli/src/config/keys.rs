//! The table of all settings keys: name, purpose, accepted values, setter and getter.
//! It is the only place that defines keys: the parser, `config init` and `config show` all use it.

use toolcall_history::{Durability, KeepContent, OnFailure};
use toolcall_tools::mcp::Url;

use super::settings::{Config, ModelChoice, SearchChoice};
use super::value::{GivenValue, SettingValue};
use crate::context::CommandIsolation;

/// A key of the settings.
pub(super) struct ConfigKey {
    /// The table that contains the key; `None` for the top level.
    pub(super) table: Option<&'static str>,
    pub(super) name: &'static str,
    /// The explanation in the settings file.
    pub(super) about: &'static str,
    /// The accepted values, in words.
    pub(super) accepts: &'static str,
    /// An accepted value, in TOML.
    pub(super) example: &'static str,
    /// Sets the key; returns `None` if it does not accept the value.
    pub(super) set: fn(&mut Config, &GivenValue<'_>) -> Option<()>,
    /// Returns the value of the key.
    pub(super) get: fn(&Config) -> SettingValue,
}

impl ConfigKey {
    /// Returns the name with its table, as in `history.enabled`.
    pub(super) fn path(&self) -> String {
        match self.table {
            Some(table) => format!("{table}.{}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// Every key; keys of one table are adjacent.
pub(super) const KEYS: [ConfigKey; 11] = [
    ConfigKey {
        table: None,
        name: "model",
        about: "Who answers prompts in `toolcall agent`: you, by typing calls (\"manual\"), or a script \
                (\"script:FILE\").",
        accepts: "\"manual\", or \"script:\" and an absolute path (`~/` is your home)",
        example: r#""script:~/turn.yaml""#,
        set: |settings, given| {
            settings.model = model(given)?;
            Some(())
        },
        get: |settings| match &settings.model {
            ModelChoice::Manual => SettingValue::text("manual"),
            ModelChoice::Script(file) => SettingValue::text(format!("script:{}", file.display())),
        },
    },
    ConfigKey {
        table: None,
        name: "sandbox",
        about: "Whether commands always run in a sandbox, as with `--sandbox`: they write only to the \
                working directory and have no network access (Linux).",
        accepts: SWITCH,
        example: "true",
        set: |settings, given| {
            settings.isolation = CommandIsolation::from_flag(given.switch()?);
            Some(())
        },
        get: |settings| SettingValue::Switch(settings.isolation == CommandIsolation::Sandbox),
    },
    ConfigKey {
        table: Some("history"),
        name: "enabled",
        about: "Whether calls are recorded in the history.",
        accepts: SWITCH,
        example: "false",
        set: |settings, given| {
            settings.history.is_enabled = given.switch()?;
            Some(())
        },
        get: |settings| SettingValue::Switch(settings.history.is_enabled),
    },
    ConfigKey {
        table: Some("history"),
        name: "durability",
        about: "What a record survives: a crash of the process (\"process\"), or also a power failure (\"power\"). \
                The latter waits for the disk after every record.",
        accepts: "\"process\" or \"power\"",
        example: r#""power""#,
        set: |settings, given| {
            let all = [Durability::Process, Durability::Power];
            settings.history.durability = given.one_of(&all, durability)?;
            Some(())
        },
        get: |settings| SettingValue::text(durability(settings.history.durability)),
    },
    ConfigKey {
        table: Some("history"),
        name: "contents",
        about: "Whether inputs and outputs are recorded, without secrets. If not, the history has only the tool, the \
                files it touched, who decided and how the call ended.",
        accepts: SWITCH,
        example: "false",
        set: |settings, given| {
            settings.history.contents = if given.switch()? {
                KeepContent::Contents
            } else {
                KeepContent::NoContents
            };
            Some(())
        },
        get: |settings| SettingValue::Switch(settings.history.contents == KeepContent::Contents),
    },
    ConfigKey {
        table: Some("history"),
        name: "on_failure",
        about: "What happens when the history cannot be written: calls go on with a warning (\"go-on\"), or no call \
                starts (\"refuse\").",
        accepts: "\"go-on\" or \"refuse\"",
        example: r#""refuse""#,
        set: |settings, given| {
            let all = [OnFailure::RunUnrecorded, OnFailure::Refuse];
            settings.history.on_failure = given.one_of(&all, on_failure)?;
            Some(())
        },
        get: |settings| SettingValue::text(on_failure(settings.history.on_failure)),
    },
    ConfigKey {
        table: Some("history"),
        name: "undo_days",
        about: "For how many days edits can be undone; with 0 they cannot be undone. The earlier contents of files \
                are stored unchanged, including secrets, and only you can read them.",
        accepts: "a number from 0 to 3650",
        example: "30",
        set: |settings, given| {
            settings.history.undo_days = given.count(0..=3650)?;
            Some(())
        },
        get: |settings| SettingValue::Count(settings.history.undo_days),
    },
    ConfigKey {
        table: Some("limits"),
        name: "running",
        about: "How many calls of a session run at the same time; further calls wait.",
        accepts: "a number from 1 to 1024",
        example: "8",
        set: |settings, given| {
            settings.running = usize::try_from(given.count(1..=1024)?).ok()?;
            Some(())
        },
        get: |settings| SettingValue::Count(settings.running as u64),
    },
    ConfigKey {
        table: Some("limits"),
        name: "call_seconds",
        about: "How many seconds a call may run, unless its tool sets its own limit, as `run_command` does.",
        accepts: "a number from 1 to 86400",
        example: "600",
        set: |settings, given| {
            settings.call_seconds = given.count(1..=86_400)?;
            Some(())
        },
        get: |settings| SettingValue::Count(settings.call_seconds),
    },
    ConfigKey {
        table: Some("web"),
        name: "search",
        about: "The service that `web_search` uses. Without one there is no `web_search`. Services that need a key read it from the \
                environment variable named here.",
        accepts: "\"none\", \"searxng:ADDRESS\", \"brave:VARIABLE\" or \"tavily:VARIABLE\"",
        example: r#""searxng:http://localhost:8888/search""#,
        set: |settings, given| {
            settings.search = search(given.text()?)?;
            Some(())
        },
        get: |settings| match &settings.search {
            SearchChoice::None => SettingValue::text("none"),
            SearchChoice::SearXng { endpoint } => SettingValue::text(format!("searxng:{endpoint}")),
            SearchChoice::Brave { variable } => SettingValue::text(format!("brave:{variable}")),
            SearchChoice::Tavily { variable } => SettingValue::text(format!("tavily:{variable}")),
        },
    },
    ConfigKey {
        table: Some("log"),
        name: "file",
        about: "Where `toolcall agent` writes its log.",
        accepts: "\"none\", or an absolute path (`~/` is your home)",
        example: r#""~/toolcall.log""#,
        set: |settings, given| {
            settings.log = match given.text()? {
                "none" => None,
                path => Some(given.path(path)?),
            };
            Some(())
        },
        get: |settings| match &settings.log {
            None => SettingValue::text("none"),
            Some(file) => SettingValue::text(file.display().to_string()),
        },
    },
];

const SWITCH: &str = "true or false";

fn model(given: &GivenValue<'_>) -> Option<ModelChoice> {
    let text = given.text()?;
    match text.strip_prefix("script:") {
        Some(file) => given.path(file).map(ModelChoice::Script),
        None => (text == "manual").then_some(ModelChoice::Manual),
    }
}

fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => "process",
        Durability::Power => "power",
    }
}

fn on_failure(on_failure: OnFailure) -> &'static str {
    match on_failure {
        OnFailure::RunUnrecorded => "go-on",
        OnFailure::Refuse => "refuse",
    }
}

fn search(text: &str) -> Option<SearchChoice> {
    if text == "none" {
        return Some(SearchChoice::None);
    }
    let (service, rest) = text.split_once(':')?;
    let rest = rest.to_owned();
    match service {
        "searxng" => is_address(&rest).then_some(SearchChoice::SearXng { endpoint: rest }),
        "brave" => is_variable(&rest).then_some(SearchChoice::Brave { variable: rest }),
        "tavily" => is_variable(&rest).then_some(SearchChoice::Tavily { variable: rest }),
        _ => None,
    }
}

fn is_address(text: &str) -> bool {
    let url = Url::parse(text);
    url.is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

/// Strict, so that an API key is not mistaken for the name of a variable.
fn is_variable(text: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && text.chars().all(is_usual)
}
