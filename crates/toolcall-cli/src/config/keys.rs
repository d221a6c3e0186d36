//! The one table of keys: what each is called, what it is for, what it takes and what it sets.
//! Nothing else says so: the parser, the written file and what is shown all come from it.

use toolcall_history::{Durability, KeepContent, OnFailure};
use toolcall_tools::mcp::Url;

use super::given::{Given, Plain};
use super::settings::{Config, ModelChoice, SearchChoice};
use crate::context::Walls;

/// A key of the settings.
pub(super) struct Key {
    /// The table that it stands in; none for the top.
    pub(super) table: Option<&'static str>,
    pub(super) name: &'static str,
    /// What it is for.
    pub(super) about: &'static str,
    /// What it takes, in words.
    pub(super) takes: &'static str,
    /// A value that it takes, as it is written.
    pub(super) example: &'static str,
    /// Sets it; nothing if the value is none that it takes.
    pub(super) take: fn(&mut Config, &Given<'_>) -> Option<()>,
    /// What is set, as it would be written.
    pub(super) give: fn(&Config) -> Plain,
}

impl Key {
    /// The name with its table.
    pub(super) fn path(&self) -> String {
        match self.table {
            Some(table) => format!("{table}.{}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// Every key, those of a table together.
pub(super) const KEYS: [Key; 11] = [
    Key {
        table: None,
        name: "model",
        about: "Who answers prompts in `toolcall agent`: you, by typing calls (\"manual\"), or a written turn \
                (\"script:FILE\").",
        takes: "\"manual\", or \"script:\" and an absolute path (`~/` is your home)",
        example: r#""script:~/turn.yaml""#,
        take: |settings, given| {
            settings.model = model(given)?;
            Some(())
        },
        give: |settings| match &settings.model {
            ModelChoice::Manual => Plain::text("manual"),
            ModelChoice::Script(file) => Plain::text(format!("script:{}", file.display())),
        },
    },
    Key {
        table: None,
        name: "sandbox",
        about: "Whether commands always run in a sandbox, as with `--sandbox`: they write only to the folder and \
                reach no network (Linux).",
        takes: SWITCH,
        example: "true",
        take: |settings, given| {
            settings.walls = match given.switch()? {
                true => Walls::Sandbox,
                false => Walls::None,
            };
            Some(())
        },
        give: |settings| {
            Plain::Switch(match settings.walls {
                Walls::Sandbox => true,
                Walls::None => false,
            })
        },
    },
    Key {
        table: Some("history"),
        name: "enabled",
        about: "Whether calls are kept in the history.",
        takes: SWITCH,
        example: "false",
        take: |settings, given| {
            settings.history.is_enabled = given.switch()?;
            Some(())
        },
        give: |settings| Plain::Switch(settings.history.is_enabled),
    },
    Key {
        table: Some("history"),
        name: "durability",
        about: "What a record survives: the end of the process, or the end of the machine's power, too. The latter \
                waits for the disk at every step.",
        takes: "\"process\" or \"power\"",
        example: r#""power""#,
        take: |settings, given| {
            let all = [Durability::Process, Durability::Power];
            settings.history.durability = given.one_of(&all, durability)?;
            Some(())
        },
        give: |settings| Plain::text(durability(settings.history.durability)),
    },
    Key {
        table: Some("history"),
        name: "contents",
        about: "Whether inputs and outputs are kept, without secrets. Otherwise only the tool, the files it touched, \
                who decided and how it ended.",
        takes: SWITCH,
        example: "false",
        take: |settings, given| {
            settings.history.contents = match given.switch()? {
                true => KeepContent::Contents,
                false => KeepContent::NoContents,
            };
            Some(())
        },
        give: |settings| {
            Plain::Switch(match settings.history.contents {
                KeepContent::Contents => true,
                KeepContent::NoContents => false,
            })
        },
    },
    Key {
        table: Some("history"),
        name: "on_failure",
        about: "What happens when nothing can be kept: calls go on and a warning is shown, or no call starts.",
        takes: "\"go-on\" or \"refuse\"",
        example: r#""refuse""#,
        take: |settings, given| {
            let all = [OnFailure::GoOn, OnFailure::Refuse];
            settings.history.on_failure = given.one_of(&all, on_failure)?;
            Some(())
        },
        give: |settings| Plain::text(on_failure(settings.history.on_failure)),
    },
    Key {
        table: Some("history"),
        name: "undo_days",
        about: "For how many days edits can be undone; 0 keeps nothing for that. What is kept for it is kept as it \
                was, secrets included, readable for you alone.",
        takes: "a number from 0 to 3650",
        example: "30",
        take: |settings, given| {
            settings.history.undo_days = given.count(0..=3650)?;
            Some(())
        },
        give: |settings| Plain::Count(settings.history.undo_days),
    },
    Key {
        table: Some("limits"),
        name: "running",
        about: "How many calls of a session run side by side; further ones wait.",
        takes: "a number from 1 to 1024",
        example: "8",
        take: |settings, given| {
            settings.running = usize::try_from(given.count(1..=1024)?).ok()?;
            Some(())
        },
        give: |settings| Plain::Count(settings.running as u64),
    },
    Key {
        table: Some("limits"),
        name: "call_seconds",
        about: "How many seconds a call may run if its tool states no time of its own, as that for commands does.",
        takes: "a number from 1 to 86400",
        example: "600",
        take: |settings, given| {
            settings.call_seconds = given.count(1..=86_400)?;
            Some(())
        },
        give: |settings| Plain::Count(settings.call_seconds),
    },
    Key {
        table: Some("web"),
        name: "search",
        about: "Who searches the web for the tool `web_search`, which is there only if somebody does. Services that \
                want a key take it from the variable of the environment that is named here.",
        takes: "\"none\", \"searxng:ADDRESS\", \"brave:VARIABLE\" or \"tavily:VARIABLE\"",
        example: r#""searxng:http://localhost:8888/search""#,
        take: |settings, given| {
            settings.search = search(given.text()?)?;
            Some(())
        },
        give: |settings| match &settings.search {
            SearchChoice::Nobody => Plain::text("none"),
            SearchChoice::SearXng { endpoint } => Plain::text(format!("searxng:{endpoint}")),
            SearchChoice::Brave { variable } => Plain::text(format!("brave:{variable}")),
            SearchChoice::Tavily { variable } => Plain::text(format!("tavily:{variable}")),
        },
    },
    Key {
        table: Some("log"),
        name: "file",
        about: "Where `toolcall agent` writes its log.",
        takes: "\"none\", or an absolute path (`~/` is your home)",
        example: r#""~/toolcall.log""#,
        take: |settings, given| {
            settings.log = match given.text()? {
                "none" => None,
                path => Some(given.path(path)?),
            };
            Some(())
        },
        give: |settings| match &settings.log {
            None => Plain::text("none"),
            Some(file) => Plain::text(file.display().to_string()),
        },
    },
];

const SWITCH: &str = "true or false";

fn model(given: &Given<'_>) -> Option<ModelChoice> {
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
        OnFailure::GoOn => "go-on",
        OnFailure::Refuse => "refuse",
    }
}

fn search(text: &str) -> Option<SearchChoice> {
    if text == "none" {
        return Some(SearchChoice::Nobody);
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

/// Strict, so that a key is not taken for the name of one.
fn is_variable(text: &str) -> bool {
    let is_usual = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.starts_with(|c: char| c.is_ascii_uppercase() || c == '_') && text.chars().all(is_usual)
}
