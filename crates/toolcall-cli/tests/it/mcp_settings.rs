//! Runs `toolcall mcp` in a temporary home and project: servers are added, listed, tested and removed.
//! The servers are programs that end at once; no network is used.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use serde_json::{Value, json};

use crate::home::CliHome;

const SETTINGS: &str = "home/.config/toolcall/mcp.json";

#[test]
fn a_server_is_added_listed_and_removed() {
    let home = CliHome::new();
    let text = home.printed(&["mcp", "list"]);
    assert!(text.contains("no servers are configured"), "{text}");
    home.printed(&[
        "mcp",
        "add",
        "time",
        "--env",
        "KEY=hunter22",
        "--",
        "uvx",
        "mcp-server-time",
    ]);
    let header = "Authorization=Bearer hunter22";
    home.printed(&[
        "mcp",
        "add",
        "web",
        "--url",
        "https://example.com/mcp",
        "--header",
        header,
    ]);
    let text = home.printed(&["mcp", "list"]);
    expect![[r#"
        time             uvx mcp-server-time (with KEY)
                  from …/home/.config/toolcall/mcp.json
        web              https://example.com/mcp
                  from …/home/.config/toolcall/mcp.json
    "#]]
    .assert_eq(&text);
    assert!(!text.contains("hunter22"));
    let mode = fs::metadata(home.path().join(SETTINGS))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let names = |listed: &Value| -> Vec<String> {
        let servers = listed.as_array().unwrap().iter();
        servers
            .map(|server| server["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&home.json(&["mcp", "list"])), ["time", "web"]);
    home.printed(&["mcp", "remove", "time"]);
    assert_eq!(names(&home.json(&["mcp", "list"])), ["web"]);
    let (code, _, complaint) = home.run(&["mcp", "remove", "time"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("there is no server `time`"),
        "{complaint}"
    );
}

#[test]
fn an_invalid_server_is_refused() {
    let home = CliHome::new();
    for (args, why) in [
        (
            &["mcp", "add", "a/b", "--", "x"][..],
            "is not a valid server name",
        ),
        (&["mcp", "add", "a"], "required arguments were not provided"),
        (
            &["mcp", "add", "a", "--url", "nonsense"],
            "the address is not a URL",
        ),
        (
            &["mcp", "add", "a", "--url", "ftp://x.y"],
            "write \"url\": \"https://",
        ),
        (
            &["mcp", "add", "a", "--env", "hunter22", "--", "x"],
            "write NAME=VALUE",
        ),
    ] {
        let (code, _, complaint) = home.run(args);
        assert_ne!(code, Some(0), "{args:?}");
        assert!(complaint.contains(why), "{args:?}: {complaint}");
        assert!(!complaint.contains("hunter22"), "{complaint}");
    }
    assert!(!home.path().join(SETTINGS).exists());
}

#[test]
fn unreadable_settings_are_reported_and_not_changed() {
    let home = CliHome::new();
    home.printed(&["mcp", "add", "a", "--", "x"]);
    fs::write(home.path().join(SETTINGS), "{").unwrap();
    let (code, _, complaint) = home.run(&["mcp", "add", "b", "--", "x"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("was not changed"), "{complaint}");
    assert_eq!(fs::read_to_string(home.path().join(SETTINGS)).unwrap(), "{");
    let (code, _, complaint) = home.run(&["mcp", "list"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("the servers of `…/home/.config/toolcall/mcp.json` are left out"));
    // The built-in tools still work.
    let (code, text, _) = home.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_server_that_does_not_start_is_reported_with_its_output() {
    let home = CliHome::new();
    home.printed(&[
        "mcp",
        "add",
        "broken",
        "--",
        "sh",
        "-c",
        "echo no key given >&2; exit 3",
    ]);
    home.printed(&["mcp", "add", "missing", "--", "no-such-program-anywhere"]);
    let statuses = home.json(&["mcp", "test"]);
    assert_eq!(statuses[0]["state"], "failed");
    assert_eq!(
        statuses[0]["reason"],
        "it ended (exit status: 3); the last it said: no key given"
    );
    assert_eq!(statuses[1]["state"], "failed");
    let (code, text, _) = home.run(&["mcp", "test", "broken"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("no key given") && !text.contains("missing"),
        "{text}"
    );
    let (code, _, complaint) = home.run(&["tools"]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("the server `broken` cannot be used"),
        "{complaint}"
    );
}

#[test]
fn servers_of_a_project_wait_for_trust() {
    let home = CliHome::new();
    let servers = json!({"mcpServers": {"mine": {"command": "touch", "args": ["started"]}}});
    home.write("project/.mcp.json", &servers.to_string());
    assert_eq!(home.json(&["mcp", "list"])[0]["state"], "untrusted");
    let (code, _, complaint) = home.run(&["mcp", "test", "mine"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("which is not trusted; review it with `toolcall trust`"));
    let (_, _, complaint) = home.run(&["tools"]);
    assert!(
        complaint.contains("is not trusted, so its servers are not started"),
        "{complaint}"
    );
    assert!(!home.has("started"));
    home.printed(&["trust", "--yes"]);
    assert_eq!(home.json(&["mcp", "test", "mine"])[0]["state"], "failed");
    assert!(home.has("started"));
}

#[test]
fn a_users_server_hides_that_of_the_project() {
    let home = CliHome::new();
    let servers = json!({"mcpServers": {"mine": {"command": "touch", "args": ["started"]}}});
    home.write("project/.mcp.json", &servers.to_string());
    home.printed(&["trust", "--yes"]);
    home.printed(&["mcp", "add", "mine", "--", "touch", "own"]);
    let states = home.json(&["mcp", "list"]);
    assert_eq!(
        (&states[0]["state"], &states[1]["state"]),
        (&json!("usable"), &json!("hidden"))
    );
    home.run(&["mcp", "test"]);
    assert_eq!((home.has("own"), home.has("started")), (true, false));
}
