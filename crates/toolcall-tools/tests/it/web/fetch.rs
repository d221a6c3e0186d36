//! `fetch`: what it states, sends, refuses and shows.
//! Redirects and unusual bodies are tested elsewhere.

use std::sync::atomic::Ordering;
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use toolcall::*;
use toolcall_tools::tools::Fetch;
use toolcall_tools::web::FetchSettings;

use crate::web::support::*;
use toolcall_testkit::http::{Server, ok};
use toolcall_testkit::process::{again, role};

async fn check_refused(input: Value, expected: Expect) {
    let lookup = ScriptedLookup::new(&[&["93.184.215.14", "10.0.0.7"]]);
    let engine = TestEngine::of(Fetch::with_lookup(FetchSettings::default(), lookup));
    expected.assert_eq(&engine.transcript("fetch", input).await);
}

#[tokio::test]
async fn a_page_is_fetched_as_text() {
    let page = "<title>Tea</title><h1>Tea</h1><p>It is <a href=/hot>hot</a>.\u{1b}[31m";
    let server = Server::start(move |_| ok("text/html; charset=utf-8", page)).await;
    let story = site(&server, FetchSettings::default())
        .transcript("web_request", json!({"url": at(&server, "/tea?x=1")}))
        .await;
    expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Fetch http://site.example:PORT/tea?x=1
        touches [Reaches("site.example:PORT")]
        completed
        200 OK: http://site.example:PORT/tea?x=1
        - text/html; charset=utf-8, 65 bytes
        Title: Tea

        # Tea

        It is [hot](http://site.example:PORT/hot).\u{1b}[31m
        {"url":"http://site.example:PORT/tea?x=1","status":200,"contentType":"text/html; charset=utf-8","size":65,"bytes":65,"shownBytes":72,"redirects":0}"#]].assert_eq(&steady(&story, &server));
    expect![[r#"
        GET /tea?x=1 HTTP/1.1
        accept: text/html, text/plain;q=0.9, */*;q=0.8
        user-agent: toolcall/0.1.0
        accept-encoding: gzip,deflate
        host: site.example:PORT

    "#]]
    .assert_eq(&steady(&server.requests().join("\n"), &server).replace('\r', ""));
}

#[tokio::test]
async fn the_user_sees_the_whole_request() {
    let server = Server::start(|request| ok("text/plain", request)).await;
    let input = json!({
        "url": at(&server, "/form"),
        "method": "POST",
        "headers": {"Content-Type": "text/plain", "Authorization": "Bearer t0ken"},
        "body": "all \u{202e}of it\nand more",
    });
    let story = site(&server, FetchSettings::default())
        .transcript("fetch", input)
        .await;
    expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Fetch (POST) http://site.example:PORT/form
        touches [Reaches("site.example:PORT")]
        preview POST http://site.example:PORT/form
        accept: text/html, text/plain;q=0.9, */*;q=0.8
        authorization: Bearer t0ken
        content-type: text/plain

        all \u{202e}of it
        and more
        completed
        200 OK: http://site.example:PORT/form
        - text/plain, 252 bytes
        POST /form HTTP/1.1
        accept: text/html, text/plain;q=0.9, */*;q=0.8
        authorization: Bearer t0ken
        content-type: text/plain
        user-agent: toolcall/0.1.0
        accept-encoding: gzip,deflate
        host: site.example:PORT
        content-length: 21

        all \u{202e}of it
        and more
        {"url":"http://site.example:PORT/form","status":200,"contentType":"text/plain","size":252,"bytes":252,"shownBytes":248,"redirects":0}"#]].assert_eq(&steady(&story, &server).replace('\r', ""));
}

#[tokio::test]
async fn a_long_address_is_shown_whole() {
    let server = Server::start(|_| ok("text/plain", "x")).await;
    let url = at(&server, &format!("/?{}", "secret".repeat(50)));
    let outcome = site(&server, FetchSettings::default())
        .call("fetch", json!({"url": url.as_str()}))
        .await;
    let [Content::Text(preview)] = outcome.call.preview() else {
        panic!("{:?}", outcome.call.preview());
    };
    assert!(preview.starts_with(&format!("GET {url}\n")), "{preview}");
}

#[tokio::test]
async fn only_the_head_is_shown() {
    let server = Server::start(|_| ok("text/plain", "")).await;
    let story = site(&server, FetchSettings::default())
        .transcript("fetch", json!({"url": at(&server, "/"), "method": "HEAD"}))
        .await;
    expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Fetch (HEAD) http://site.example:PORT/
        touches [Reaches("site.example:PORT")]
        preview HEAD http://site.example:PORT/
        accept: text/html, text/plain;q=0.9, */*;q=0.8
        completed
        200 OK: http://site.example:PORT/
        content-type: text/plain
        content-length: 0
        {"url":"http://site.example:PORT/","status":200,"contentType":"text/plain","size":0,"bytes":0,"shownBytes":0,"redirects":0}"#]].assert_eq(&steady(&story, &server));
    assert!(server.requests()[0].starts_with("HEAD / HTTP/1.1\r\n"));
}

#[tokio::test]
async fn what_is_refused_before_anybody_is_asked() {
    check_refused(
        json!({"url": "file:///etc/passwd"}),
        expect![[r#"
            announced, finished
            fetch: Fetch
            failed: `file` is not fetched; only http and https are"#]],
    )
    .await;
    check_refused(
        json!({"url": "http://u:p@example.com/"}),
        expect![[r#"
            announced, finished
            fetch: Fetch
            failed: the address holds a user name or a password; leave them out"#]],
    )
    .await;
    check_refused(json!({"url": "http://2130706433/"}), expect![[r#"
        announced, finished
        fetch: Fetch http://127.0.0.1/
        failed: `127.0.0.1` leads to 127.0.0.1, which is loopback, so it is not reached; the user can allow `127.0.0.1` in the settings"#]]).await;
    check_refused(
        json!({"url": "http://[::ffff:169.254.169.254]/meta"}),
        expect![[r#"
            announced, finished
            fetch: Fetch http://[::ffff:a9fe:a9fe]/meta
            failed: `[::ffff:a9fe:a9fe]` leads to ::ffff:169.254.169.254, which is link-local, so it is not reached; the user can allow `[::ffff:a9fe:a9fe]` in the settings"#]],
    )
    .await;
    check_refused(
        json!({"url": "https://example.com/", "headers": {"Host": "other"}}),
        expect![[r#"
            announced, finished
            fetch: Fetch https://example.com/
            failed: the header `Host` cannot be sent: the connection sets it; leave it out"#]],
    )
    .await;
    check_refused(
        json!({"url": "https://example.com/", "headers": {"x": "a\r\nb: c"}}),
        expect![[r#"
            announced, finished
            fetch: Fetch https://example.com/
            failed: the header `x` cannot be sent: its value has characters that no header takes"#]],
    )
    .await;
    check_refused(
        json!({"url": "https://example.com/", "body": "x"}),
        expect![[r#"
            announced, finished
            fetch: Fetch https://example.com/
            failed: GET sends no body; leave `body` out, or use POST"#]],
    )
    .await;
    check_refused(
        json!({"url": "https://example.com/", "method": "DELETE"}),
        expect![[r#"
            announced, finished
            fetch: Fetch https://example.com/
            failed: the input does not fit the schema: `/method`: value is not one of "GET", "HEAD" or "POST""#]],
    )
    .await;
}

/// One private address among public ones is enough.
#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_refused() {
    check_refused(json!({"url": "http://example.com:8080/"}), expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Fetch http://example.com:8080/
        touches [Reaches("example.com:8080")]
        failed: `example.com:8080` leads to 10.0.0.7, which is private, so it is not reached; the user can allow `example.com:8080` in the settings"#]]).await;
}

#[tokio::test]
async fn the_name_of_this_machine_is_refused_unless_the_settings_name_it() {
    let server = Server::start(|_| ok("text/plain", "mine")).await;
    let url = format!("http://localhost:{}/", server.port());
    let refused = TestEngine::of(Fetch::new(FetchSettings::default()));
    let refused = shown(&refused.call("fetch", json!({"url": url.as_str()})).await);
    assert!(refused.contains("which is loopback"), "{refused}");
    assert!(server.requests().is_empty());

    let literal = format!("http://127.0.0.1:{}/", server.port());
    for (name, url) in [("LOCALHOST", url), ("127.0.0.1", literal)] {
        let settings = FetchSettings {
            private: vec![name.to_owned()],
            ..FetchSettings::default()
        };
        let engine = TestEngine::of(Fetch::new(settings));
        let allowed = engine.call("fetch", json!({"url": url})).await;
        assert_eq!(allowed.ending(), &Ending::Completed, "{}", shown(&allowed));
    }
}

/// A host is looked up once, so that a second, different answer cannot matter.
// Other systems have no second loopback address.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_address_that_was_checked_is_the_one_that_is_connected_to() {
    let first = Server::start(|_| ok("text/plain", "the checked one")).await;
    let second = Server::start_at(&format!("127.0.0.2:{}", first.port()), |_| {
        ok("text/plain", "another")
    })
    .await;
    let lookup = ScriptedLookup::new(&[&["127.0.0.1"], &["127.0.0.2"]]);
    let lookups = lookup.counter();
    let settings = FetchSettings {
        private: vec!["site.example".to_owned()],
        ..FetchSettings::default()
    };
    let engine = TestEngine::of(Fetch::with_lookup(settings, lookup));
    let outcome = engine.call("fetch", json!({"url": at(&first, "/")})).await;
    assert!(
        shown(&outcome).ends_with("the checked one"),
        "{}",
        shown(&outcome)
    );
    assert_eq!(lookups.load(Ordering::Relaxed), 1);
    assert!(second.requests().is_empty());
}

/// Runs in a process of its own, because all tests share the environment.
#[tokio::test]
async fn no_proxy_of_the_environment_is_used() {
    if role().is_none() {
        let again = again("web::fetch::no_proxy_of_the_environment_is_used", "proxied")
            .env("HTTP_PROXY", "http://127.0.0.1:1")
            .env("http_proxy", "http://127.0.0.1:1")
            .env_remove("NO_PROXY")
            .env_remove("no_proxy")
            .output()
            .unwrap();
        assert!(again.status.success(), "{again:?}");
        return;
    }
    let server = Server::start(|_| ok("text/plain", "direct")).await;
    let engine = site(&server, FetchSettings::default());
    let outcome = engine
        .call("fetch", json!({"url": at(&server, "/x")}))
        .await;
    assert_eq!(outcome.ending(), &Ending::Completed, "{}", shown(&outcome));
    assert!(server.requests()[0].starts_with("GET /x HTTP/1.1\r\n"));
}

#[tokio::test]
async fn a_policy_that_denies_the_host_is_asked_first() {
    let server = Server::start(|_| ok("text/plain", "x")).await;
    let settings = FetchSettings {
        private: vec!["site.example".to_owned()],
        ..FetchSettings::default()
    };
    let lookup = ScriptedLookup::new(&[&["127.0.0.1"]]);
    let lookups = lookup.counter();
    let engine = TestEngine::under(Fetch::with_lookup(settings, lookup), DenyAll);
    let story = engine
        .transcript("fetch", json!({"url": at(&server, "/")}))
        .await;
    expect![[r#"
        announced, prepared, decided, finished
        fetch: Fetch http://site.example:PORT/
        touches [Reaches("site.example:PORT")]
        denied: not allowed: this policy denies everything"#]]
    .assert_eq(&steady(&story, &server));
    assert!(server.requests().is_empty());
    assert_eq!(lookups.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_closed_port_is_reported() {
    let server = Server::start(|_| ok("text/plain", "x")).await;
    let port = server.port();
    drop(server);
    let settings = FetchSettings {
        private: vec!["127.0.0.1".to_owned()],
        ..FetchSettings::default()
    };
    let engine = TestEngine::of(Fetch::new(settings));
    let outcome = engine
        .call("fetch", json!({"url": format!("http://127.0.0.1:{port}/")}))
        .await;
    let reason = outcome.ending().reason().unwrap_or_default();
    assert!(
        reason.starts_with(&format!("`127.0.0.1:{port}` could not be reached: ")),
        "{reason}"
    );
    assert!(!reason.contains("http://"), "{reason}");
}

/// There is no fallback to plain text for a server that does not speak TLS.
#[tokio::test]
async fn https_is_not_given_up() {
    let server = Server::start(|_| ok("text/plain", "clear")).await;
    let url = at(&server, "/").replace("http:", "https:");
    let settings = FetchSettings {
        silence: Duration::from_millis(200),
        ..FetchSettings::default()
    };
    let outcome = site(&server, settings)
        .call("fetch", json!({"url": url}))
        .await;
    assert_eq!(outcome.ending().name(), "failed");
    assert!(server.requests().is_empty());
}
