//! Every kind of bad line, with the exact response.
//! After each, the connection still works: a ping is answered.

use toolcall_acp::transport::ConnectionLimits;

use crate::connection::support::{Ping, RemotePeer, connected, narrowly_connected};

const PING: &str = r#"{"jsonrpc":"2.0","id":"ping","method":"_ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":"ping","result":"pong"}"#;

/// Returns the responses to this line, before the response to a ping.
async fn replies(remote: &mut RemotePeer, line: &[u8]) -> Vec<String> {
    remote.send(line).await;
    remote.send(PING).await;
    let mut replies = Vec::new();
    loop {
        match remote.receive().await {
            line if line == PONG => return replies,
            line => replies.push(line),
        }
    }
}

async fn check(line: impl AsRef<[u8]>, expected: &[&str]) {
    let (_peer, transport, mut remote) = connected();
    tokio::spawn(transport.run(Ping));
    let shown = String::from_utf8_lossy(line.as_ref()).into_owned();
    assert_eq!(
        replies(&mut remote, line.as_ref()).await,
        expected,
        "{shown}"
    );
}

fn error(id: &str, code: i64, message: &str) -> String {
    let message = serde_json::to_string(message).unwrap();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

async fn parse_error(line: impl AsRef<[u8]>, id: &str, message: &str) {
    let message = format!("parse error: {message}");
    check(line, &[&error(id, -32700, &message)]).await;
}

async fn invalid(line: impl AsRef<[u8]>, id: &str, message: &str) {
    let message = format!("invalid request: {message}");
    check(line, &[&error(id, -32600, &message)]).await;
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_not_json() {
    let near = "expected value at byte 1, near `what is this`";
    parse_error("what is this", "null", near).await;
    parse_error(
        "{",
        "null",
        "EOF while parsing an object at byte 1, near `{`",
    )
    .await;
    let near = "EOF while parsing a value at byte 6, near `[1, 2,`";
    parse_error("[1, 2,", "null", near).await;
    let near = "trailing characters at byte 4, near `{} {}`";
    parse_error("{} {}", "null", near).await;
    let near = "expected value at byte 1, near `\u{feff}{}`".replace('\u{feff}', "\\u{feff}");
    parse_error("\u{feff}{}", "null", &near).await;
    let near = "expected `,` or `}` at byte 18, near `{\"jsonrpc\":\"2.0\" \"id\":1}`";
    parse_error(r#"{"jsonrpc":"2.0" "id":1}"#, "null", near).await;
}

#[tokio::test(start_paused = true)]
async fn a_quote_is_short_and_shows_what_is_hidden() {
    let line = format!("\u{1b}[31m\u{202e}{}", "x".repeat(1000));
    let near = r"expected value at byte 1, near `\u{1b}[31m\u{202e}xxxxxxxxxxxxxxxxxxxxx…`";
    parse_error(line, "null", near).await;
    let line = format!(r#"{{"a":"{}" oops, "b":1}}"#, "é".repeat(100));
    let around = r#"ééééééééé" oops, "b":1}"#;
    let near = format!("expected `,` or `}}` at byte 209, near `{around}`");
    parse_error(line, "null", &near).await;
}

#[tokio::test(start_paused = true)]
async fn the_id_is_given_back_if_it_could_be_read() {
    let line = r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{broken}}"#;
    let near = r#"key must be a string at byte 48, near `thod":"m","params":{broken}}`"#;
    parse_error(line, "7", near).await;
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_not_utf8() {
    parse_error(b"\xff\xfe", "null", "not UTF-8 at byte 1").await;
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"\xc3\"}";
    parse_error(line, "\"a\"", "not UTF-8 at byte 37").await;
}

#[tokio::test(start_paused = true)]
async fn lines_that_nest_too_deep() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{close}}}"#)
    };
    let message = "nested deeper than 127 levels at byte 173";
    parse_error(nested(127), "1", message).await;
    parse_error(nested(1_000_000), "1", message).await;
    let unknown = error("1", -32601, "method not found: `m`");
    check(nested(126), &[&unknown]).await;
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_too_long() {
    let limits = ConnectionLimits {
        line: 100,
        ..ConnectionLimits::default()
    };
    let (_peer, transport, mut remote) = narrowly_connected(1000, limits);
    tokio::spawn(transport.run(Ping));
    let text = "x".repeat(100_000);
    let message = "parse error: the line is longer than 100 bytes";
    let line = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"m","params":["{text}"]}}"#);
    assert_eq!(
        replies(&mut remote, line.as_bytes()).await,
        [error("3", -32700, message)]
    );
    let reply = replies(&mut remote, text.as_bytes()).await;
    assert_eq!(reply, [error("null", -32700, message)]);
    let response = format!(r#"{{"jsonrpc":"2.0","id":3,"result":["{text}"]}}"#);
    assert_eq!(replies(&mut remote, response.as_bytes()).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn values_that_a_skipping_reader_would_let_pass() {
    let line = |params| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
    let near =
        r#"lone leading surrogate in hex escape at byte 54, near `"m","params":["\udc00"]}`"#;
    parse_error(line(r#"["\udc00"]"#), "1", near).await;
    let near = r#"number out of range at byte 52, near `":"m","params":[1e999]}`"#;
    parse_error(line("[1e999]"), "1", near).await;
    let near = r#"reserved name at byte 79, near `n::private::RawValue":"[]"}}`"#;
    parse_error(
        line(r#"{"$serde_json::private::RawValue":"[]"}"#),
        "1",
        near,
    )
    .await;
    let near = r#"reserved name at byte 84, near `n::private::RawValue":1}}`"#;
    parse_error(
        line(r#"{"\u0024serde_json::private::RawValue":1}"#),
        "1",
        near,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn json_that_is_no_message() {
    invalid("[]", "null", "a batch; send one message a line").await;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#;
    invalid(batch, "null", "a batch; send one message a line").await;
    for line in ["1", "\"text\"", "null", " true"] {
        invalid(line, "null", "not an object").await;
    }
    let neither = "neither `method` nor `result` nor `error`";
    invalid(r#"{"jsonrpc":"2.0","id":1}"#, "1", neither).await;
    invalid(r#"{"jsonrpc":"2.0"}"#, "null", neither).await;
}

#[tokio::test(start_paused = true)]
async fn members_that_appear_twice() {
    let line = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#;
    invalid(line, "null", "`id` appears twice").await;
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"m","m\u0065thod":"n"}"#;
    invalid(line, "1", "`method` appears twice").await;
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{},"params":[]}"#;
    invalid(line, "1", "`params` appears twice").await;
    let line = r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"m"}"#;
    invalid(line, "1", "`jsonrpc` appears twice").await;
}

#[tokio::test(start_paused = true)]
async fn members_of_the_wrong_sort() {
    let version = "`jsonrpc` must be \"2.0\"";
    invalid(r#"{"id":1,"method":"m"}"#, "1", version).await;
    invalid(r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, "1", version).await;
    invalid(r#"{"jsonrpc":2.0,"method":"m"}"#, "null", version).await;
    let method = "`method` must be a string";
    invalid(r#"{"jsonrpc":"2.0","id":"a","method":1}"#, "\"a\"", method).await;
    invalid(r#"{"jsonrpc":"2.0","method":null}"#, "null", method).await;
    let params = "`params` must be an object or an array";
    invalid(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":"p"}"#,
        "1",
        params,
    )
    .await;
    let both = "`method` and `result` exclude each other";
    invalid(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
        "1",
        both,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn ids_that_are_none() {
    let id = "`id` must be a string, an integer or null";
    invalid(r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, "null", id).await;
    invalid(r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, "null", id).await;
    invalid(r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#, "1.5", id).await;
    let null = "a request needs an `id` that is not null";
    invalid(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, "null", null).await;
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#,
        "x".repeat(2000)
    );
    invalid(long, "null", "`id` is longer than 1024 bytes").await;
}

#[tokio::test(start_paused = true)]
async fn a_bad_answer_is_never_answered() {
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":"text"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":12345678901,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","result":1}"#,
        r#"{"jsonrpc":"2.0","id":{},"result":1}"#,
        r#"{"id":1,"result":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{broken"#,
        r#"{"jsonrpc":"2.0","id":"toolcall-99","result":1}"#,
        r#"{"jsonrpc":"2.0","id":"toolcall-x","result":1}"#,
    ] {
        check(line, &[]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_line_is_skipped_and_lines_may_end_as_on_windows() {
    check("", &[]).await;
    check(" \t\r", &[]).await;
    let unknown = error("1", -32601, "method not found: `m`");
    check(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\r",
        &[&unknown],
    )
    .await;
    check(r#"{"jsonrpc":"2.0","method":"m"}"#, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_last_line_without_its_end_is_a_line() {
    let (peer, transport, mut remote) = narrowly_connected(1000, ConnectionLimits::default());
    tokio::spawn(transport.run_without_methods());
    remote.send("{}\nnot the end").await;
    remote.close();
    peer.gone().await;
    peer.lane().close();
    let neither = "invalid request: `jsonrpc` must be \"2.0\"";
    let last = "parse error: expected ident at byte 2, near `not the end`";
    let replies = [error("null", -32600, neither), error("null", -32700, last)];
    assert_eq!(remote.receive_all().await, replies);
}
