//! Calls are listed, shown, found and counted.
//! Text fits into eighty columns; the same data is available as JSON.

use serde_json::{Value, json};

use crate::history::fixture::{check_width, edit, recorded_calls, search};
use crate::home::CliHome;

#[test]
fn a_call_is_recorded_and_shown() {
    let home = CliHome::new();
    edit(&home, "one", "two");
    let output = home.json(&["history", "call", "last"]);
    assert_eq!(output["tool"], "edit_file");
    assert_eq!(output["status"], "completed");
    assert_eq!(output["decision"]["by"], "person");
    assert_eq!(output["questions"].as_array().unwrap().len(), 1);
    assert_eq!(output["input"]["path"], "a.txt");
    assert_eq!(
        (
            &output["changes"][0]["before"],
            &output["changes"][0]["after"]
        ),
        (&json!("one\n"), &json!("two\n"))
    );
    let events = output["events"].as_array().unwrap().iter();
    let names: Vec<&str> = events
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "announced",
            "prepared",
            "asked",
            "decided",
            "started",
            "finished"
        ]
    );
    let text = home.printed(&["history", "call", "last"]);
    check_width(&text);
    for shown in [
        "✓ completed Edit a.txt\n",
        "/call-1, edit_file (edit)\n",
        "decision\n          asked because of rule `",
        "by the user, this once after",
        "input\n          {\n            \"path\": \"a.txt\",\n",
        "changes\n          changes …/project/a.txt\n          - one\n          + two\n",
        "undo it with `toolcall history undo ",
    ] {
        assert!(text.contains(shown), "`{shown}` is not in:\n{text}");
    }
}

#[test]
fn sessions_are_listed_with_how_their_calls_ended() {
    let home = recorded_calls();
    let text = home.printed(&["history"]);
    check_width(&text);
    let notes: Vec<&str> = text.lines().map(str::trim).collect();
    let notes: Vec<&str> = notes.iter().skip(1).step_by(2).copied().collect();
    assert_eq!(
        notes,
        [
            "1 call: 1 failed (Read missing.txt)",
            "1 call: 1 denied (rm -rf .)",
            "1 call: 1 completed (printf hello)",
            "1 call: 1 completed (Edit a.txt)",
            "1 call: 1 completed (Read a.txt)",
        ]
    );
    assert_eq!(text.matches("toolcall call in …/project").count(), 5);
    let output = home.json(&["history"]);
    let keys: Vec<&String> = output[0].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "session", "agent", "client", "cwd", "began", "latest", "records", "calls", "endings"
        ]
    );
    assert_eq!(output[0]["endings"], json!({"failed": 1}));
    assert_eq!(output.as_array().unwrap().len(), 5);
}

#[test]
fn a_session_is_shown_as_a_timeline() {
    let home = recorded_calls();
    let text = home.printed(&["history", "show", "last"]);
    check_width(&text);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("session "), "{text}");
    assert!(
        lines[0].contains("toolcall call 0.1.0 in …/project"),
        "{text}"
    );
    assert!(lines[1].ends_with("; 1 call: 1 failed"), "{text}");
    assert!(
        lines[4].starts_with("  call-1 ✗ failed     Read missing.txt"),
        "{text}"
    );
    assert!(lines[5].contains("░ waiting for you"), "{text}");
    let output = home.json(&["history", "show", "last"]);
    assert_eq!(output["calls"][0]["status"], "failed");
    assert_eq!(output["events"][0]["event"], "session_opened");
    assert_eq!(output["events"][0]["agent"], "toolcall call");
}

#[test]
fn calls_are_found_by_what_is_known_of_them() {
    let home = recorded_calls();
    assert_eq!(search(&home, &[]).len(), 5);
    assert_eq!(
        search(&home, &["--tool", "read_file"]),
        ["read_file failed", "read_file completed"]
    );
    assert_eq!(search(&home, &["--kind", "edit"]), ["edit_file completed"]);
    assert_eq!(
        search(&home, &["--status", "denied"]),
        ["run_command denied"]
    );
    assert_eq!(
        search(&home, &["--path", "a.txt"]),
        ["edit_file completed", "read_file completed"]
    );
    assert_eq!(
        search(&home, &["--text", "hello"]),
        ["run_command completed"]
    );
    assert_eq!(search(&home, &["--limit", "2"]).len(), 2);
    assert_eq!(search(&home, &["--since", "1h"]).len(), 5);
    assert_eq!(search(&home, &["--until", "1h"]).len(), 0);
    let sessions = home.json(&["history", "--status", "denied"]);
    assert_eq!(sessions.as_array().unwrap().len(), 1);
    let text = home.printed(&["history", "search"]);
    check_width(&text);
    let denied = text.lines().nth(1).unwrap();
    assert!(denied.contains("✗ denied           -  rm -rf ."), "{text}");
    // The name that is shown can be typed.
    let name = denied.split(' ').next().unwrap();
    assert_eq!(home.json(&["history", "call", name])["status"], "denied");
    let (code, _, complaint) = home.run(&["history", "search", "--since", "soon"]);
    assert_eq!(code, Some(2));
    assert!(
        complaint.contains("write it like 90m, 2d, 1w"),
        "{complaint}"
    );
}

