//! Runs `toolcall mcp` as it is, in a home and a project of their own: servers set up, listed, tried, taken out.
//! The servers are this very program and programs that end at once; no network is reached.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use serde_json::{Value, json};

use crate::place::Place;

const SETTINGS: &str = "home/.config/toolcall/mcp.json";

#[test]
fn a_server_is_set_up_listed_and_taken_out() {
    let place = Place::new();
    let text = place.printed(&["mcp", "list"]);
    assert!(text.contains("no servers are set up"), "{text}");
    place.printed(&[
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
    place.printed(&[
        "mcp",
        "add",
        "web",
        "--url",
        "https://example.com/mcp",
        "--header",
        header,
    ]);
    let text = place.printed(&["mcp", "list"]);
    expect![[r#"
        time             uvx mcp-server-time (with KEY)
                  from …/home/.config/toolcall/mcp.json
        web              https://example.com/mcp
                  from …/home/.config/toolcall/mcp.json
    "#]]
    .assert_eq(&text);
    assert!(!text.contains("hunter22"));
    let mode = fs::metadata(place.path().join(SETTINGS))
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
    assert_eq!(names(&place.json(&["mcp", "list"])), ["time", "web"]);
    place.printed(&["mcp", "remove", "time"]);
    assert_eq!(names(&place.json(&["mcp", "list"])), ["web"]);
    let (code, _, complaint) = place.run(&["mcp", "remove", "time"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("there is no server `time`"),
        "{complaint}"
    );
}

#[test]
fn what_cannot_be_a_server_is_refused() {
    let place = Place::new();
    for (args, why) in [
        (
            &["mcp", "add", "a/b", "--", "x"][..],
            "is no name for a server",
        ),
        (&["mcp", "add", "a"], "required arguments were not provided"),
        (
            &["mcp", "add", "a", "--url", "nonsense"],
            "that is no address",
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
        let (code, _, complaint) = place.run(args);
        assert_ne!(code, Some(0), "{args:?}");
        assert!(complaint.contains(why), "{args:?}: {complaint}");
        assert!(!complaint.contains("hunter22"), "{complaint}");
    }
    assert!(!place.path().join(SETTINGS).exists());
}

#[test]
fn settings_that_cannot_be_read_are_told_and_left_alone() {
    let place = Place::new();
    place.printed(&["mcp", "add", "a", "--", "x"]);
    fs::write(place.path().join(SETTINGS), "{").unwrap();
    let (code, _, complaint) = place.run(&["mcp", "add", "b", "--", "x"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("is left as it is"), "{complaint}");
    assert_eq!(
        fs::read_to_string(place.path().join(SETTINGS)).unwrap(),
        "{"
    );
    let (code, _, complaint) = place.run(&["mcp", "list"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("the servers of `…/home/.config/toolcall/mcp.json` are left out"));
    // The built-in tools are there all the same.
    let (code, text, _) = place.run(&["call", "read_file", "path=a.txt"]);
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_server_that_does_not_start_tells_why() {
    let place = Place::new();
    place.printed(&[
        "mcp",
        "add",
        "broken",
        "--",
        "sh",
        "-c",
        "echo no key given >&2; exit 3",
    ]);
    place.printed(&["mcp", "add", "missing", "--", "no-such-program-anywhere"]);
    let tried = place.json(&["mcp", "test"]);
    assert_eq!(tried[0]["state"], "failed");
    assert_eq!(
        tried[0]["reason"],
        "it ended (exit status: 3); the last it said: no key given"
    );
    assert_eq!(tried[1]["state"], "failed");
    let (code, text, _) = place.run(&["mcp", "test", "broken"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("no key given") && !text.contains("missing"),
        "{text}"
    );
    let (code, _, complaint) = place.run(&["tools"]);
    assert_eq!(code, Some(0));
    assert!(
        complaint.contains("the server `broken` cannot be used"),
        "{complaint}"
    );
}

#[test]
fn servers_of_a_project_wait_for_trust() {
    let place = Place::new();
    let servers = json!({"mcpServers": {"mine": {"command": "touch", "args": ["started"]}}});
    place.write("project/.mcp.json", &servers.to_string());
    assert_eq!(place.json(&["mcp", "list"])[0]["state"], "untrusted");
    let (code, _, complaint) = place.run(&["mcp", "test", "mine"]);
    assert_eq!(code, Some(1));
    assert!(complaint.contains("which is not trusted; look at it with `toolcall trust`"));
    let (_, _, complaint) = place.run(&["tools"]);
    assert!(
        complaint.contains("is not trusted, so its servers are not started"),
        "{complaint}"
    );
    assert!(!place.has("started"));
    place.printed(&["trust", "--yes"]);
    assert_eq!(place.json(&["mcp", "test", "mine"])[0]["state"], "failed");
    assert!(place.has("started"));
}

#[test]
fn ones_own_server_hides_that_of_the_project() {
    let place = Place::new();
    let servers = json!({"mcpServers": {"mine": {"command": "touch", "args": ["started"]}}});
    place.write("project/.mcp.json", &servers.to_string());
    place.printed(&["trust", "--yes"]);
    place.printed(&["mcp", "add", "mine", "--", "touch", "own"]);
    let states = place.json(&["mcp", "list"]);
    assert_eq!(
        (&states[0]["state"], &states[1]["state"]),
        (&json!("usable"), &json!("hidden"))
    );
    place.run(&["mcp", "test"]);
    assert_eq!((place.has("own"), place.has("started")), (true, false));
}
