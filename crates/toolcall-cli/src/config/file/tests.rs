//! Valid and invalid settings.
//! No file is read: the parser gets text.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use expect_test::{Expect, expect};
use toolcall::Limits;
use toolcall_history::{Durability, KeepContent, OnFailure};

use super::*;
use crate::config::init::document;
use crate::config::settings::{HistoryOptions, ModelChoice, SearchChoice};
use crate::context::CommandIsolation;

fn parsed(text: &str) -> Result<ParsedConfig, ConfigError> {
    parse("config.toml", text, Some(Path::new("/home/ada")))
}

fn check(text: &str, complaint: Expect) {
    complaint.assert_eq(&parsed(text).expect_err(text).to_string());
}

#[test]
fn every_key_is_read() {
    let text = r#"
model = "script:~/turn.yaml"
sandbox = true
web.search = "tavily:TAVILY_KEY"

[history]
enabled = false
durability = "power"
contents = false
on_failure = "refuse"
undo_days = 30

[limits]
running = 0x10
call_seconds = 86_400

[log]
file = "/var/log/toolcall"
"#;
    let expected = Config {
        model: ModelChoice::Script("/home/ada/turn.yaml".into()),
        isolation: CommandIsolation::Sandbox,
        history: HistoryOptions {
            is_enabled: false,
            durability: Durability::Power,
            contents: KeepContent::NoContents,
            on_failure: OnFailure::Refuse,
            undo_days: 30,
        },
        running: 16,
        call_seconds: 86_400,
        search: SearchChoice::Tavily {
            variable: "TAVILY_KEY".to_owned(),
        },
        log: Some("/var/log/toolcall".into()),
    };
    let read = parsed(text).unwrap();
    assert_eq!(read.settings, expected);
    assert_eq!(read.lines.len(), KEYS.len());
    assert_eq!(read.lines["web.search"], 4);
    assert_eq!(read.lines["log.file"], 18);
}

#[test]
fn nothing_written_is_every_default() {
    let expected = ParsedConfig {
        settings: Config::default(),
        lines: BTreeMap::new(),
        presence: FilePresence::Present,
    };
    assert_eq!(parsed("").unwrap(), expected);
    assert_eq!(parsed(&document()).unwrap(), expected);
    assert_eq!(Config::default().limits(), Limits::default());
    let limit = Duration::from_secs(Config::default().call_seconds);
    assert_eq!(limit, Limits::default().run);
}

#[test]
fn what_init_writes_is_what_holds_anyway() {
    let is_key = |line: &str| line.starts_with('#') && !line.starts_with("# ") && line != "#";
    let uncommented: Vec<String> = document()
        .lines()
        .map(|line| line[usize::from(is_key(line))..].to_owned())
        .collect();
    let read = parsed(&uncommented.join("\n")).unwrap();
    assert_eq!(read.settings, Config::default());
    let paths: Vec<String> = read.lines.into_keys().collect();
    let mut all: Vec<String> = KEYS.iter().map(ConfigKey::path).collect();
    all.sort();
    assert_eq!(paths, all);
}

#[test]
fn every_example_is_taken_and_changes_something() {
    for key in &KEYS {
        let table = key
            .table
            .map_or(String::new(), |table| format!("[{table}]"));
        let text = format!("{table}\n{} = {}\n", key.name, key.example);
        let read = parsed(&text).unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(read.settings, Config::default(), "{text}");
        // What is shown can be written again.
        let given = (key.get)(&read.settings).json();
        let again = parsed(&format!("{table}\n{} = {given}\n", key.name)).unwrap();
        assert_eq!(again, read);
    }
}

#[test]
fn every_key_says_what_it_takes_when_it_gets_something_else() {
    for key in &KEYS {
        let table = key
            .table
            .map_or(String::new(), |table| format!("[{table}]"));
        for wrong in ["[]", "{}", "1.5", "-1", "\"\"", "\"yes\""] {
            let error = parsed(&format!("{table}\n{} = {wrong}\n", key.name)).unwrap_err();
            let column = key.name.len() + 4;
            let (name, accepts, example) = (key.name, key.accepts, key.example);
            assert_eq!(
                error.to_string(),
                format!(
                    "config.toml:2:{column}: `{name}` takes {accepts}, and this is something else; write for example `{name} = {example}`"
                )
            );
        }
    }
}

