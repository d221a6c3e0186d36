//! Tests of the MCP server with a real client: listing, calling, permission, progress, cancellation.
//! The client is rmcp's, at the other end of a pipe.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use expect_test::{Expect, expect};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use toolcall::{
    AllowAll, AskDangerous, Blob, Content, CustomTool, Engine, EngineBuilder, Intent, Kind,
    Progress, Registry, RunContext, ToolDefinition, ToolError, ToolResult,
};

use super::{ServeError, serve};
use crate::{Toolset, ToolsetConfig};

/// A client with a fixed answer to forms, which records the forms and the progress that it receives.
#[derive(Clone, Default)]
struct TestClient {
    answer: Option<ElicitResult>,
    shown: Arc<Mutex<Vec<Value>>>,
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    received: Arc<Notify>,
}

impl TestClient {
    /// Creates a client that supports forms and gives every one this answer.
    fn answering(action: ElicitationAction, content: Value) -> Self {
        Self {
            answer: Some(ElicitResult::new(action).with_content(content)),
            ..Self::default()
        }
    }

    fn shown(&self) -> Vec<Value> {
        self.shown.lock().expect("a lock").clone()
    }
}

impl ClientHandler for TestClient {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        if self.answer.is_some() {
            info.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        }
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(request).expect("a request");
        self.shown.lock().expect("a lock").push(request);
        self.received.notify_one();
        let answer = self.answer.clone();
        Ok(answer.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Decline)))
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().expect("a lock").push(progress);
        self.received.notify_one();
    }
}

/// A connected client, and the task that serves it.
struct TestConnection {
    client: RunningService<RoleClient, TestClient>,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl TestConnection {
    async fn begin(engine: EngineBuilder, client_handler: TestClient) -> Self {
        let (near, far) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(near);
        let serving = tokio::spawn(serve(engine, reader, writer));
        let client = client_handler.serve(far).await.expect("a connection");
        Self { client, serving }
    }

    async fn call(&self, tool: &'static str, input: Value) -> Value {
        let Value::Object(arguments) = input else {
            panic!("{input} is no input")
        };
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = self.client.call_tool(request).await.expect("a result");
        serde_json::to_value(result).expect("a result")
    }

    async fn end(self) {
        self.client.cancel().await.expect("no panic");
        let served = self.serving.await.expect("no panic");
        assert!(served.is_ok(), "{served:?}");
    }
}

/// A directory with one file, and the built-in tools for it.
struct ServedProject {
    directory: TempDir,
    toolset: Toolset,
}

impl ServedProject {
    fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("form-")
            .tempdir()
            .expect("a folder");
        let root = directory
            .path()
            .canonicalize()
            .expect("a path")
            .join("work");
        std::fs::create_dir(&root).expect("a folder");
        std::fs::write(root.join("a.txt"), "one\ntwo\n").expect("a file");
        let settings = ToolsetConfig::new(vec![root], directory.path().join("state"));
        let toolset = Toolset::open(settings).expect("a toolset");
        Self { directory, toolset }
    }

    fn root(&self) -> std::path::PathBuf {
        let directory = self.directory.path().canonicalize().expect("a path");
        directory.join("work")
    }

    fn engine(&self) -> EngineBuilder {
        let mut tools = Registry::new();
        self.toolset.add_to(&mut tools).expect("tools");
        Engine::builder(tools)
            .cwd(self.root())
            .host(self.toolset.host())
            .policy(AskDangerous)
    }

    fn content(&self) -> String {
        std::fs::read_to_string(self.root().join("a.txt")).expect("a file")
    }

    /// Replaces the directory in a text, because it differs from run to run.
    fn plain(&self, text: &str) -> String {
        text.replace(&self.root().display().to_string(), "/w")
    }

