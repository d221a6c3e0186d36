//! Runs `toolcall policy` and `toolcall trust` in a temporary home and project.
//! Nothing outside of those directories is changed.

#![cfg(unix)]

use std::fs;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::PROGRAM;
use crate::home::CliHome;

fn with_policy(text: &str) -> CliHome {
    let home = CliHome::new();
    home.write("home/.config/toolcall/policy.toml", text);
    home
}

fn verdict(home: &CliHome, text: &str) -> String {
    let output = home.json(&["policy", "explain", text]);
    output["verdict"].as_str().unwrap().to_owned()
}

const RULES: &str = r#"
[[allow]]
run = ["cargo test", "tail"]

[[deny]]
run = "rm"
because = "nothing is deleted here"
"#;

fn check(home: &CliHome, args: &[&str], expected: Expect) {
    expected.assert_eq(&home.printed(args));
}

#[test]
fn a_command_is_explained_part_by_part() {
    let home = with_policy(RULES);
    check(
        &home,
        &[
            "policy",
            "explain",
            "cargo test 2>&1 | tail -5 && rm -rf target",
        ],
        expect![[r#"
            deny  cargo test 2>&1 | tail -5 && rm -rf target
                      nothing is deleted here; rule: deny run = "rm"
                      (~/.config/toolcall/policy.toml:5)
                      understood as 3 programs

            deny  runs the text "cargo test 2>&1 | tail -5 && rm -rf target"
                      nothing is deleted here; rule: deny run = "rm"
                      (~/.config/toolcall/policy.toml:5)
                      to change it: change or remove the rule `deny run = "rm"
                      (~/.config/toolcall/policy.toml:5)`
            allow runs `cargo test` in …/project
                      a rule says so: allow run = ["cargo test", "tail"]
                      (~/.config/toolcall/policy.toml:2)
            allow runs `tail -5` in …/project
                      a rule says so: allow run = ["cargo test", "tail"]
                      (~/.config/toolcall/policy.toml:2)
            ask   runs `rm -rf target` in …/project
                      mode `ask` asks before running a command: no rule allows `rm`
                      to change it: add an `[[allow]]` rule with `run`, or answer the
                      question
        "#]],
    );
    check(
        &home,
        &["policy", "explain", "cargo test && cargo build > log.txt"],
        expect![[r#"
            ask   cargo test && cargo build > log.txt
                      mode `ask` asks before running a command: no rule allows `cargo`
                      understood as 2 programs

            allow runs `cargo test` in …/project
                      a rule says so: allow run = ["cargo test", "tail"]
                      (~/.config/toolcall/policy.toml:2)
            ask   runs `cargo build` in …/project
                      mode `ask` asks before running a command: no rule allows `cargo`
                      to change it: add an `[[allow]]` rule with `run = "cargo build"`, or
                      answer the question
            ask   writes …/project/log.txt
                      mode `ask` asks before writing inside the workspace
                      to change it: add an `[[allow]]` rule, or answer the question

            "always" would remember one of:
                      in this session: exactly = "cargo test && cargo build > log.txt", in = "…/project", write = "./log.txt"
                      in this project: exactly = "cargo test && cargo build > log.txt", in = "…/project", write = "./log.txt"
                      in this session: run = "cargo build", write = "./log.txt"
                      in this project: run = "cargo build", write = "./log.txt"
        "#]],
    );
    check(
        &home,
        &["policy", "explain", "cargo test $X"],
        expect![[r#"
            ask   cargo test $X
                      mode `ask` asks before running a command: it has an expansion (`$`) at
                      byte 11
                      not fully understood: an expansion (`$`) at byte 11

            ask   runs the text "cargo test $X"
                      mode `ask` asks before running a command: it has an expansion (`$`) at
                      byte 11
                      to change it: write it in plain words, or answer the question

            "always" would remember one of:
                      in this session: exactly = "cargo test $X", in = "…/project"
        "#]],
    );
}

#[test]
fn any_tool_is_explained() {
    let home = CliHome::new();
    let explain = |tool: &str, input: Value| {
        let input = input.to_string();
        home.json(&["policy", "explain", "--tool", tool, "--input", &input])
    };
    let output = explain("write_file", json!({"path": ".git/config", "content": "x"}));
    assert_eq!(output["verdict"], "deny");
    assert_eq!(output["rule"], "protected path .git");
    let output = explain("read_file", json!({"path": "a.txt"}));
    assert_eq!(
        (&output["verdict"], &output["mode"]),
        (&json!("allow"), &json!("ask"))
    );
    let output = explain("read_file", json!({"path": 7}));
    assert_eq!(output["verdict"], "fails");
    assert!(
        output["reason"]
            .as_str()
            .unwrap()
            .contains("`/path` must be string")
    );
}

#[test]
fn an_explanation_changes_nothing() {
    let home = with_policy(RULES);
    home.printed(&["policy", "explain", "touch made"]);
    let input = r#"{"path": "made", "content": "x"}"#;
    home.printed(&[
        "policy",
        "explain",
        "--tool",
        "write_file",
        "--input",
        input,
    ]);
    assert!(!home.has("made"));
}

#[test]
fn a_call_that_cannot_be_explained_is_reported() {
    let home = CliHome::new();
    let (code, _, complaint) = home.run(&["policy", "explain", "--tool", "x", "--input", "{"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("--input is not JSON; write one object"),
        "{complaint}"
    );
    let (code, text, _) = home.run(&["policy", "explain", "--tool", "read_files"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("did you mean `read_file`"), "{text}");
}

#[test]
fn flags_are_layers_of_the_policy() {
    let home = with_policy(RULES);
    let verdict_with = |args: &[&str]| {
        let output = home.json(&[&["policy", "explain"], args].concat());
        output["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!(verdict_with(&["make"]), "ask");
    assert_eq!(verdict_with(&["make", "--mode", "allow-all"]), "allow");
    assert_eq!(verdict_with(&["rm x", "--mode", "allow-all"]), "deny");
    assert_eq!(verdict_with(&["cargo test", "--mode", "read-only"]), "deny");
    let extra = home.write("extra.toml", "[[allow]]\nrun = 'make'\n");
    assert_eq!(
        verdict_with(&["make", "--policy", extra.to_str().unwrap()]),
        "allow"
    );
}

#[test]
fn every_file_is_checked_and_errors_have_a_position() {
    let home = with_policy("[[allow]]\nrun = 'git status'\nmatches = ['git push']\n");
    home.write("project/.toolcall/policy.toml", RULES);
    let (code, text, _) = home.run(&["policy", "check"]);
    assert_eq!(code, Some(1));
    expect![[r#"
        broken    ~/.config/toolcall/policy.toml:3:12: the rule does not match its example `git push`; widen the rule, or take the example out of `matches`
        good      …/project/.toolcall/policy.toml, 2 rules; not trusted, so its allow rules do not apply (`toolcall trust`)
    "#]].assert_eq(&text);
    let output = home.json(&["policy", "check"]);
    assert_eq!(output[0]["state"], "broken");
    assert_eq!(
        (&output[0]["line"], &output[0]["column"]),
        (&json!(3), &json!(12))
    );
    assert_eq!(output[1]["state"], "untrusted");
}

#[test]
fn a_file_that_does_not_apply_yet_is_checked() {
    let home = CliHome::new();
    home.write("project/new.toml", RULES);
    assert_eq!(
        home.printed(&["policy", "check", "new.toml"]),
        "good      new.toml, 2 rules\n"
    );
    home.write("project/new.toml", "[[alow]]\n");
    let (code, text, _) = home.run(&["policy", "check", "new.toml"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        text,
        "broken    new.toml:1:3: there is no key `alow`; write `allow`\n"
    );
}

#[test]
fn a_broken_policy_lets_nothing_run() {
    let home = with_policy("[[allow]]\nrum = 'ls'\n");
    let (code, text, _) = home.run(&["call", "read_file", "path=a.txt", "--yes"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("there is no key `rum`"), "{text}");
    let (code, text, _) = home.run(&["policy", "list"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("everything is denied: ~/.config/toolcall/policy.toml:2:1:"),
        "{text}"
    );
}

#[test]
fn calls_go_by_the_policy() {
    let home = with_policy("[[allow]]\nrun = 'echo'\n[[deny]]\nrun = 'rm'\n");
    let call = |command: &str| {
        let command = format!("command={command}");
        home.run(&["call", "run_command", &command]).0
    };
    assert_eq!(call("echo hello"), Some(0));
    assert_eq!(call("rm a.txt"), Some(3));
    assert_eq!(call("cp a.txt b.txt"), Some(3));
    assert!(home.has("a.txt"));
    assert!(!home.has("b.txt"));
}

#[test]
fn allow_all_says_loudly_what_it_is() {
    let home = CliHome::new();
    let (code, _, complaint) = home.run(&[
        "call",
        "run_command",
        "command=touch b",
        "--mode",
        "allow-all",
    ]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("ALLOW-ALL: commands, writes, deletions"),
        "{complaint}"
    );
    assert!(home.has("b"));
}

#[test]
fn rules_are_listed_and_remembered_answers_forgotten() {
    let home = with_policy(RULES);
    home.write(
        "home/.local/state/toolcall/kept/everywhere.toml",
        "# Kept 2026-01-02T03:04:05Z, for \"make\" (call c of session s)\n[[allow]]\nrun = \"make\"\n",
    );
    assert_eq!(verdict(&home, "make"), "allow");
    let text = home.printed(&["policy", "list"]);
    expect![[r#"
        mode ask

        …/home/.config/toolcall/policy.toml
          allow run = ["cargo test", "tail"]
          deny  run = "rm"

        …/project/.toolcall/policy.toml (none)

        remembered answers
          allow 4438a4fc run = "make"
                  everywhere. Kept 2026-01-02T03:04:05Z, for "make" (call c of session
                  s)
    "#]]
    .assert_eq(&text);
    let output = home.json(&["policy", "list"]);
    let id = output["kept"][0]["id"].as_str().unwrap().to_owned();
    let (code, _, complaint) = home.run(&["policy", "forget", "00000000"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("there is no remembered answer `00000000`"),
        "{complaint}"
    );
    let text = home.printed(&["policy", "forget", &id]);
    assert_eq!(text, format!("forgot {id} run = \"make\"\n"));
    assert_eq!(verdict(&home, "make"), "ask");
    assert_eq!(
        home.printed(&["policy", "forget", "--all"]),
        "no answers are remembered\n"
    );
}

const SERVERS: &str = r#"{"mcpServers": {"evil": {"command": "touch", "args": ["started"]}}}"#;

#[test]
fn a_project_is_shown_before_it_is_trusted() {
    let home = CliHome::new();
    home.write("project/.toolcall/policy.toml", "[[allow]]\nrun = 'make'\n");
    home.write("project/.mcp.json", SERVERS);
    assert_eq!(verdict(&home, "make"), "ask");
    let (code, text, complaint) = home.run(&["trust"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("there is no terminal to ask at; add --yes"),
        "{complaint}"
    );
    expect![[r#"
        …/project

          .toolcall/policy.toml: not trusted yet
                  [[allow]]
                  run = 'make'
                  sha256 0634031e7ac76379b7ab63ea4150829f29c6670d055be26b85e509aafd9bb2ce

          .mcp.json: not trusted yet
                  {"mcpServers": {"evil": {"command": "touch", "args": ["started"]}}}
                  sha256 3063d40733cbfdeebfbddbdca94d4904bfd5e93f4c4285e8e2c461f2f0cfe0b6
    "#]]
    .assert_eq(&text);
    assert_eq!(verdict(&home, "make"), "ask");
    home.printed(&["trust", "--yes"]);
    assert_eq!(verdict(&home, "make"), "allow");
    home.write(
        "project/.toolcall/policy.toml",
        "[[allow]]\nrun = ['make', 'wget']\n",
    );
    assert_eq!(verdict(&home, "make"), "ask");
    let (_, text, _) = home.run(&["trust"]);
    expect![[r#"
        …/project

          .toolcall/policy.toml: changed since it was trusted
                  changes .toolcall/policy.toml
                    [[allow]]
                  - run = 'make'
                  + run = ['make', 'wget']
                  sha256 1598e6234cbed6b458f7fe9e401e438a419553c0182380593ffac285f3c6fef9

          .mcp.json: trusted
                  sha256 3063d40733cbfdeebfbddbdca94d4904bfd5e93f4c4285e8e2c461f2f0cfe0b6
    "#]]
    .assert_eq(&text);
    let output = home.json(&["trust"]);
    assert_eq!(
        (&output["trusted"], &output["files"][0]["state"]),
        (&json!(false), &json!("changed"))
    );
    assert_eq!(home.json(&["trust", "--yes"])["trusted"], true);
    assert_eq!(verdict(&home, "wget x"), "allow");
    assert_eq!(
        home.printed(&["trust", "--revoke"]),
        "…/project is no longer trusted\n"
    );
    assert_eq!(verdict(&home, "make"), "ask");
}

#[test]
fn no_call_trusts_or_forgets_anything() {
    let home = with_policy("mode = 'allow-all'\n");
    home.write("project/.toolcall/policy.toml", "[[deny]]\nrun = 'make'\n");
    for task in ["trust --yes", "policy forget --all"] {
        let command = format!("command={PROGRAM} {task}");
        let (code, text, _) = home.run(&["call", "run_command", &command]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("a tool call may not run"), "{text}");
    }
    assert_eq!(home.json(&["trust"])["trusted"], false);
}

#[test]
fn a_project_without_files_has_nothing_to_trust() {
    let text = CliHome::new().printed(&["trust"]);
    assert!(text.contains("there is nothing to trust"), "{text}");
}

#[test]
fn an_untrusted_project_is_named_when_a_call_is_made() {
    let home = CliHome::new();
    home.write("project/.toolcall/policy.toml", "[[allow]]\nrun = 'make'\n");
    let (code, _, complaint) = home.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        complaint,
        "warning: `…/project/.toolcall/policy.toml` is not trusted, so what it allows is left \
         out; look at it with `toolcall trust`\n"
    );
}

/// Counts the programs that are started and the connections that are made, with strace.
#[test]
#[cfg(target_os = "linux")]
fn nothing_of_a_project_runs_before_it_is_trusted() {
    let home = CliHome::new();
    home.write(
        "project/.toolcall/policy.toml",
        "[[allow]]\nrun = ['touch', 'make']\n",
    );
    home.write("project/.mcp.json", SERVERS);
    home.write(
        "project/.git/config",
        "[core]\n\tfsmonitor = touch started\n",
    );
    let log = home.path().join("strace.log");
    for args in [
        &["tools"][..],
        &["call", "read_file", "path=a.txt"],
        &["call", "run_command", "command=touch started"],
        &["policy", "explain", "git status"],
        &["policy", "list"],
        &["trust"],
    ] {
        let traced = ["-f", "-qq", "-e", "trace=execve,execveat,connect", "-o"];
        let traced = [&traced, &[log.to_str().unwrap(), PROGRAM][..], args].concat();
        let mut command = home.command("strace", &traced);
        let Ok(output) = command.output() else {
            assert_eq!(std::env::var_os("CI"), None, "strace is missing");
            eprintln!("skipped: strace is not installed");
            return;
        };
        let complaint = String::from_utf8_lossy(&output.stderr);
        let seen = fs::read_to_string(&log).unwrap_or_else(|error| panic!("{error}: {complaint}"));
        let calls = seen.lines().filter(|line| line.contains('('));
        assert_eq!(
            calls.count(),
            1,
            "{args:?} did more than start itself:\n{seen}"
        );
    }
    assert!(!home.has("started"));
}
