//! A scripted server, and a session that uses it.
//! It asserts only what every script relies on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, split,
};
use toolcall::{
    AllowAll, BoxFuture, CustomTool, Ending, Engine, EngineBuilder, Event, Outcome, Progress,
    Registry, SharedRegistry, ToolCall, ToolDefinition, ToolRequest,
};

use super::super::connector::{Connector, RawTransport};
use super::super::notifications::Notifications;
use super::super::servers::{ServerEnvironment, Servers};
use super::super::settings::{Program, ServerSettings};
use super::super::status::{ServerState, ServerStatus};

pub(super) const NEWEST_LEGACY: &str = "2025-11-25";

/// The server's side of a connection.
pub(super) struct FakeConnection {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    /// Messages that arrived while [`expect`](Self::expect) waited for another one.
    pub(super) passed: Vec<Value>,
}

impl FakeConnection {
    fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self {
            reader: BufReader::new(reader),
            writer,
            passed: Vec::new(),
        }
    }

    /// Receives the next message; `None` when the client is gone.
    pub(super) async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line).await {
            Ok(1..) => Some(serde_json::from_str(&line).expect("the client writes JSON")),
            Ok(0) | Err(_) => None,
        }
    }

    /// Receives the next message of this method; waits forever if the client is gone.
    pub(super) async fn expect(&mut self, method: &str) -> Value {
        loop {
            match self.receive().await {
                Some(message) if message["method"] == method => return message,
                Some(other) => self.passed.push(other),
                None => std::future::pending().await,
            }
        }
    }

    pub(super) async fn send_bytes(&mut self, bytes: &[u8]) {
        // The client may have disconnected.
        self.writer.write_all(bytes).await.ok();
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub(super) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }

    pub(super) async fn refuse(&mut self, request: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await;
    }

    pub(super) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Performs the handshake of a server that knows only this version.
    pub(super) async fn handshake(&mut self, version: &str) {
        let discover = self.expect("server/discover").await;
        self.refuse(&discover, -32601, "Method not found").await;
        let initialize = self.expect("initialize").await;
        self.initialized(&initialize, version).await;
    }

    pub(super) async fn initialized(&mut self, initialize: &Value, version: &str) {
        let result = json!({
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "fake", "version": "1"},
        });
        self.answer(initialize, result).await;
        self.expect("notifications/initialized").await;
    }

    pub(super) async fn list(&mut self, tools: Value) {
        let request = self.expect("tools/list").await;
        self.answer(&request, json!({"tools": tools})).await;
    }

    /// Performs the handshake and lists these tools.
    pub(super) async fn begin(&mut self, tools: Value) {
        self.handshake(NEWEST_LEGACY).await;
        self.list(tools).await;
    }

    pub(super) async fn call(&mut self) -> Value {
        self.expect("tools/call").await
    }

    pub(super) async fn answer_text(&mut self, request: &Value, text: &str) {
        let content = json!([{"type": "text", "text": text}]);
        self.answer(request, json!({"content": content})).await;
    }

    /// Answers every call with its tool's name, until the client is gone.
    pub(super) async fn echo(mut self) {
        while let Some(message) = self.receive().await {
            if message["method"] == "tools/call" {
                let name = message["params"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                self.answer_text(&message, &name).await;
            }
        }
    }
}

/// Returns a tool that accepts any object.
pub(super) fn tool(name: &str) -> Value {
    json!({"name": name, "description": format!("Does {name}."), "inputSchema": {"type": "object"}})
}

type Script = dyn Fn(usize, FakeConnection) -> BoxFuture<'static, ()> + Send + Sync;

/// A server that runs a script for each connection.
#[derive(Clone)]
pub(super) struct FakeServer {
    pub(super) connections: Arc<AtomicUsize>,
    script: Arc<Script>,
}