    /// Runs an edit and returns its result and the form that the user was shown.
    async fn check_edit(&self, client_handler: TestClient, expected: Expect) {
        let connection = TestConnection::begin(self.engine(), client_handler.clone()).await;
        let edit = json!({"path": "a.txt", "edits": [{"type": "replace", "oldText": "two", "newText": "three"}]});
        let result = connection.call("edit_file", edit).await;
        connection.end().await;
        let shown: Vec<String> = client_handler
            .shown()
            .iter()
            .map(|form| {
                format!(
                    "{}\n{}\n",
                    form["message"].as_str().unwrap_or_default(),
                    form["requestedSchema"]
                )
            })
            .collect();
        let said = format!("{}{}\n{:?}", shown.concat(), result, self.content());
        expected.assert_eq(&self.plain(&said));
    }
}

/// Returns a tool that runs this closure and touches nothing.
fn tool<F, Fut, R>(name: &'static str, run: F) -> EngineBuilder
where
    F: Fn(Arc<Value>, RunContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: Into<ToolResult>,
{
    let definition = ToolDefinition::new(name, "For a test", json!({"type": "object"}));
    let tool =
        CustomTool::new(definition, run).preparing(move |_| Ok(Intent::new(Kind::Other, name)));
    let mut registry = Registry::new();
    registry.add_any(Arc::new(tool)).expect("a tool");
    Engine::builder(registry).policy(AllowAll)
}

#[tokio::test]
async fn every_tool_is_listed_with_what_its_kind_says() {
    let project = ServedProject::new();
    let connection = TestConnection::begin(project.engine(), TestClient::default()).await;
    let tools = connection.client.list_all_tools().await.expect("tools");
    let said: Vec<String> = tools
        .iter()
        .map(|tool| {
            let hints = serde_json::to_value(&tool.annotations).expect("hints");
            let takes = tool.input_schema.get("type");
            assert_eq!(takes, Some(&json!("object")), "{}", tool.name);
            assert!(
                tool.description
                    .as_ref()
                    .is_some_and(|text| !text.is_empty())
            );
            format!("{}: {hints}", tool.name)
        })
        .collect();
    connection.end().await;
    expect![[r#"
        read_file: {"readOnlyHint":true,"openWorldHint":false}
        write_file: {"destructiveHint":true,"openWorldHint":false}
        edit_file: {"destructiveHint":true,"openWorldHint":false}
        delete_file: {"destructiveHint":true,"openWorldHint":false}
        move_file: {"destructiveHint":false,"openWorldHint":false}
        list_directory: {"readOnlyHint":true,"openWorldHint":false}
        find_path: {"readOnlyHint":true,"openWorldHint":false}
        search_files: {"readOnlyHint":true,"openWorldHint":false}
        run_command: {"destructiveHint":true,"openWorldHint":true}
        command_output: {"readOnlyHint":true,"openWorldHint":false}
        stop_command: {"destructiveHint":true,"openWorldHint":true}
        fetch: {"readOnlyHint":true,"openWorldHint":true}
        thinking: {"readOnlyHint":true,"openWorldHint":false}
        todo_write: {"readOnlyHint":true,"openWorldHint":false}"#]]
    .assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn a_call_that_is_allowed_gives_what_the_tool_gives() {
    let project = ServedProject::new();
    let connection = TestConnection::begin(project.engine(), TestClient::default()).await;
    let read = connection.call("read_file", json!({"path": "a.txt"})).await;
    let missing = connection.call("read_file", json!({"path": "b.txt"})).await;
    let unknown = connection.call("reed_file", json!({})).await;
    let unfit = connection.call("read_file", json!({"path": 1})).await;
    connection.end().await;
    let said = format!("{read}\n{missing}\n{unknown}\n{unfit}");
    expect![[r#"
        {"content":[{"type":"text","text":"one\ntwo\n"},{"type":"text","text":"`a.txt`: lines 1 to 2 of 2, 8 bytes in all"}],"structuredContent":{"path":"/w/a.txt","firstLine":1,"lastLine":2,"totalLines":2,"bytes":8},"isError":false}
        {"content":[{"type":"text","text":"`/w/b.txt` does not exist"}],"isError":true}
        {"content":[{"type":"text","text":"there is no tool `reed_file`; did you mean `read_file`, `edit_file`, `move_file`"}],"isError":true}
        {"content":[{"type":"text","text":"the input does not fit the schema: `/path` must be string, not number"}],"isError":true}"#]].assert_eq(&project.plain(&said));
}

#[tokio::test]
async fn a_client_without_forms_is_refused_with_advice() {
    let project = ServedProject::new();
    project.check_edit(TestClient::default(), expect![[r#"
        {"content":[{"type":"text","text":"not allowed: this MCP client shows no forms, so nobody could be asked; allow it with a rule (`toolcall policy --help`)"}],"isError":true}
        "one\ntwo\n""#]]).await;
}

#[tokio::test]
async fn the_user_of_the_client_sees_the_change_and_allows_it() {
    let project = ServedProject::new();
    let client_handler =
        TestClient::answering(ElicitationAction::Accept, json!({"answer": "allow-once"}));
    project.check_edit(client_handler, expect![[r#"
        Edit a.txt
        Changes `/w/a.txt`:
        @@ -1,2 +1,2 @@
         one
        -two
        +three

        {"type":"object","properties":{"answer":{"type":"string","title":"May it?","oneOf":[{"const":"allow-once","title":"Allow once"},{"const":"allow-always-1","title":"Always allow in this session: \"edit_file\" writing \"/w/a.txt\""},{"const":"reject","title":"Reject"}]},"reason":{"type":"string","title":"Why not","description":"The model is told."}},"required":["answer"]}
        {"content":[{"type":"text","text":"edited `a.txt`: 1 line added, 1 removed\n--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"}],"structuredContent":{"path":"/w/a.txt","edits":1,"bytes":10,"linesAdded":1,"linesRemoved":1},"isError":false}
        "one\nthree\n""#]]).await;
}

#[tokio::test]
async fn nothing_but_a_choice_that_was_offered_is_a_yes() {
    let answers = [
        (ElicitationAction::Accept, json!({})),
        (ElicitationAction::Accept, json!({"answer": "yes"})),
        (
            ElicitationAction::Accept,
            json!({"answer": "allow-always-9"}),
        ),
        (
            ElicitationAction::Accept,
            json!({"answer": "reject", "reason": "not today"}),
        ),
        (ElicitationAction::Decline, json!({"answer": "allow-once"})),
        (ElicitationAction::Cancel, json!({"answer": "allow-once"})),
    ];
    let mut said = Vec::new();
    for (action, content) in answers {
        let project = ServedProject::new();
        let connection =
            TestConnection::begin(project.engine(), TestClient::answering(action, content)).await;
        let result = connection
            .call("delete_file", json!({"path": "a.txt"}))
            .await;
        connection.end().await;
        assert_eq!(project.content(), "one\ntwo\n");
        assert_eq!(result["isError"], true);
        said.push(
            result["content"][0]["text"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        );
    }
    expect![[r#"
        not allowed: the client chose what was not offered
        not allowed: the client chose what was not offered
        not allowed: the client chose what was not offered
        not allowed: the user rejected it and said: not today
        not allowed: the user rejected it
        cancelled by the user"#]]
    .assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn always_is_asked_once() {
    let project = ServedProject::new();
    let client_handler = TestClient::answering(
        ElicitationAction::Accept,
        json!({"answer": "allow-always-1"}),
    );
    let connection = TestConnection::begin(project.engine(), client_handler.clone()).await;
    for _ in 0..2 {
        let result = connection
            .call("run_command", json!({"command": "echo hi"}))
            .await;
        assert_eq!(result["isError"], false, "{result}");
    }
    connection.end().await;
    assert_eq!(client_handler.shown().len(), 1);
}

#[tokio::test]
async fn images_and_values_are_carried() {
    let engine = tool("draw", |_, _| async {
        let image = Content::Image(Blob::from_bytes("image/png", b"png"));
        Ok::<_, ToolError>(ToolResult::from(image).structured(json!({"width": 1})))
    });
    let connection = TestConnection::begin(engine, TestClient::default()).await;
    let result = connection.call("draw", json!({})).await;
    connection.end().await;
    expect![[r#"{"content":[{"type":"image","data":"cG5n","mimeType":"image/png"}],"structuredContent":{"width":1},"isError":false}"#]].assert_eq(&result.to_string());
}

#[tokio::test]
async fn progress_is_sent_to_a_client_that_gave_a_token() {
    let (noticed, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let going = go_on.clone();
    let engine = tool("count", move |_, scope: RunContext| {
        let going = going.clone();
        async move {
            scope.progress(Progress::at(1.0).of(4.0).saying("one"));
            going.notified().await;
            Ok::<_, ToolError>("done")
        }
    });
    let client_handler = TestClient {
        received: noticed.clone(),
        ..TestClient::default()
    };
    let connection = TestConnection::begin(engine, client_handler.clone()).await;
    let (result, ()) = tokio::join!(connection.call("count", json!({})), async {
        noticed.notified().await;
        go_on.notify_one();
    });
    connection.end().await;
    assert_eq!(result["isError"], false);
    let received = client_handler.progress.lock().expect("a lock");
    let values: Vec<_> = received
        .iter()
        .map(|p| (p.progress, p.total, p.message.as_deref()))
        .collect();
    assert_eq!(values, [(1.0, Some(4.0), Some("one"))]);
}

/// Returns an engine with a tool that runs until it is cancelled, and signals its start and its end.
fn endless(began: &Arc<Notify>, stopped: &Arc<Notify>) -> EngineBuilder {
    let (began, stopped) = (began.clone(), stopped.clone());
    tool("wait", move |_, scope: RunContext| {
        let (began, stopped) = (began.clone(), stopped.clone());
        async move {
            began.notify_one();
            scope.cancelled().await;
            stopped.notify_one();
            Err::<(), _>(ToolError::new("it was stopped"))
        }
    })
}

#[tokio::test]
async fn a_call_is_stopped_when_the_client_says_so() {
    let (began, stopped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let connection = TestConnection::begin(endless(&began, &stopped), TestClient::default()).await;
    let request =
        ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("wait")));
    let sent = connection
        .client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .expect("a request");
    began.notified().await;
    sent.cancel(Some("enough".to_owned()))
        .await
        .expect("a word");
    stopped.notified().await;
    connection.end().await;
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_no_call_behind() {
    let (began, stopped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let connection = TestConnection::begin(endless(&began, &stopped), TestClient::default()).await;
    let request =
        ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("wait")));
    let _unanswered = connection
        .client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await
        .expect("a request");
    began.notified().await;
    connection.client.cancel().await.expect("no panic");
    let served = tokio::time::timeout(Duration::from_secs(20), connection.serving).await;
    assert!(served.expect("an end").expect("no panic").is_ok());
    stopped.notified().await;
}

#[tokio::test]
async fn too_many_calls_at_once_are_refused() {
    let (began, stopped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let connection = TestConnection::begin(endless(&began, &stopped), TestClient::default()).await;
    let mut open = Vec::new();
    for _ in 0..super::MOST_CALLS {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(
            CallToolRequestParams::new("wait"),
        ));
        let sent = connection
            .client
            .send_cancellable_request(request, PeerRequestOptions::no_options());
        open.push(sent.await.expect("a request"));
        began.notified().await;
    }
    let refused = connection.call("wait", json!({})).await;
    assert_eq!(refused["isError"], true);
    assert_eq!(
        refused["content"][0]["text"],
        "there are 64 calls open; wait for one to end"
    );
    connection.end().await;
}

#[tokio::test]
async fn a_client_that_disconnects_at_once_is_no_error() {
    let (near, far) = tokio::io::duplex(1024);
    drop(far);
    let (reader, writer) = tokio::io::split(near);
    let engine = tool("nothing", |_, _| async { Ok::<_, ToolError>("") });
    assert!(serve(engine, reader, writer).await.is_ok());
}
