//! Response bodies of every kind: long, slow, broken, compressed, wrongly declared.
//! Every call ends, and its result says what was received.

use std::io::Write as _;
use std::time::Duration;

use expect_test::{Expect, expect};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use toolcall::*;
use toolcall_tools::web::FetchSettings;

use crate::web::support::*;
use toolcall_testkit::http::{Reply, Server, answer, ok};

fn small() -> FetchSettings {
    FetchSettings {
        download: 100_000,
        shown: 40,
        ..FetchSettings::default()
    }
}

/// Time limits that pass at once, for responses that never end.
fn impatient() -> FetchSettings {
    FetchSettings {
        time: Duration::from_millis(300),
        ..small()
    }
}

async fn fetched(
    settings: FetchSettings,
    extra: Value,
    reply: impl Fn() -> Reply + Send + Sync + 'static,
) -> String {
    let server = Server::start(move |_| reply()).await;
    let mut input = json!({"url": at(&server, "/")});
    if let (Some(input), Some(extra)) = (input.as_object_mut(), extra.as_object()) {
        input.extend(extra.clone());
    }
    let outcome = site(&server, settings).call("fetch", input).await;
    let structured = outcome
        .result()
        .structured
        .iter()
        .map(|value| format!("\n{value}"));
    steady(
        &format!("{}{}", shown(&outcome), structured.collect::<String>()),
        &server,
    )
}

async fn check(reply: impl Fn() -> Reply + Send + Sync + 'static, expected: Expect) {
    expected.assert_eq(&fetched(small(), json!({}), reply).await);
}

