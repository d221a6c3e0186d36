//! Redirects: those to the same host are followed, any other is reported.
//! The host of every redirect is looked up and checked again.

use expect_test::{Expect, expect};
use serde_json::json;
use toolcall_tools::web::FetchSettings;

use crate::web::support::*;
use toolcall_testkit::http::{Server, ok, redirect};

/// Checks the result of a redirect from `/` to `location`, and the requests that were sent.
async fn check(status: u16, location: &'static str, method: &str, expected: Expect) {
    let server = Server::start(move |request| {
        if request.contains(" / ") {
            redirect(status, location)
        } else {
            ok("text/plain", "arrived")
        }
    })
    .await;
    let mut input = json!({"url": at(&server, "/"), "method": method, "headers": {"authorization": "Bearer t"}});
    if method == "POST" {
        input["body"] = json!("sent");
    }
    let outcome = site(&server, FetchSettings::default())
        .call("fetch", input)
        .await;
    let requests = server.requests();
    let requests = requests.iter().map(|request| {
        let first = request.lines().next().unwrap_or_default();
        let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
        format!(
            "{first} [{body}] authorized: {}\n",
            request.contains("Bearer t")
        )
    });
    let transcript = format!("{}{}", requests.collect::<String>(), shown(&outcome));
    expected.assert_eq(&steady(&transcript, &server));
}

#[tokio::test]
async fn the_same_host_is_followed_as_browsers_do() {
    check(
        302,
        "/next",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        GET /next HTTP/1.1 [] authorized: true
        completed
        200 OK: http://site.example:PORT/next
        - text/plain, 7 bytes
        - after 1 redirect
        arrived"#]],
    )
    .await;
    check(
        302,
        "/next",
        "POST",
        expect![[r#"
        POST / HTTP/1.1 [sent] authorized: true
        GET /next HTTP/1.1 [] authorized: true
        completed
        200 OK: http://site.example:PORT/next
        - text/plain, 7 bytes
        - after 1 redirect
        arrived"#]],
    )
    .await;
    check(
        303,
        "next?a=b",
        "POST",
        expect![[r#"
        POST / HTTP/1.1 [sent] authorized: true
        GET /next?a=b HTTP/1.1 [] authorized: true
        completed
        200 OK: http://site.example:PORT/next?a=b
        - text/plain, 7 bytes
        - after 1 redirect
        arrived"#]],
    )
    .await;
    check(
        307,
        "/next",
        "POST",
        expect![[r#"
        POST / HTTP/1.1 [sent] authorized: true
        POST /next HTTP/1.1 [sent] authorized: true
        completed
        200 OK: http://site.example:PORT/next
        - text/plain, 7 bytes
        - after 1 redirect
        arrived"#]],
    )
    .await;
    check(
        308,
        "/next",
        "HEAD",
        expect![[r#"
        HEAD / HTTP/1.1 [] authorized: true
        HEAD /next HTTP/1.1 [] authorized: true
        completed
        200 OK: http://site.example:PORT/next
        content-type: text/plain
        content-length: 7"#]],
    )
    .await;
}

#[tokio::test]
async fn a_redirect_to_another_host_is_reported_and_not_followed() {
    check(
        302,
        "https://other.example/x",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        completed
        302 Found: http://site.example:PORT/ redirects to another host: https://other.example/x
        It was not followed. To follow it, call fetch again with that address."#]],
    )
    .await;
    check(
        302,
        "//site.example:1/",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        completed
        302 Found: http://site.example:PORT/ redirects to another host: http://site.example:1/
        It was not followed. To follow it, call fetch again with that address."#]],
    )
    .await;
    check(
        302,
        "http://site.example/",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        completed
        302 Found: http://site.example:PORT/ redirects to another host: http://site.example/
        It was not followed. To follow it, call fetch again with that address."#]],
    )
    .await;
    check(302, "http://169.254.169.254/latest/", "GET", expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        completed
        302 Found: http://site.example:PORT/ redirects to another host: http://169.254.169.254/latest/
        It was not followed. To follow it, call fetch again with that address."#]]).await;
    check(
        302,
        "http://127.1:1/",
        "POST",
        expect![[r#"
        POST / HTTP/1.1 [sent] authorized: true
        completed
        302 Found: http://site.example:PORT/ redirects to another host: http://127.0.0.1:1/
        It was not followed. To follow it, call fetch again with that address."#]],
    )
    .await;
}

#[tokio::test]
async fn nonsense_is_not_followed() {
    check(
        302,
        "file:///etc/passwd",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        failed: `file` is not fetched; only http and https are"#]],
    )
    .await;
    check(
        302,
        "http://u:p@site.example/",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        failed: the address holds a user name or a password; leave them out"#]],
    )
    .await;
    check(302, "http://[", "GET", expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        failed: `http://[` is not an address: invalid IPv6 address; give a whole one, such as `https://example.com/page`"#]]).await;
    check(
        304,
        "/next",
        "GET",
        expect![[r#"
        GET / HTTP/1.1 [] authorized: true
        completed
        304 Not Modified: http://site.example:PORT/
        - no type given, 0 bytes
        (nothing)"#]],
    )
    .await;
}

#[tokio::test]
async fn a_loop_ends() {
    let server = Server::start(|_| redirect(302, "/again")).await;
    let outcome = site(&server, FetchSettings::default())
        .call("fetch", json!({"url": at(&server, "/")}))
        .await;
    expect!["failed: gave up after 5 redirects, at `http://site.example:PORT/again`"]
        .assert_eq(&steady(&shown(&outcome), &server));
    assert_eq!(server.requests().len(), 6);
}

/// The second request connects to the address of its own lookup.
// Other systems have no second loopback address.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn every_hop_is_checked_anew() {
    use std::sync::atomic::Ordering;
    use toolcall_tools::tools::Fetch;

    let server = Server::start(|request| {
        if request.contains(" / ") {
            redirect(302, "/next")
        } else {
            ok("text/plain", "arrived")
        }
    })
    .await;
    let other = Server::start_at(&format!("127.0.0.2:{}", server.port()), |_| {
        ok("text/plain", "the second")
    })
    .await;
    let lookup = ScriptedLookup::new(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let lookups = lookup.counter();
    let settings = FetchSettings {
        private: vec!["site.example".to_owned()],
        ..FetchSettings::default()
    };
    let engine = TestEngine::of(Fetch::with_lookup(settings, lookup));
    let outcome = engine.call("fetch", json!({"url": at(&server, "/")})).await;
    assert!(
        shown(&outcome).ends_with("the second"),
        "{}",
        shown(&outcome)
    );
    assert_eq!(lookups.load(Ordering::Relaxed), 2);
    assert_eq!((server.requests().len(), other.requests().len()), (1, 1));
}
