//! `web_search` with local services that answer like the real ones.
//! The key must appear nowhere but in the request.

use expect_test::{Expect, expect};
use serde_json::json;
use toolcall_tools::tools::WebSearch;
use toolcall_tools::web::{SearchSettings, Secret};

use crate::web::support::*;
use toolcall_testkit::http::{Reply, Server, answer, ok, redirect};

const KEY: &str = "k3y-s3cret";

fn searxng(server: &Server) -> SearchSettings {
    SearchSettings::SearXng {
        endpoint: format!("http://127.0.0.1:{}/search", server.port()),
    }
}

fn brave(server: &Server) -> SearchSettings {
    SearchSettings::Brave {
        key: Secret::new(KEY),
        endpoint: Some(format!("http://127.0.0.1:{}/web", server.port())),
    }
}

fn tavily(server: &Server) -> SearchSettings {
    SearchSettings::Tavily {
        key: Secret::new(KEY),
        endpoint: Some(format!("http://127.0.0.1:{}/search", server.port())),
    }
}

fn engine(settings: &SearchSettings) -> TestEngine {
    TestEngine::of(WebSearch::new(settings).unwrap())
}

fn found() -> String {
    let entry = |n: usize| {
        json!({"title": format!("Tea <b>{n}</b>"), "url": format!("https://tea.example/{n}"),
        "content": "hot &amp; \u{202e}good\nalways", "description": "hot &amp; <strong>good</strong>"})
    };
    let mut list: Vec<_> = (1..20).map(entry).collect();
    list.insert(0, json!({"title": "no address"}));
    list.insert(0, json!({"title": "bad", "url": "javascript:alert(1)"}));
    json!({"results": list.clone(), "web": {"results": list}}).to_string()
}

#[tokio::test]
async fn a_searxng_is_asked() {
    let server = Server::start(|_| ok("application/json", found())).await;
    let story = engine(&searxng(&server))
        .transcript(
            "web_search",
            json!({"query": " green tea & cake ", "count": 2}),
        )
        .await;
    expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Search the web for "green tea & cake"
        touches [Reaches("127.0.0.1:PORT")]
        completed
        2 results
        1. Tea 1
           https://tea.example/1
           hot & \u{202e}good always
        2. Tea 2
           https://tea.example/2
           hot & \u{202e}good always
        link https://tea.example/1 Some("Tea 1") Some("hot & \\u{202e}good always")
        link https://tea.example/2 Some("Tea 2") Some("hot & \\u{202e}good always")
        {"query":"green tea & cake","count":2,"results":[{"title":"Tea 1","url":"https://tea.example/1","snippet":"hot & \\u{202e}good always"},{"title":"Tea 2","url":"https://tea.example/2","snippet":"hot & \\u{202e}good always"}]}"#]].assert_eq(&steady(&story, &server));
    expect!["GET /search?q=green+tea+%26+cake&format=json HTTP/1.1"]
        .assert_eq(server.requests()[0].lines().next().unwrap_or_default());
}

