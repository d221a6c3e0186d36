//! Lists of tools: pages, repeated cursors, invalid items, duplicate names.
//! How a registry uses a schema is tested there.

use expect_test::expect;
use serde_json::{Value, json};

use super::fake::{FakeServer, session, settings, tool, unstarted};

/// Returns a server that lists these pages, including their `nextCursor`.
fn paged(pages: impl Fn(usize) -> Value + Send + Sync + Clone + 'static) -> FakeServer {
    FakeServer::new(move |_, mut connection| {
        let pages = pages.clone();
        async move {
            connection.handshake("2025-06-18").await;
            for number in 0.. {
                let request = connection.expect("tools/list").await;
                connection.answer(&request, pages(number)).await;
            }
        }
    })
}

#[tokio::test]
async fn pages_are_put_together() {
    let fake = paged(|number| match number {
        0 => json!({"tools": [tool("a")], "nextCursor": "1"}),
        1 => json!({"tools": [tool("b")], "nextCursor": "2"}),
        _ => json!({"tools": [tool("c")]}),
    });
    let session = session(&fake).await;
    assert_eq!(session.names(), ["read_file", "a", "b", "c"]);
    assert_eq!(session.status().notes, Vec::<String>::new());
}

#[tokio::test]
async fn lists_without_end_end() {
    let circle = session(&paged(|_| json!({"tools": [tool("a")], "nextCursor": "1"}))).await;
    assert_eq!(circle.names(), ["read_file", "a"]);
    expect![[r#"
        it lists `a` twice; the first counts
        its list goes in a circle; the rest is left out"#]]
    .assert_eq(&circle.status().notes.join("\n"));
    let pages = |number: usize| {
        let tools: Vec<_> = (0..15)
            .map(|tool_number| tool(&format!("t{number}_{tool_number}")))
            .collect();
        json!({"tools": tools, "nextCursor": number.to_string()})
    };
    let endless = session(&paged(pages)).await;
    assert_eq!(endless.names().len(), 1 + 1_000);
    let few = session(&paged(
        |number| json!({"tools": [], "nextCursor": number.to_string()}),
    ))
    .await;
    assert_eq!(
        few.status().notes,
        ["its list goes on; the rest is left out"]
    );
}

#[tokio::test]
async fn one_bad_tool_does_not_cost_the_others() {
    let tools = json!([
        tool("good"),
        7,
        {"description": "no name"},
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "bad\u{1b}[31m", "inputSchema": {"type": "object"}},
        {"name": "listed", "inputSchema": [1]},
        {"name": "broken", "inputSchema": {"type": "nonsense"}},
        {"name": "task", "execution": {"taskSupport": "required"}},
        {"name": "bare"},
        {"name": "odd name!", "inputSchema": {"type": "object"}},
    ]);
    let session = session(&FakeServer::echoing(tools)).await;
    assert_eq!(session.names(), ["read_file", "bare", "good", "odd_name_"]);
    expect![[r#"
        the tool `number 2` is left out: it is no object
        the tool `number 3` is left out: it has no name
        the tool `` is left out: its name is empty
        the tool `bad\u{1b}[31m` is left out: its name has hidden characters
        the tool `listed` is left out: its input schema is no object
        the tool `task` is left out: it runs only as a task, which is not supported
        the tool `broken` is left out: the input schema of `broken` cannot be used: it is no valid JSON schema: "nonsense" is not valid under any of the schemas listed in the 'anyOf' keyword"#]]
    .assert_eq(&session.status().notes.join("\n"));
    // A tool whose name was made valid is called by the server's own name.
    assert_eq!(session.result_text("odd_name_").await, "odd name!");
}

#[tokio::test]
async fn a_server_without_tools_is_no_failure() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.handshake("2025-06-18").await;
        let request = connection.expect("tools/list").await;
        connection
            .refuse(&request, -32601, "Method not found")
            .await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.status().notes, ["it offers no tools"]);
    assert_eq!(session.names(), ["read_file"]);
}

#[tokio::test]
async fn names_that_others_have_say_whose_they_are() {
    let fake = |name: &'static str| {
        FakeServer::echoing(json!([tool("read_file"), tool("search"), tool(name)]))
    };
    let session = unstarted(vec![(settings("a"), fake("x")), (settings("b"), fake("y"))]);
    session.servers.start();
    session.servers.settled().await;
    let mut names = session.names();
    names.sort();
    let expected = [
        "a__read_file",
        "a__search",
        "b__read_file",
        "b__search",
        "read_file",
        "x",
        "y",
    ];
    assert_eq!(names, expected);
    assert_eq!(session.result_text("read_file").await, "built in");
    assert_eq!(session.result_text("a__read_file").await, "read_file");
    // Rules use the pair of server and tool, whatever the tool's name in the registry.
    let outcome = session.call("b__search").await;
    let tool = &outcome.call.prepared_as().unwrap().intent.tool;
    assert_eq!(
        (&*tool.name, &tool.origin),
        ("search", &toolcall::Origin::Mcp("b".into()))
    );
    session.servers.close().await;
    assert_eq!(session.names(), ["read_file"]);
}
