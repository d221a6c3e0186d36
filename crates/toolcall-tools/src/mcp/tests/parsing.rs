//! Server settings as editors write them, valid and invalid.
//! No output contains the value of a variable or a header.

use expect_test::{Expect, expect};

use super::super::{ServerSettings, parse_settings};

fn check(text: &str, expected: Expect) {
    let shown = match parse_settings(text) {
        Ok(servers) => servers.iter().map(show).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("error: {error}"),
    };
    expected.assert_eq(&shown);
}

fn show(server: &ServerSettings) -> String {
    let mut text = format!("{}: {}", server.name, server.launch.provider());
    if server.is_disabled {
        text += " [disabled]";
    }
    for (tool, display) in &server.tools {
        text += &format!(" [{tool}: {:?} {:?}]", display.kind, display.title);
    }
    server
        .notes
        .iter()
        .fold(text, |text, note| format!("{text}\n  note: {note}"))
}

#[test]
fn the_usual_shapes_are_read() {
    check(
        r#"{"mcpServers": {
            "everything": {"command": "npx", "args": ["-y", "@scope/server", "a b"], "env": {"TOKEN": "hunter22"}},
            "remote": {"type": "http", "url": "https://example.com/mcp?key=hunter22", "headers": {"Authorization": "Bearer hunter22"}},
            "off": {"command": "/bin/x", "disabled": true, "timeout": 5, "cwd": "sub",
                    "tools": {"put": {"kind": "edit", "title": "Put it"}}}
        }}"#,
        expect![[r#"
            everything: npx -y @scope/server 'a b' (with TOKEN)
            remote: https://example.com/mcp (and a part not shown, 76752ae0)
            off: /bin/x (in sub) [disabled] [put: Some(Edit) Some("Put it")]"#]],
    );
    check(
        r#"[{"id": "1", "name": "a/b c", "command": "x", "env": [{"name": "K", "value": "v"}]}, {"id": "two", "url": "http://localhost:1/"}]"#,
        expect![[r#"
            a-b-c: x (with K)
              note: the name `a/b c` is written `a-b-c`
            two: http://localhost:1/"#]],
    );
    check(r#"{"mcpServers": []}"#, expect![""]);
}

#[test]
fn unknown_keys_are_noted_and_ignored() {
    check(
        r#"{"servers": {"s": {"command": "x", "autoApprove": ["put"], "env": {"A": "${env:HOME}"}, "tools": ["put"]}}}"#,
        expect![[r#"
            s: x (with A)
              note: `autoApprove` is not known here and means nothing
              note: placeholders such as `${NAME}` are not filled in"#]],
    );
}

#[test]
fn what_is_wrong_is_said_with_what_to_write() {
    let one = |entry: &str| format!(r#"{{"mcpServers": {{"s": {entry}}}}}"#);
    let cases = [
        (
            "not json",
            expect!["error: the settings are not JSON: expected ident at line 1 column 2"],
        ),
        (
            "{}",
            expect![[
                r#"error: there are no servers in it; write {"mcpServers": {"NAME": {"command": "…"}}}"#
            ]],
        ),
        (
            r#"[{"command": "x"}]"#,
            expect![[r#"error: the server `number 1`: it has no name; write "name": "…""#]],
        ),
        (
            r#"[{"name": "gh", "command": "x"}, {"name": "gh", "command": "y"}]"#,
            expect!["error: two servers are named `gh`; give one of them another name"],
        ),
        (
            &one("7"),
            expect![[r#"error: the server `s`: write an object such as {"command": "…"}"#]],
        ),
        (
            &one("{}"),
            expect![[r#"error: the server `s`: write "command": "…" or "url": "https://…""#]],
        ),
        (
            &one(r#"{"command": ["x"]}"#),
            expect![[r#"error: the server `s`: `command` is no text; write "command": "…""#]],
        ),
        (
            &one(r#"{"command": "x", "args": "y"}"#),
            expect![[r#"error: the server `s`: `args` is no list of texts; write "args": ["…"]"#]],
        ),
        (
            &one(r#"{"command": "x", "env": {"A": 5}}"#),
            expect![[
                r#"error: the server `s`: `env` is no object of texts; write "env": {"NAME": "…"}"#
            ]],
        ),
        (
            &one(r#"{"command": "x", "url": "http://y"}"#),
            expect!["error: the server `s`: it has a `command` and a `url`; leave one of them out"],
        ),
        (
            &one(r#"{"url": "file:///etc/passwd"}"#),
            expect![[
                r#"error: the server `s`: `url` is no http address; write "url": "https://…""#
            ]],
        ),
        (
            &one(r#"{"type": "sse", "url": "http://y"}"#),
            expect![[
                r#"error: the server `s`: the transport `sse` is not supported; write "type": "http" and the address of its streamable HTTP endpoint"#
            ]],
        ),
        (
            &one(r#"{"command": "x", "disabled": "yes"}"#),
            expect![[
                r#"error: the server `s`: `disabled` is neither true nor false; write "disabled": true"#
            ]],
        ),
        (
            &one(r#"{"command": "x", "tools": {"t": {"kind": "magic"}}}"#),
            expect![
                "error: the server `s`: `magic` is no kind; write one of `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `switch_mode`, `other`"
            ],
        ),
    ];
    for (text, expected) in cases {
        check(text, expected);
    }
}

#[test]
fn no_secret_is_shown() {
    let text = r#"{"mcpServers": {
        "a": {"command": "x", "env": {"TOKEN": "hunter22"}},
        "b": {"url": "https://me:hunter22@example.com/?k=hunter22", "headers": {"X-Key": "hunter22"}}}}"#;
    let servers = parse_settings(text).unwrap();
    assert!(!format!("{servers:?}").contains("hunter22"), "{servers:?}");
    let wrong = r#"{"mcpServers": {"a": {"command": "x", "env": {"TOKEN": ["hunter22"]}}}}"#;
    assert!(
        !parse_settings(wrong)
            .unwrap_err()
            .to_string()
            .contains("hunter22")
    );
}
