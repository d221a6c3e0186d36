//! Runs `toolcall config` as it is, in a home and a project of their own, and calls that are made as it says.
//! No network is reached, and nothing outside of those folders is changed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use serde_json::{Value, json};

use crate::place::Place;

const SETTINGS: &str = "home/.config/toolcall/config.toml";
const SERVERS: &str = "home/.config/toolcall/mcp.json";
const HISTORY: &str = "home/.local/state/toolcall/history.db";
const DOCUMENT: &str = include_str!("../../../../docs/config.md");

#[test]
fn the_file_is_written_once_and_for_its_owner() {
    let place = Place::new();
    let text = place.printed(&["config", "init"]);
    expect![[r#"
        wrote …/home/.config/toolcall/config.toml
        every key in it is at its default; take the `#` before one away to change it
    "#]]
    .assert_eq(&text);
    let file = place.path().join(SETTINGS);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(&file, "sandbox = true\n").unwrap();
    let (code, _, complaint) = place.run(&["config", "init"]);
    assert_eq!(code, Some(1));
    expect![[r#"
        error: `…/home/.config/toolcall/config.toml` is there already and is left as it is; edit it, or take it away first
    "#]].assert_eq(&complaint);
    assert_eq!(fs::read_to_string(&file).unwrap(), "sandbox = true\n");
}

#[test]
fn the_documentation_has_the_file_as_it_is_written() {
    let place = Place::new();
    place.printed(&["config", "init"]);
    let written = fs::read_to_string(place.path().join(SETTINGS)).unwrap();
    let blocks = DOCUMENT.split("```toml\n").skip(1);
    let blocks: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks, [written]);
}

#[test]
fn the_file_is_where_the_environment_says() {
    let place = Place::new();
    let text = place.printed(&["config", "path"]);
    assert_eq!(text, "…/home/.config/toolcall/config.toml\n");
    let mut command = place.toolcall(&["config", "path"]);
    let output = command.env("XDG_CONFIG_HOME", "/etc/x").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "/etc/x/toolcall/config.toml\n");
}

#[test]
fn every_key_is_shown_with_where_it_comes_from() {
    let place = Place::new();
    let text = place.printed(&["config", "show"]);
    expect![[r#"
        …/home/.config/toolcall/config.toml is not there, so every key has its default; `toolcall config init` writes it
        model = "manual"                default
        sandbox = false                 default
        history.enabled = true          default
        history.durability = "process"  default
        history.contents = true         default
        history.on_failure = "go-on"    default
        history.undo_days = 7           default
        limits.running = 64             default
        limits.call_seconds = 1800      default
        web.search = "none"             default
        log.file = "none"               default
    "#]].assert_eq(&text);
    place.write(
        SETTINGS,
        "model = \"script:/w/turn.yaml\"\n\n[history]\nundo_days = 30\nenabled = true\n",
    );
    let text = place.printed(&["config", "show"]);
    expect![[r#"
        …/home/.config/toolcall/config.toml
        model = "script:/w/turn.yaml"   config.toml:1
        sandbox = false                 default
        history.enabled = true          config.toml:5
        history.durability = "process"  default
        history.contents = true         default
        history.on_failure = "go-on"    default
        history.undo_days = 30          config.toml:4
        limits.running = 64             default
        limits.call_seconds = 1800      default
        web.search = "none"             default
        log.file = "none"               default
    "#]]
    .assert_eq(&text);
}

/// The file has every key of an earlier version, and never changes.
#[test]
fn settings_of_an_earlier_version_load() {
    let place = Place::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/config.toml");
    place.write(SETTINGS, &fs::read_to_string(fixture).unwrap());
    let text = place.printed(&["config", "show"]);
    expect![[r#"
        …/home/.config/toolcall/config.toml
        model = "script:/project/turn.yaml"            config.toml:10
        sandbox = true                                 config.toml:15
        history.enabled = true                         config.toml:21
        history.durability = "power"                   config.toml:26
        history.contents = false                       config.toml:31
        history.on_failure = "refuse"                  config.toml:35
        history.undo_days = 30                         config.toml:40
        limits.running = 8                             config.toml:46
        limits.call_seconds = 60                       config.toml:51
        web.search = "searxng:http://localhost:8888/"  config.toml:58
        log.file = "/project/agent.log"                config.toml:64
    "#]]
    .assert_eq(&text);
}

#[test]
fn programs_are_shown_the_same() {
    let place = Place::new();
    assert_eq!(place.json(&["config", "show"])["exists"], false);
    place.write(SETTINGS, "[limits]\nrunning = 3\n");
    let shown = place.json(&["config", "show"]);
    assert_eq!(shown["exists"], true);
    let keys = shown["keys"].as_array().unwrap();
    let key = |name: &str| -> &Value { keys.iter().find(|key| key["key"] == name).unwrap() };
    assert_eq!(
        key("limits.running"),
        &json!({"key": "limits.running", "value": 3, "default": 64, "line": 2})
    );
    assert_eq!(
        key("log.file"),
        &json!({"key": "log.file", "value": "none", "default": "none", "line": null})
    );
}

#[test]
fn no_call_is_made_with_a_broken_file() {
    let place = Place::new();
    place.write(SETTINGS, "\n[history]\nenable = false\n");
    let complaint = "error: …/home/.config/toolcall/config.toml:3:1: there is no key `enable` in `[history]`; write `enabled`\n";
    for args in [
        &["config", "show"][..],
        &["call", "write_file", "path=b.txt", "content=x", "--yes"],
        &["mcp", "serve"],
    ] {
        let outcome = place.run(args);
        assert_eq!(outcome, (Some(1), String::new(), complaint.to_owned()));
    }
    assert!(!place.has("b.txt"));
}

#[test]
fn a_file_that_cannot_be_read_is_not_taken_for_none() {
    let place = Place::new();
    fs::create_dir_all(place.path().join(SETTINGS)).unwrap();
    let (code, _, complaint) = place.run(&["config", "show"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("config.toml: it is not a plain file; put a file there"),
        "{complaint}"
    );
}

#[test]
fn settings_that_others_may_write_do_not_hold() {
    let place = Place::new();
    for (file, args, code) in [
        (SETTINGS, &["config", "show"][..], Some(1)),
        (SERVERS, &["mcp", "list"], Some(1)),
    ] {
        place.write(file, "{}");
        let others = fs::Permissions::from_mode(0o666);
        fs::set_permissions(place.path().join(file), others).unwrap();
        let (ended, printed, complaint) = place.run(args);
        assert_eq!(ended, code);
        let said = format!("{printed}{complaint}");
        assert!(
            said.contains("others may write this file; run `chmod go-w"),
            "{said}"
        );
    }
}

#[test]
fn a_history_that_is_not_wanted_is_not_made() {
    let place = Place::new();
    place.write(SETTINGS, "history.enabled = false\n");
    place.printed(&["call", "read_file", "path=a.txt"]);
    assert!(!place.path().join(HISTORY).exists());
    place.write(SETTINGS, "history.enabled = true\n");
    place.printed(&["call", "read_file", "path=a.txt"]);
    assert!(place.path().join(HISTORY).exists());
}

#[test]
fn calls_are_refused_without_a_history_only_if_it_is_set_so() {
    let place = Place::new();
    fs::create_dir_all(place.path().join(HISTORY)).unwrap();
    let write = ["call", "write_file", "path=b.txt", "content=x", "--yes"];
    place.write(SETTINGS, "history.on_failure = \"refuse\"\n");
    let (code, text, complaint) = place.run(&write);
    assert_eq!((code, &*text), (Some(1), ""), "{complaint}");
    assert!(
        complaint.contains("and `history.on_failure` is \"refuse\": "),
        "{complaint}"
    );
    assert!(!place.has("b.txt"));
    place.write(SETTINGS, "");
    let (code, _, complaint) = place.run(&write);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("is not kept in the history"),
        "{complaint}"
    );
    assert!(place.has("b.txt"));
}

#[test]
fn inputs_are_not_kept_if_it_is_set_so() {
    let place = Place::new();
    let write = ["call", "write_file", "path=b.txt", "content=x", "--yes"];
    place.printed(&write);
    let shown = place.printed(&["history", "call", "last"]);
    assert!(shown.contains("content"), "{shown}");
    place.write(SETTINGS, "[history]\ncontents = false\nundo_days = 0\n");
    place.printed(&write);
    let shown = place.printed(&["history", "call", "last"]);
    assert!(!shown.contains("content"), "{shown}");
    let (code, _, _) = place.run(&["history", "undo", "last", "--yes"]);
    assert_eq!(code, Some(1));
}

#[test]
fn commands_run_in_a_sandbox_if_it_is_set_so() {
    let place = Place::new();
    let outside = place.path().join("home/made");
    let command = format!("command=touch {}", outside.display());
    let touch = ["call", "run_command", &command, "--yes"];
    place.write(SETTINGS, "sandbox = true\n");
    // Where the kernel has no sandbox, nothing is run without one.
    let (code, text, _) = place.run(&touch);
    assert_eq!((code, outside.exists()), (Some(1), false), "{text}");
    place.write(SETTINGS, "sandbox = false\n");
    let (code, text, _) = place.run(&touch);
    assert_eq!((code, outside.exists()), (Some(0), true), "{text}");
}

#[test]
fn the_web_is_searched_if_somebody_does() {
    let place = Place::new();
    let names = |place: &Place| -> Vec<String> {
        let tools = place.json(&["tools"]);
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let search = "web_search".to_owned();
    assert!(!names(&place).contains(&search));
    place.write(
        SETTINGS,
        "web.search = \"searxng:http://localhost:8888/search\"\n",
    );
    assert!(names(&place).contains(&search));
    place.write(SETTINGS, "web.search = \"brave:BRAVE_KEY\"\n");
    let (code, _, complaint) = place.run(&["tools"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        complaint,
        "error: `web.search` takes its key from `BRAVE_KEY`, which is not set; set it, or write `search = \"none\"`\n"
    );
    let mut command = place.toolcall(&["tools", "web_search"]);
    let output = command.env("BRAVE_KEY", "hunter22").output().unwrap();
    assert!(output.status.success());
}

#[test]
fn no_tool_writes_settings() {
    let place = Place::new();
    let mut command = place.toolcall(&["config", "init"]);
    let output = command.env("TOOLCALL_COMMAND", "1").output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("is for people"), "{complaint}");
    assert!(!place.path().join(SETTINGS).exists());
}