#[tokio::test]
async fn long_texts_are_cut_and_it_is_said() {
    check(|| ok("text/plain", "long ".repeat(20)), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/plain, 100 bytes
        - only the first 40 bytes of its text are shown
        long long long long long long long long 
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":100,"bytes":100,"shownBytes":40,"redirects":0}"#]]).await;
    check(|| ok("text/html", "<p>long ".repeat(20)), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/html, 160 bytes
        - only the first 40 bytes of its text are shown
        long

        long

        long

        long

        long

        long

        long
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/html","size":160,"bytes":160,"shownBytes":40,"redirects":0}"#]]).await;
    check(|| ok("text/plain", "\u{1b}".repeat(30)), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/plain, 30 bytes
        - only the first 40 bytes of its text are shown
        \u{1b}\u{1b}\u{1b}\u{1b}\u{1b}\u{1b}\u{1
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":30,"bytes":30,"shownBytes":40,"redirects":0}"#]]).await;
    check(|| ok("text/plain", "äöü".repeat(10)), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/plain, 60 bytes
        - only the first 40 bytes of its text are shown
        äöüäöüäöüäöüäöüäöüäö
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":60,"bytes":60,"shownBytes":40,"redirects":0}"#]]).await;
    check(
        || Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'x'; 4096]),
        expect![[r#"
            completed
            200 OK: http://site.example:PORT/
            - no type given, over 100000 bytes; the rest was not read
            - only the first 40 bytes of its text are shown
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
            {"url":"http://site.example:PORT/","status":200,"contentType":"","size":null,"bytes":100000,"shownBytes":40,"redirects":0}"#]],
    )
    .await;
    let fewer = fetched(small(), json!({"maxBytes": 4}), || {
        ok("text/plain", "twelve bytes")
    })
    .await;
    expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/plain, 12 bytes
        - only the first 4 bytes of its text are shown
        twel
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":12,"bytes":12,"shownBytes":4,"redirects":0}"#]].assert_eq(&fewer);
}

#[tokio::test]
async fn a_small_bomb_stays_small() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b'0'; 16 * 1024 * 1024]).unwrap();
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 100_000);
    check(
        move || {
            answer(
                "200 OK",
                "content-type: text/plain\r\ncontent-encoding: gzip\r\n",
                &bomb,
            )
        },
        expect![[r#"
            completed
            200 OK: http://site.example:PORT/
            - text/plain, over 100000 bytes; the rest was not read
            - only the first 40 bytes of its text are shown
            0000000000000000000000000000000000000000
            {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":null,"bytes":100000,"shownBytes":40,"redirects":0}"#]],
    )
    .await;
    check(
        || {
            answer(
                "200 OK",
                "content-type: text/plain\r\ncontent-encoding: gzip\r\n",
                "no gzip",
            )
        },
        expect![[r#"
            failed: the answer broke off after 0 bytes: error decoding response body: request or response body error: Invalid gzip header; what came is shown
            200 OK: http://site.example:PORT/
            - text/plain, 0 bytes
            (nothing)
            {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":null,"bytes":0,"shownBytes":0,"redirects":0}"#]],
    )
    .await;
    check(
        || {
            answer(
                "200 OK",
                "content-type: text/plain\r\ncontent-encoding: br\r\n",
                "\u{1}br",
            )
        },
        expect![[r#"
            completed
            200 OK: http://site.example:PORT/
            - text/plain, 3 bytes
            (not shown: encoded as br)
            {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":3,"bytes":0,"shownBytes":0,"redirects":0}"#]],
    )
    .await;
}

#[tokio::test]
async fn raw_pages_are_shown_as_they_are() {
    let raw = fetched(small(), json!({"format": "raw"}), || {
        ok("text/html", "<p>as it is</p>")
    })
    .await;
    expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/html, 15 bytes
        <p>as it is</p>
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/html","size":15,"bytes":15,"shownBytes":15,"redirects":0}"#]].assert_eq(&raw);
}

#[tokio::test]
async fn types_and_charsets() {
    check(
        || ok("text/plain; charset=iso-8859-1", b"gr\xfcn"),
        expect![[r#"
            completed
            200 OK: http://site.example:PORT/
            - text/plain; charset=iso-8859-1, 4 bytes
            grün
            {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain; charset=iso-8859-1","size":4,"bytes":4,"shownBytes":5,"redirects":0}"#]],
    )
    .await;
    check(
        || ok("text/plain; charset=utf-8", b"gr\xfcn"),
        expect![[r#"
            completed
            200 OK: http://site.example:PORT/
            - text/plain; charset=utf-8, 4 bytes
            - some bytes are not UTF-8 and are shown as �
            gr�n
            {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain; charset=utf-8","size":4,"bytes":4,"shownBytes":6,"redirects":0}"#]],
    )
    .await;
    check(|| answer("200 OK", "", "no type"), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - no type given, 7 bytes
        no type
        {"url":"http://site.example:PORT/","status":200,"contentType":"","size":7,"bytes":7,"shownBytes":7,"redirects":0}"#]]).await;
    check(
        || answer("200 OK", "", "<!doctype html><p>guessed"),
        expect![[r#"
            completed
            200 OK: http://site.example:PORT/
            - no type given, 25 bytes
            guessed
            {"url":"http://site.example:PORT/","status":200,"contentType":"","size":25,"bytes":25,"shownBytes":7,"redirects":0}"#]],
    )
    .await;
    check(|| answer("200 OK", "", b"\0\x01\x02"), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - no type given, 3 bytes
        (not shown: unknown type)
        {"url":"http://site.example:PORT/","status":200,"contentType":"","size":3,"bytes":3,"shownBytes":0,"redirects":0}"#]]).await;
    check(|| ok("application/json", "{\"a\": 1}"), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - application/json, 8 bytes
        {"a": 1}
        {"url":"http://site.example:PORT/","status":200,"contentType":"application/json","size":8,"bytes":8,"shownBytes":8,"redirects":0}"#]]).await;
    check(|| ok("image/png", b"\x89PNG\r\n\x1a\nrest"), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - image/png, 12 bytes
        image image/png iVBORw0KGgpyZXN0
        {"url":"http://site.example:PORT/","status":200,"contentType":"image/png","size":12,"bytes":12,"shownBytes":12,"redirects":0}"#]]).await;
    check(|| ok("image/png", b"no image"), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - image/png, 8 bytes
        (not shown: called image/png, which it is not)
        {"url":"http://site.example:PORT/","status":200,"contentType":"image/png","size":8,"bytes":8,"shownBytes":0,"redirects":0}"#]]).await;
    check(|| ok("application/zip", vec![0; 5000]), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - application/zip, 5000 bytes
        (not shown: application/zip)
        {"url":"http://site.example:PORT/","status":200,"contentType":"application/zip","size":5000,"bytes":0,"shownBytes":0,"redirects":0}"#]]).await;
    check(|| ok("text/plain", ""), expect![[r#"
        completed
        200 OK: http://site.example:PORT/
        - text/plain, 0 bytes
        (nothing)
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":0,"bytes":0,"shownBytes":0,"redirects":0}"#]]).await;
}

#[tokio::test]
async fn failures_keep_what_was_said() {
    check(
        || {
            answer(
                "404 Not Found",
                "content-type: text/html\r\n",
                "<h1>No such page</h1>",
            )
        },
        expect![[r#"
            failed: `site.example:PORT` answered 404 Not Found; check the address, or search for where it went
            404 Not Found: http://site.example:PORT/
            - text/html, 21 bytes
            # No such page
            {"url":"http://site.example:PORT/","status":404,"contentType":"text/html","size":21,"bytes":21,"shownBytes":14,"redirects":0}"#]],
    )
    .await;
    check(
        || answer("503 \u{202e}x", "content-type: text/plain\r\n", "later"),
        expect![[r#"
            failed: `site.example:PORT` answered 503 Service Unavailable; the fault is there; try again later
            503 Service Unavailable: http://site.example:PORT/
            - text/plain, 5 bytes
            later
            {"url":"http://site.example:PORT/","status":503,"contentType":"text/plain","size":5,"bytes":5,"shownBytes":5,"redirects":0}"#]],
    )
    .await;
    check(|| answer("999 Odd", "", "odd"), expect![[r#"
        failed: `site.example:PORT` answered 999; the fault is there; try again later
        999: http://site.example:PORT/
        - no type given, 3 bytes
        odd
        {"url":"http://site.example:PORT/","status":999,"contentType":"","size":3,"bytes":3,"shownBytes":3,"redirects":0}"#]]).await;
}

#[tokio::test]
async fn broken_answers() {
    let too_short =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nonly this";
    check(|| Reply::Bytes(too_short.to_vec()), expect![[r#"
        failed: the answer broke off after 9 bytes: error decoding response body: request or response body error: error reading a body from connection: end of file before message length reached; what came is shown
        200 OK: http://site.example:PORT/
        - text/plain, 9 bytes
        only this
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":100,"bytes":9,"shownBytes":9,"redirects":0}"#]]).await;
    check(|| Reply::Bytes(b"SSH-2.0-x\r\n".to_vec()), expect!["failed: `site.example:PORT` could not be reached: error sending request: client error (SendRequest): invalid HTTP version parsed"]).await;
    check(|| Reply::Bytes(Vec::new()), expect!["failed: `site.example:PORT` could not be reached: error sending request: client error (SendRequest): connection closed before message completed"]).await;
    let endless_head = || Reply::Endless(b"HTTP/1.1 200 OK\r\n".to_vec(), b"a: b\r\n".repeat(1000));
    check(endless_head, expect!["failed: `site.example:PORT` could not be reached: error sending request: client error (SendRequest): message head is too large"]).await;
}

#[tokio::test]
async fn silence_ends() {
    let silent = fetched(impatient(), json!({}), || Reply::Hang(Vec::new())).await;
    expect!["failed: `site.example:PORT` did not answer in full within 300ms; try again later, or ask for less"].assert_eq(&silent);
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\nbegun";
    let begun = fetched(impatient(), json!({}), || Reply::Hang(head.to_vec())).await;
    expect![[r#"
        failed: the answer broke off after 5 bytes: the time was up; what came is shown
        200 OK: http://site.example:PORT/
        - text/plain, 5 bytes
        begun
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":null,"bytes":5,"shownBytes":5,"redirects":0}"#]].assert_eq(&begun);
    let quiet = FetchSettings {
        silence: Duration::from_millis(200),
        ..small()
    };
    let quiet = fetched(quiet, json!({}), || Reply::Hang(head.to_vec())).await;
    expect![[r#"
        failed: the answer broke off after 5 bytes: nothing came for too long; what came is shown
        200 OK: http://site.example:PORT/
        - text/plain, 5 bytes
        begun
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":null,"bytes":5,"shownBytes":5,"redirects":0}"#]].assert_eq(&quiet);
}

#[tokio::test]
async fn a_fetch_that_waits_is_cancelled_at_once() {
    let server = Server::start(|_| Reply::Hang(b"HTTP/1.1 200 OK\r\n\r\nx".to_vec())).await;
    let engine = site(&server, FetchSettings::default());
    let running = engine.call("fetch", json!({"url": at(&server, "/")}));
    let stop = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(engine.engine.cancel(&CallId::new("c-1")));
    };
    let (outcome, ()) = tokio::join!(running, stop);
    assert_eq!(
        outcome.ending(),
        &Ending::Cancelled {
            by: Canceller::Person
        }
    );
}

#[tokio::test]
async fn a_download_that_takes_a_while_tells_how_far_it_is() {
    let server = Server::start(|_| ok("text/plain", "x".repeat(50_000))).await;
    let settings = FetchSettings {
        patience: Duration::ZERO,
        ..small()
    };
    let outcome = site(&server, settings)
        .call("fetch", json!({"url": at(&server, "/")}))
        .await;
    let progress = outcome.call.progress().unwrap();
    assert_eq!(progress.total(), Some(50_000.0));
    assert!(progress.current() > 0.0);
}
