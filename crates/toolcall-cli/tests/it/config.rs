//! Runs `toolcall config` in a temporary home and project, and calls with its settings.
//! No network is used, and nothing outside of those directories is changed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use serde_json::{Value, json};

use crate::home::CliHome;

const SETTINGS: &str = "home/.config/toolcall/config.toml";
const SERVERS: &str = "home/.config/toolcall/mcp.json";
const HISTORY: &str = "home/.local/state/toolcall/history.db";
const DOCUMENT: &str = include_str!("../../../../docs/config.md");

#[test]
fn the_file_is_written_once_and_is_private() {
    let home = CliHome::new();
    let text = home.printed(&["config", "init"]);
    expect![[r#"
        wrote …/home/.config/toolcall/config.toml
        every key is at its default; to change one, remove the `#` before it
    "#]]
    .assert_eq(&text);
    let file = home.path().join(SETTINGS);
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    fs::write(&file, "sandbox = true\n").unwrap();
    let (code, _, complaint) = home.run(&["config", "init"]);
    assert_eq!(code, Some(1));
    expect![[r#"
        error: `…/home/.config/toolcall/config.toml` already exists and was not changed; edit it, or remove it first
    "#]].assert_eq(&complaint);
    assert_eq!(fs::read_to_string(&file).unwrap(), "sandbox = true\n");
}

#[test]
fn the_documentation_has_the_file_as_it_is_written() {
    let home = CliHome::new();
    home.printed(&["config", "init"]);
    let written = fs::read_to_string(home.path().join(SETTINGS)).unwrap();
    let blocks = DOCUMENT.split("```toml\n").skip(1);
    let blocks: Vec<_> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks, [written]);
}

#[test]
fn the_file_is_where_the_environment_says() {
    let home = CliHome::new();
    let text = home.printed(&["config", "path"]);
    assert_eq!(text, "…/home/.config/toolcall/config.toml\n");
    let mut command = home.toolcall(&["config", "path"]);
    let output = command.env("XDG_CONFIG_HOME", "/etc/x").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, "/etc/x/toolcall/config.toml\n");
}

#[test]
fn every_key_is_shown_with_where_it_comes_from() {
    let home = CliHome::new();
    let text = home.printed(&["config", "show"]);
    expect![[r#"
        …/home/.config/toolcall/config.toml does not exist, so every key has its default; `toolcall config init` writes it
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
    home.write(
        SETTINGS,
        "model = \"script:/w/turn.yaml\"\n\n[history]\nundo_days = 30\nenabled = true\n",
    );
    let text = home.printed(&["config", "show"]);
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
    let home = CliHome::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/config.toml");
    home.write(SETTINGS, &fs::read_to_string(fixture).unwrap());
    let text = home.printed(&["config", "show"]);
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
fn settings_are_shown_as_json() {
    let home = CliHome::new();
    assert_eq!(home.json(&["config", "show"])["exists"], false);
    home.write(SETTINGS, "[limits]\nrunning = 3\n");
    let shown = home.json(&["config", "show"]);
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
    let home = CliHome::new();
    home.write(SETTINGS, "\n[history]\nenable = false\n");
    let complaint = "error: …/home/.config/toolcall/config.toml:3:1: there is no key `enable` in `[history]`; write `enabled`\n";
    for args in [
        &["config", "show"][..],
        &["call", "write_file", "path=b.txt", "content=x", "--yes"],
        &["mcp", "serve"],
    ] {
        let outcome = home.run(args);
        assert_eq!(outcome, (Some(1), String::new(), complaint.to_owned()));
    }
    assert!(!home.has("b.txt"));
}

#[test]
fn an_unreadable_file_is_an_error() {
    let home = CliHome::new();
    fs::create_dir_all(home.path().join(SETTINGS)).unwrap();
    let (code, _, complaint) = home.run(&["config", "show"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("config.toml: it is not a plain file; put a file there"),
        "{complaint}"
    );
}

#[test]
fn settings_that_others_can_write_are_refused() {
    let home = CliHome::new();
    for (file, args, code) in [
        (SETTINGS, &["config", "show"][..], Some(1)),
        (SERVERS, &["mcp", "list"], Some(1)),
    ] {
        home.write(file, "{}");
        let others = fs::Permissions::from_mode(0o666);
        fs::set_permissions(home.path().join(file), others).unwrap();
        let (ended, printed, complaint) = home.run(args);
        assert_eq!(ended, code);
        let said = format!("{printed}{complaint}");
        assert!(
            said.contains("others may write this file; run `chmod go-w"),
            "{said}"
        );
    }
}

#[test]
fn a_disabled_history_is_not_created() {
    let home = CliHome::new();
    home.write(SETTINGS, "history.enabled = false\n");
    home.printed(&["call", "read_file", "path=a.txt"]);
    assert!(!home.path().join(HISTORY).exists());
    home.write(SETTINGS, "history.enabled = true\n");
    home.printed(&["call", "read_file", "path=a.txt"]);
    assert!(home.path().join(HISTORY).exists());
}

#[test]
fn calls_are_refused_without_a_history_only_if_set() {
    let home = CliHome::new();
    fs::create_dir_all(home.path().join(HISTORY)).unwrap();
    let write = ["call", "write_file", "path=b.txt", "content=x", "--yes"];
    home.write(SETTINGS, "history.on_failure = \"refuse\"\n");
    let (code, text, complaint) = home.run(&write);
    assert_eq!((code, &*text), (Some(1), ""), "{complaint}");
    assert!(
        complaint.contains("and `history.on_failure` is \"refuse\": "),
        "{complaint}"
    );
    assert!(!home.has("b.txt"));
    home.write(SETTINGS, "");
    let (code, _, complaint) = home.run(&write);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("calls are not recorded in the history"),
        "{complaint}"
    );
    assert!(home.has("b.txt"));
}

#[test]
fn inputs_are_not_recorded_if_set() {
    let home = CliHome::new();
    let write = ["call", "write_file", "path=b.txt", "content=x", "--yes"];
    home.printed(&write);
    let shown = home.printed(&["history", "call", "last"]);
    assert!(shown.contains("content"), "{shown}");
    home.write(SETTINGS, "[history]\ncontents = false\nundo_days = 0\n");
    home.printed(&write);
    let shown = home.printed(&["history", "call", "last"]);
    assert!(!shown.contains("content"), "{shown}");
    let (code, _, _) = home.run(&["history", "undo", "last", "--yes"]);
    assert_eq!(code, Some(1));
}

#[test]
fn commands_run_in_a_sandbox_if_set() {
    let home = CliHome::new();
    let outside = home.path().join("home/made");
    let command = format!("command=touch {}", outside.display());
    let touch = ["call", "run_command", &command, "--yes"];
    home.write(SETTINGS, "sandbox = true\n");
    // Without sandbox support in the kernel, no command runs.
    let (code, text, _) = home.run(&touch);
    assert_eq!((code, outside.exists()), (Some(1), false), "{text}");
    home.write(SETTINGS, "sandbox = false\n");
    let (code, text, _) = home.run(&touch);
    assert_eq!((code, outside.exists()), (Some(0), true), "{text}");
}

#[test]
fn web_search_exists_only_with_a_service() {
    let home = CliHome::new();
    let names = |home: &CliHome| -> Vec<String> {
        let tools = home.json(&["tools"]);
        let tools = tools.as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let search = "web_search".to_owned();
    assert!(!names(&home).contains(&search));
    home.write(
        SETTINGS,
        "web.search = \"searxng:http://localhost:8888/search\"\n",
    );
    assert!(names(&home).contains(&search));
    home.write(SETTINGS, "web.search = \"brave:BRAVE_KEY\"\n");
    let (code, _, complaint) = home.run(&["tools"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        complaint,
        "error: `web.search` takes its key from `BRAVE_KEY`, which is not set; set it, or write `search = \"none\"`\n"
    );
    let mut command = home.toolcall(&["tools", "web_search"]);
    let output = command.env("BRAVE_KEY", "hunter22").output().unwrap();
    assert!(output.status.success());
}

#[test]
fn no_tool_writes_settings() {
    let home = CliHome::new();
    let mut command = home.toolcall(&["config", "init"]);
    let output = command.env("TOOLCALL_COMMAND", "1").output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("a tool call may not run"), "{complaint}");
    assert!(!home.path().join(SETTINGS).exists());
}