#[tokio::test]
async fn services_with_a_key_are_asked() {
    let server = Server::start(|_| ok("application/json", found())).await;
    let brave = engine(&brave(&server))
        .transcript("web_search", json!({"query": "tea", "count": 1}))
        .await;
    expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Search the web for "tea"
        touches [Reaches("127.0.0.1:PORT")]
        completed
        1 result
        1. Tea 1
           https://tea.example/1
           hot & good
        link https://tea.example/1 Some("Tea 1") Some("hot & good")
        {"query":"tea","count":1,"results":[{"title":"Tea 1","url":"https://tea.example/1","snippet":"hot & good"}]}"#]].assert_eq(&steady(&brave, &server));
    let tavily = engine(&tavily(&server))
        .transcript("web_search", json!({"query": "tea", "count": 1}))
        .await;
    expect![[r#"
        announced, prepared, decided, started, finished
        fetch: Search the web for "tea"
        touches [Reaches("127.0.0.1:PORT")]
        completed
        1 result
        1. Tea 1
           https://tea.example/1
           hot & \u{202e}good always
        link https://tea.example/1 Some("Tea 1") Some("hot & \\u{202e}good always")
        {"query":"tea","count":1,"results":[{"title":"Tea 1","url":"https://tea.example/1","snippet":"hot & \\u{202e}good always"}]}"#]].assert_eq(&steady(&tavily, &server));
    let requests = server.requests().join("\n\n").replace('\r', "");
    expect![[r#"
        GET /web?q=tea&count=1 HTTP/1.1
        x-subscription-token: k3y-s3cret
        accept: */*
        user-agent: toolcall/0.1.0
        accept-encoding: gzip,deflate
        host: 127.0.0.1:PORT



        POST /search HTTP/1.1
        authorization: Bearer k3y-s3cret
        content-type: application/json
        accept: */*
        user-agent: toolcall/0.1.0
        accept-encoding: gzip,deflate
        host: 127.0.0.1:PORT
        content-length: 31

        {"query":"tea","max_results":1}"#]]
    .assert_eq(&steady(&requests, &server));
}

#[tokio::test]
async fn ten_results_are_the_most() {
    let server = Server::start(|_| ok("application/json", found())).await;
    let outcome = engine(&searxng(&server))
        .call("web_search", json!({"query": "tea"}))
        .await;
    assert_eq!(outcome.result().content.len(), 11);
    let more = engine(&searxng(&server))
        .call("web_search", json!({"query": "tea", "count": 11}))
        .await;
    assert_eq!(more.ending().name(), "failed");
}

async fn check(reply: impl Fn() -> Reply + Send + Sync + 'static, expected: Expect) {
    let server = Server::start(move |_| reply()).await;
    for settings in [brave(&server), tavily(&server)] {
        let engine = engine(&settings);
        let story = engine
            .transcript("web_search", json!({"query": "tea"}))
            .await;
        assert!(!story.contains(KEY), "{story}");
        let sent = server
            .requests()
            .iter()
            .all(|request| request.contains(KEY));
        assert!(sent);
    }
    let outcome = engine(&brave(&server))
        .call("web_search", json!({"query": "tea"}))
        .await;
    expected.assert_eq(&steady(&shown(&outcome), &server));
}

#[tokio::test]
async fn a_key_is_seen_nowhere() {
    check(
        || answer("401 Unauthorized", "", format!("bad key {KEY}")),
        expect!["failed: the search at `127.0.0.1:PORT` answered 401 Unauthorized; the user should check its address and key"],
    )
    .await;
    check(|| answer(&format!("403 {KEY}"), "", ""), expect!["failed: the search at `127.0.0.1:PORT` answered 403 Forbidden; the user should check its address and key"]).await;
    check(
        || redirect(302, &format!("https://other.example/?{KEY}")),
        expect!["failed: the search at `127.0.0.1:PORT` answered 302 Found; the user should check its address and key"],
    )
    .await;
    check(|| ok("text/html", format!("<p>{KEY}")), expect!["failed: the search at `127.0.0.1:PORT` gave no list of results in JSON; the user should check that it answers in JSON"]).await;
    check(
        || ok("application/json", "{\"query\": {}, \"results\": []}"),
        expect![[r#"
            completed
            nothing was found; try other words"#]],
    )
    .await;
    check(|| Reply::Bytes(Vec::new()), expect!["failed: `127.0.0.1:PORT` could not be reached: error sending request: client error (SendRequest): connection closed before message completed"]).await;
    let settings = SearchSettings::Brave {
        key: Secret::new(KEY),
        endpoint: None,
    };
    expect!["Brave { key: Secret(…), endpoint: None }"].assert_eq(&format!("{settings:?}"));
    let broken = SearchSettings::Brave {
        key: Secret::new(format!("{KEY}\n")),
        endpoint: None,
    };
    expect!["the key of the search has characters that no header takes; check the setting"]
        .assert_eq(&WebSearch::new(&broken).err().unwrap().to_string());
}

#[tokio::test]
async fn a_wrong_address_is_noticed_at_once() {
    let wrong = SearchSettings::SearXng {
        endpoint: "localhost:8888".to_owned(),
    };
    expect!["`localhost` is not fetched; only http and https are"]
        .assert_eq(&WebSearch::new(&wrong).err().unwrap().to_string());
}

#[tokio::test]
async fn an_empty_query_is_refused() {
    let server = Server::start(|_| ok("application/json", found())).await;
    let outcome = engine(&searxng(&server))
        .call("web_search", json!({"query": " "}))
        .await;
    expect!["failed: `query` is empty; say what to search for"].assert_eq(&shown(&outcome));
    assert!(server.requests().is_empty());
}
