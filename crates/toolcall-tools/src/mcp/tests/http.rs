//! A server over streamable HTTP, played by a local socket.
//! It tests only the results; the HTTP protocol itself is rmcp's.

use serde_json::{Value, json};
use toolcall::{AllowAll, Engine, SharedRegistry, ToolRequest};
use toolcall_testkit::http::{Reply, Server, response};
use url::Url;

use super::super::servers::{ServerEnvironment, Servers};
use super::super::settings::{Address, ServerSettings};
use super::super::status::ServerState;
use super::fake::{result_text, tool};

/// Answers every request with the result of this function: a status line with headers, and a body.
async fn site(respond: fn(&Value) -> (String, String)) -> (Url, Server) {
    let server = Server::start(move |request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        let (status, body) = if head.starts_with("POST") {
            respond(&serde_json::from_str(body).unwrap())
        } else {
            (
                "405 Method Not Allowed\r\ncontent-type: text/plain".to_owned(),
                String::new(),
            )
        };
        Reply::Keep(response(&status, "", body))
    });
    let server = server.await;
    let url = format!("http://{}/mcp?key=hunter22", server.address);
    (Url::parse(&url).unwrap(), server)
}

fn respond(message: &Value) -> (String, String) {
    let json = |value: Value| {
        (
            "200 OK\r\ncontent-type: application/json".to_owned(),
            value.to_string(),
        )
    };
    let result =
        |result: Value| json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => result(
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                      "serverInfo": {"name": "web", "version": "1"}}),
        ),
        "tools/list" => result(json!({"tools": [tool("work"), tool("stream")]})),
        "tools/call" if message["params"]["name"] == "stream" => {
            let token = &message["params"]["_meta"]["progressToken"];
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                                  "params": {"progressToken": token, "progress": 1, "total": 2}});
            let done = json!({"jsonrpc": "2.0", "id": message["id"],
                              "result": {"content": [{"type": "text", "text": "streamed"}]}});
            let events = format!("data: {progress}\n\ndata: {done}\n\n");
            (
                "200 OK\r\ncontent-type: text/event-stream".to_owned(),
                events,
            )
        }
        "tools/call" => {
            result(json!({"content": [{"type": "hologram"}, {"type": "text", "text": "worked"}]}))
        }
        "server/discover" => json(
            json!({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}),
        ),
        _ => ("202 Accepted".to_owned(), String::new()),
    }
}

async fn session(url: Url) -> (Servers, Engine) {
    let address = Address::new(url, [("X-Key", "hunter22")]);
    let registry = SharedRegistry::new(toolcall::Registry::new());
    let surroundings = ServerEnvironment::new(vec!["/w".into()], []);
    let servers = vec![ServerSettings::new("web", address)];
    let servers = Servers::new(servers, &surroundings, registry.clone()).unwrap();
    servers.start();
    servers.settled().await;
    (servers, Engine::builder(registry).policy(AllowAll).build())
}

#[tokio::test]
async fn a_server_on_the_web_is_called() {
    let (url, server) = site(respond).await;
    let (servers, engine) = session(url).await;
    assert_eq!(
        servers.status()[0].state,
        ServerState::Ready,
        "{:?}",
        servers.status()
    );
    let outcome = engine.run(ToolRequest::new("work", json!({}))).await;
    let expected =
        r#"(a block of type `hologram` that cannot be shown: {"type":"hologram"}) | worked"#;
    assert_eq!(result_text(&outcome), expected);
    let outcome = engine.run(ToolRequest::new("stream", json!({}))).await;
    assert_eq!(result_text(&outcome), "streamed");
    let sent = server.requests();
    assert!(
        sent.iter().all(|head| head.contains("x-key: hunter22")),
        "{sent:?}"
    );
    servers.close().await;
}

#[tokio::test]
async fn a_site_that_is_no_server_is_reported_without_its_secrets() {
    let refuse = |_: &Value| {
        (
            "500 Oh No\r\ncontent-type: text/html".to_owned(),
            "<html>hunter22".to_owned(),
        )
    };
    let (url, _server) = site(refuse).await;
    let (servers, _engine) = session(url).await;
    let status = servers.status().remove(0);
    assert!(
        matches!(status.state, ServerState::Failed { .. }),
        "{status:?}"
    );
    assert!(!format!("{status:?}").contains("hunter22"), "{status:?}");
}

#[tokio::test]
async fn a_server_that_wants_a_sign_in_says_so() {
    let refuse = |_: &Value| {
        (
            "401 Unauthorized\r\nwww-authenticate: Bearer".to_owned(),
            String::new(),
        )
    };
    let (url, _server) = site(refuse).await;
    let (servers, _engine) = session(url).await;
    let expected = ServerState::Failed {
        reason: "it wants a sign-in; put a token into `headers`".into(),
    };
    assert_eq!(servers.status()[0].state, expected);
}