#[test]
fn unknown_keys_get_the_nearest_name_as_advice() {
    check(
        "# ä\nsandbx = true\n",
        expect!["config.toml:2:1: there is no key `sandbx`; write `sandbox`"],
    );
    check(
        "[histroy]\nenabled = true\n",
        expect!["config.toml:1:2: there is no key `histroy`; write `history`"],
    );
    check(
        "[history]\n  durabilty = \"power\"\n",
        expect!["config.toml:2:3: there is no key `durabilty` in `[history]`; write `durability`"],
    );
    check(
        "[limits]\nx = 1\n",
        expect![
            "config.toml:2:1: there is no key `x` in `[limits]`; write one of `running`, `call_seconds`"
        ],
    );
    check(
        "zzz = 1\n",
        expect![
            "config.toml:1:1: there is no key `zzz`; write one of `model`, `sandbox`, `history`, `limits`, `web`, `log`"
        ],
    );
}

#[test]
fn a_key_in_the_wrong_place_gets_the_right_one_as_advice() {
    check(
        "undo_days = 3\n",
        expect!["config.toml:1:1: there is no key `undo_days`; write it below `[history]`"],
    );
    check(
        "[limits]\nsandbox = true\n",
        expect![
            "config.toml:2:1: there is no key `sandbox` in `[limits]`; write it above the first table"
        ],
    );
    check(
        "mode = \"ask\"\n",
        expect![
            "config.toml:1:1: there is no key `mode`; write it in `policy.toml`, beside this file"
        ],
    );
    check(
        "history = true\n",
        expect!["config.toml:1:11: `history` is a table; write `[history]` and its keys below it"],
    );
    check(
        "[[history]]\nenabled = true\n",
        expect!["config.toml:1:1: `history` is a table; write `[history]` and its keys below it"],
    );
}

#[test]
fn values_out_of_bounds_get_the_bounds_as_advice() {
    check(
        "[limits]\nrunning = 0\n",
        expect![
            "config.toml:2:11: `running` takes a number from 1 to 1024, and this is something else; write for example `running = 8`"
        ],
    );
    check(
        "[history]\nundo_days = 99999999999999999999\n",
        expect![
            "config.toml:2:13: `undo_days` takes a number from 0 to 3650, and this is something else; write for example `undo_days = 30`"
        ],
    );
    check(
        "model = \"script:turn.yaml\"\n",
        expect![[
            r#"config.toml:1:9: `model` takes "manual", or "script:" and an absolute path (`~/` is your home), and this is something else; write for example `model = "script:~/turn.yaml"`"#
        ]],
    );
    check(
        "[web]\nsearch = \"searxng:ftp://x.y\"\n",
        expect![[
            r#"config.toml:2:10: `search` takes "none", "searxng:ADDRESS", "brave:VARIABLE" or "tavily:VARIABLE", and this is something else; write for example `search = "searxng:http://localhost:8888/search"`"#
        ]],
    );
}

#[test]
fn invalid_toml_is_reported_with_its_position() {
    check(
        "sandbox = \n",
        expect![
            "config.toml:1:11: not TOML: string values must be quoted, expected literal string; fix the syntax; settings are lines such as `sandbox = true`"
        ],
    );
    check(
        "sandbox = true\nsandbox = false\n",
        expect![
            "config.toml:2:1: not TOML: duplicate key; fix the syntax; settings are lines such as `sandbox = true`"
        ],
    );
}

#[test]
fn a_key_of_a_service_is_not_repeated() {
    let error = parsed("[web]\nsearch = \"brave:hunter22\"\n").unwrap_err();
    assert!(!error.to_string().contains("hunter22"), "{error}");
}