impl FakeServer {
    /// Creates a server. The script gets the number of the connection, from 0, and the connection.
    pub(super) fn new<F, Fut>(script: F) -> Self
    where
        F: Fn(usize, FakeConnection) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        Self {
            connections: Arc::default(),
            script: Arc::new(move |number, connection| Box::pin(script(number, connection))),
        }
    }

    /// Creates a server with these tools that answers every call with the tool's name.
    pub(super) fn echoing(tools: Value) -> Self {
        Self::new(move |_, mut connection| {
            let tools = tools.clone();
            async move {
                connection.begin(tools).await;
                connection.echo().await;
            }
        })
    }

    pub(super) fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Connector for FakeServer {
    fn connect(
        &self,
        _notifications: Arc<Notifications>,
    ) -> BoxFuture<'_, Result<RawTransport, String>> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let number = self.connections.fetch_add(1, Ordering::SeqCst);
        tokio::spawn((self.script)(number, FakeConnection::new(theirs)));
        let (reader, writer) = split(ours);
        Box::pin(std::future::ready(Ok(RawTransport::Lines {
            reader: Box::new(reader),
            writer: Box::new(writer),
            process: None,
        })))
    }
}

/// A session with scripted servers.
pub(super) struct FakeSession {
    pub(super) servers: Servers,
    pub(super) registry: SharedRegistry,
    pub(super) engine: Engine,
    pub(super) progress: Arc<Mutex<Vec<Progress>>>,
}

pub(super) fn settings(name: &str) -> ServerSettings {
    ServerSettings::new(name, Program::new("fake", ["--server"], []))
}

/// Returns a session with one server, called `fake`, that has started.
pub(super) async fn session(fake: &FakeServer) -> FakeSession {
    let session = unstarted(vec![(settings("fake"), fake.clone())]);
    session.servers.start();
    session.servers.settled().await;
    session
}

pub(super) fn unstarted(servers: Vec<(ServerSettings, FakeServer)>) -> FakeSession {
    with_engine(servers, |engine| engine.policy(AllowAll))
}

pub(super) fn with_engine(
    servers: Vec<(ServerSettings, FakeServer)>,
    adjust: impl FnOnce(EngineBuilder) -> EngineBuilder,
) -> FakeSession {
    let mut built_in = Registry::new();
    let definition = ToolDefinition::new("read_file", "Reads.", json!({"type": "object"}));
    let tool = CustomTool::new(definition, |_, _| async { Ok("built in") });
    built_in.add_any(Arc::new(tool)).unwrap();
    let registry = SharedRegistry::new(built_in);
    let connected = servers
        .into_iter()
        .map(|(settings, fake)| (settings, Box::new(fake) as Box<dyn Connector>));
    let surroundings = ServerEnvironment::new(vec!["/w".into()], []);
    let servers =
        Servers::with_connectors(connected.collect(), &surroundings, registry.clone()).unwrap();
    let progress = Arc::<Mutex<Vec<Progress>>>::default();
    let seen = progress.clone();
    let engine =
        Engine::builder(registry.clone())
            .cwd("/w")
            .reader(move |_: &ToolCall, event: &Event| {
                if let Event::Progressed(progress) = event {
                    seen.lock().push(progress.clone());
                }
            });
    FakeSession {
        servers,
        registry,
        engine: adjust(engine).build(),
        progress,
    }
}

impl FakeSession {
    pub(super) async fn call(&self, tool: &str) -> Outcome {
        self.engine.run(ToolRequest::new(tool, json!({}))).await
    }

    /// Calls a tool and returns the text of its result, or why it failed.
    pub(super) async fn result_text(&self, tool: &str) -> String {
        result_text(&self.call(tool).await)
    }

    pub(super) fn status(&self) -> ServerStatus {
        self.servers.status().remove(0)
    }

    pub(super) fn failure(&self) -> String {
        match self.status().state {
            ServerState::Failed { reason } => reason.to_string(),
            other => panic!("the server is {other:?}"),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        let registry = self.registry.snapshot();
        let names = registry.definitions().map(|tool| tool.name.to_string());
        names.collect()
    }

    /// Runs `change` and waits until the registry has changed.
    pub(super) async fn changed(&self, change: impl Future<Output = ()>) {
        let mut changes = self.registry.changes();
        changes.mark_unchanged();
        change.await;
        changes.changed().await.expect("the registry is there");
    }
}

pub(super) fn result_text(outcome: &Outcome) -> String {
    match outcome.ending() {
        Ending::Completed => {
            let texts = outcome
                .result()
                .content
                .iter()
                .map(|content| match content {
                    toolcall::Content::Text(text) => text.to_string(),
                    other => format!("{other:?}"),
                });
            texts.collect::<Vec<_>>().join(" | ")
        }
        other => format!("{}: {}", other.name(), other.reason().unwrap_or_default()),
    }
}
