//! What is redacted and what stays, on texts as agents see them.
//! Secrets are assembled from parts, so that none is in this file.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

fn check(text: &str, expected: Expect) {
    let redactor = Redactor::get();
    let clean = redactor.redact(text).unwrap_or_else(|| text.to_owned());
    expected.assert_eq(&clean);
    assert_eq!(
        redactor.redact(&clean),
        None,
        "what is clean stays as it is"
    );
}

fn key(prefix: &str) -> String {
    format!("{prefix}{}", "A1b2C3d4".repeat(5))
}

#[test]
fn keys_of_providers_are_taken_out_by_their_shape() {
    let redactor = Redactor::get();
    for prefix in patterns::PREFIXES {
        let secret = match *prefix {
            "AKIA" | "ASIA" | "ABIA" | "ACCA" => format!("{prefix}{}", "A1B2C3D4".repeat(2)),
            "dapi" => format!("{prefix}{}", "a1b2c3d4".repeat(4)),
            prefix => key(prefix),
        };
        let clean = redactor.redact(&format!("it says {secret}, see there"));
        assert_eq!(
            clean.as_deref(),
            Some("it says [redacted], see there"),
            "{prefix}"
        );
        let cut = format!("it says {}…", &secret[..prefix.len() + 3]);
        assert_eq!(
            redactor.redact(&cut).as_deref(),
            Some("it says [redacted]"),
            "{prefix}"
        );
    }
}

#[test]
fn assignments_keep_the_name() {
    check(
        "export OPENAI_API_KEY=abc",
        expect!["export OPENAI_API_KEY=[redacted]"],
    );
    check(
        "DB_PASSWORD='correct horse' ./run",
        expect!["DB_PASSWORD='[redacted]' ./run"],
    );
    check(
        r#"{"apiKey": "abc", "n": 1}"#,
        expect![[r#"{"apiKey": "[redacted]", "n": 1}"#]],
    );
    check(
        r#"{\"api_key\":\"abc\"}"#,
        expect![[r#"{\"api_key\":\"[redacted]\"}"#]],
    );
    check(
        "password: hunter\nuser: me",
        expect!["password: [redacted]\nuser: me"],
    );
    check(
        "mysql --password hunter db",
        expect!["mysql --password [redacted] db"],
    );
    check(
        "tool --api-key=abc1 -v",
        expect!["tool --api-key=[redacted] -v"],
    );
}

#[test]
fn code_that_only_talks_of_tokens_stays() {
    for text in [
        "let token = parser.next_token();",
        "fn key(&self) -> &str",
        "max_tokens: 4096",
        "the key is under the mat",
        "const token: string = await read();",
        "password = $PASSWORD",
        "API_KEY=${API_KEY}",
        "PWD=/home/me",
        "https://example.org:8080/a@b",
        "keyboard: us",
        "https://docs.rs/tokio/1.0",
    ] {
        assert_eq!(Redactor::get().redact(text), None, "{text}");
    }
}

#[test]
fn headers_and_addresses() {
    check(
        "curl -H 'Authorization: Bearer abc' x",
        expect!["curl -H 'Authorization: Bearer [redacted]' x"],
    );
    check(
        "Authorization: Basic dXNlcjpwYXNz\nHost: a",
        expect!["Authorization: Basic [redacted]\nHost: a"],
    );
    check("Cookie: a=b; c=d", expect!["Cookie: [redacted]"]);
    check(
        "postgres://me:p4ss@db/x",
        expect!["postgres://me:[redacted]@db/x"],
    );
    check("redis://:p4ss@db", expect!["redis://:[redacted]@db"]);
    check(
        "curl -u me:p4ss https://a",
        expect!["curl -u me:[redacted] https://a"],
    );
}

#[test]
fn private_keys_also_those_that_break_off() {
    let (begin, end) = (
        format!("-----BEGIN {} KEY-----", "PRIVATE"),
        format!("-----END {} KEY-----", "PRIVATE"),
    );
    let redactor = Redactor::get();
    let whole = redactor.redact(&format!("a\n{begin}\nMIIE\nabc\n{end}\nb"));
    assert_eq!(whole, Some(format!("a\n{begin}[redacted]{end}\nb")));
    let head = redactor.redact_head(&format!("a\n{begin}\nMIIE\nab"));
    assert!(!head.contains("MIIE") && head.starts_with("a\n"), "{head}");
    let tail = redactor.redact_tail(&format!("IIE\nabcd\n{end}\nb"));
    assert_eq!(tail, format!("{MASK}\n{end}\nb"));
}

#[test]
fn where_output_was_cut_half_a_secret_goes() {
    let redactor = Redactor::get();
    let secret = key("ghp_");
    assert_eq!(
        redactor.redact_head(&format!("it is {}", &secret[..9])),
        "it is [redacted]"
    );
    assert_eq!(
        redactor.redact_tail(&format!("{} it was", &secret[9..])),
        "[redacted] it was"
    );
    assert_eq!(redactor.redact_head("all is\n"), "all is\n");
}

#[test]
fn members_are_judged_by_their_names() {
    let redactor = Redactor::get();
    let value = json!({
        "env": [{"name": "API_TOKEN", "value": "abc"}, {"name": "HOME", "value": "/home"}],
        "password": "hunter",
        "args": ["--token", "abc", "--verbose"],
        "headers": {"X-Api-Key": "abc", "Accept": "*/*"},
        "max_tokens": 12,
    });
    let clean = redactor.redact_json(&value).expect("there are secrets");
    let expected = json!({
        "env": [{"name": "API_TOKEN", "value": MASK}, {"name": "HOME", "value": "/home"}],
        "password": MASK,
        "args": ["--token", MASK, "--verbose"],
        "headers": {"X-Api-Key": MASK, "Accept": "*/*"},
        "max_tokens": 12,
    });
    assert_eq!(clean, expected);
    assert_eq!(redactor.redact_json(&clean), None);
}