#[test]
fn sessions_and_calls_are_named_by_a_beginning() {
    let home = CliHome::new();
    home.printed(&["call", "read_file", "path=a.txt"]);
    home.printed(&["call", "list_directory", "path=."]);
    let output = home.json(&["history"]);
    let id = |index: usize| output[index]["session"].as_str().unwrap().to_owned();
    let (latest, first) = (id(0), id(1));
    let tool = |args: &[&str]| {
        let output = home.json(&[&["history", "call"], args].concat());
        output["tool"].as_str().unwrap().to_owned()
    };
    assert_eq!(tool(&["last"]), "list_directory");
    assert_eq!(tool(&[&latest[..8]]), "list_directory");
    assert_eq!(tool(&[&format!("{}/call-1", &first[..8])]), "read_file");
    assert_eq!(tool(&["call", "--session", &first]), "read_file");
    let (code, _, complaint) = home.run(&["history", "call", "call-1"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        complaint,
        format!(
            "error: the ids of 2 calls match `call-1`: `{latest}/call-1`, `{first}/call-1`; add the session, as in SESSION/CALL, or use `last`\n"
        )
    );
    let (code, _, complaint) = home.run(&["history", "show", ""]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("the ids of 2 sessions begin with ``: "),
        "{complaint}"
    );
    let (code, _, complaint) = home.run(&["history", "show", "nobody"]);
    assert_eq!(code, Some(1));
    assert_eq!(
        complaint,
        "error: there is no session `nobody`; `toolcall history` lists them\n"
    );
}

#[test]
fn figures_are_shown() {
    let home = recorded_calls();
    let text = home.printed(&["stats"]);
    check_width(&text);
    assert!(
        text.starts_with("5 calls, 60 % completed; waited for you "),
        "{text}"
    );
    for shown in [
        "\ntool ",
        "\nread_file       2 ████████  50 %",
        "\ndenied by\n      1  deny run = \"rm\"",
        "\nslowest\n",
        "\nmost edited\n      1  …/project/a.txt\n",
    ] {
        assert!(text.contains(shown), "`{shown}` is not in:\n{text}");
    }
    for (by, name) in [
        ("kind", "execute"),
        ("agent", "toolcall call"),
        ("day", "20"),
    ] {
        let text = home.printed(&["stats", "--by", by]);
        assert!(text.contains(&format!("\n{name}")), "{text}");
    }
    let output = home.json(&["stats", "--since", "1h"]);
    assert_eq!(output["all"]["calls"], 5);
    assert_eq!(output["all"]["success_rate"], 0.6);
    assert_eq!(output["denials"].as_array().unwrap().len(), 1);
    assert_eq!(output["by_agent"][0]["name"], "toolcall call");
    let later = home.json(&["stats", "--since", "2999-01-01"]);
    assert_eq!(later["all"]["calls"], 0);
    assert_eq!(
        home.printed(&["stats", "--since", "2999-01-01"]),
        "no calls were made in that time\n"
    );
}

fn keys(output: &Value) -> String {
    let keys = output.as_object().unwrap().keys();
    let keys: Vec<&str> = keys.map(String::as_str).collect();
    keys.join(" ")
}

#[test]
fn the_keys_of_json_stay_the_same() {
    let home = recorded_calls();
    let line = "session call parent tool kind title status reason effect by rule announced started ended queued_ms waited_ms ran_ms bytes";
    assert_eq!(keys(&home.json(&["history", "search"])[0]), line);
    assert_eq!(
        keys(&home.json(&["history", "call", "last"])),
        format!("{line} decision questions can_undo input changes output result events")
    );
    let stats = home.json(&["stats"]);
    assert_eq!(
        keys(&stats),
        "all by_tool by_kind by_agent by_day denials slowest most_edited"
    );
    assert_eq!(
        keys(&stats["all"]),
        "name calls completed failed denied cancelled timed_out interrupted open success_rate ran_ms waited_ms bytes"
    );
    assert_eq!(keys(&stats["slowest"][0]), line);
}

#[test]
fn a_cut_list_says_so() {
    let home = CliHome::new();
    for _ in 0..21 {
        home.printed(&["call", "thinking", "thought=once more"]);
    }
    let text = home.printed(&["history"]);
    assert!(
        text.ends_with("the latest 20; --limit shows more\n"),
        "{text}"
    );
    let text = home.printed(&["history", "--limit", "21"]);
    assert_eq!(text.lines().count(), 42);
}

#[test]
fn a_call_over_the_wire_is_recorded_too() {
    let home = CliHome::new();
    let text = home.printed(&["call", "read_file", "path=a.txt", "--wire"]);
    let output = home.json(&["history", "call", "last"]);
    assert_eq!(
        (&output["tool"], &output["status"]),
        (&json!("read_file"), &json!("completed"))
    );
    assert!(text.contains(output["session"].as_str().unwrap()), "{text}");
}

#[test]
fn a_secret_is_not_recorded() {
    let home = CliHome::new();
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    home.printed(&[
        "call",
        "run_command",
        &format!("command=printf {secret}"),
        "--yes",
    ]);
    let output = home.json(&["history", "call", "last"]).to_string();
    assert!(
        output.contains("[redacted]") && !output.contains(&secret),
        "{output}"
    );
}

#[test]
fn help_has_examples() {
    for args in [
        &["history", "--help"][..],
        &["history", "show", "--help"],
        &["history", "search", "--help"],
        &["history", "verify", "--help"],
        &["history", "forget", "--help"],
        &["history", "call", "--help"],
        &["history", "export", "--help"],
        &["history", "undo", "--help"],
        &["history", "prune", "--help"],
        &["stats", "--help"],
        &["policy", "try", "--help"],
    ] {
        let text = CliHome::new().printed(args);
        assert!(text.contains("Examples:\n"), "{args:?}: {text}");
    }
}
