//! The harness of the golden tests: a real agent and a scripted client on a pipe, with every line recorded.
//! It asserts nothing; `check.rs` checks the lines.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf, duplex, split,
};
use tokio::time::timeout;
use toolcall::*;
use toolcall_acp::service::CommandPlacement;
use toolcall_acp::transport::{ConnectionLimits, connect};
use toolcall_acp::{ClientConnection, Prompt};

use crate::golden::agent::serve_with;
use crate::golden::line::{Line, PROMPT, Side};

/// The timeout of a test, in paused time.
const HOUR: Duration = Duration::from_secs(3600);

/// Answers a prompt in place of a model.
pub(crate) type Model = Arc<dyn Fn(Arc<Prompt>) -> BoxFuture<'static, ()> + Send + Sync>;

/// Builds the engine of a session.
pub(crate) type OpenEngine = Box<dyn Fn(SessionContext) -> EngineBuilder + Send + Sync>;

type EngineChange = Arc<dyn Fn(EngineBuilder) -> EngineBuilder + Send + Sync>;

/// The setup of a golden test.
pub(crate) struct Story {
    tools: Arc<Registry>,
    offers: Value,
    prompt_meta: Option<Value>,
    commands: CommandPlacement,
    setup: Vec<EngineChange>,
}

/// Every line that went over the wire, and what was stored meanwhile.
pub(crate) struct Wire {
    pub(crate) lines: Vec<Line>,
    pub(crate) store: Arc<MemoryStore>,
}

/// The messages that the client sends in reply to one line.
#[derive(Default)]
pub(crate) struct ClientReplies {
    messages: Vec<Value>,
    hangs_up: bool,
}

impl Story {
    pub(crate) fn new(tools: Registry) -> Self {
        Self {
            tools: Arc::new(tools),
            offers: json!({}),
            prompt_meta: None,
            commands: CommandPlacement::InClient,
            setup: Vec::new(),
        }
    }

    /// Sets the client's capabilities.
    pub(crate) fn offering(mut self, offers: Value) -> Self {
        self.offers = offers;
        self
    }

    /// Sets the `_meta` of the prompt.
    pub(crate) fn prompt_meta(mut self, meta: Value) -> Self {
        self.prompt_meta = Some(meta);
        self
    }

    /// Sets where commands run.
    pub(crate) fn commands(mut self, commands: CommandPlacement) -> Self {
        self.commands = commands;
        self
    }

    /// Sets the host.
    pub(crate) fn host(self, host: MemoryHost) -> Self {
        let host: Arc<dyn Host> = Arc::new(host);
        self.engine(move |engine| engine.host(host.clone()))
    }

    /// Changes the engine.
    pub(crate) fn engine(
        mut self,
        change: impl Fn(EngineBuilder) -> EngineBuilder + Send + Sync + 'static,
    ) -> Self {
        self.setup.push(Arc::new(change));
        self
    }

    /// Runs the test: `client` receives every line of the agent, `model` answers the prompt.
    pub(crate) async fn play<M, F>(
        self,
        mut client: impl FnMut(&Value, &mut ClientReplies),
        model: M,
    ) -> Wire
    where
        M: Fn(Arc<Prompt>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let model: Model = Arc::new(move |prompt| Box::pin(model(prompt)));
        self.play_erased(&mut client, model).await
    }

    /// Not generic, so that it is compiled once and not fifty times.
    async fn play_erased(
        self,
        client: &mut dyn FnMut(&Value, &mut ClientReplies),
        model: Model,
    ) -> Wire {
        let (ours, theirs) = duplex(64 * 1024);
        let (reader, writer) = split(theirs);
        let (peer, transport) = connect(reader, writer, ConnectionLimits::default());
        let store = Arc::new(MemoryStore::default());
        let open = opening(self.tools, self.setup, store.clone());
        let serving = serve_with(
            ClientConnection::new(peer),
            transport,
            self.commands,
            open,
            model,
        );
        let serving = tokio::spawn(serving);
        let mut lines = Vec::new();
        let talking = converse(ours, &self.offers, self.prompt_meta, client, &mut lines);
        if timeout(HOUR, talking).await.is_err() {
            panic!("the test never ends; lines: {:#?}", texts(&lines));
        }
        serving.await.expect("no panic").expect("a clean end");
        Wire { lines, store }
    }
}

/// Builds the engine of a test, with fixed ids, time and session.
fn opening(
    registry: Arc<Registry>,
    setup: Vec<EngineChange>,
    store: Arc<MemoryStore>,
) -> OpenEngine {
    Box::new(move |_| {
        let engine = Engine::builder(registry.clone())
            .setting(SessionContext::new(SessionId::new("s1"), "/w"))
            .policy(AskDangerous)
            .ids(CallIds::new("call"))
            .clock(SystemClock::starting_at(Timestamp::default()))
            .store(store.clone());
        setup.iter().fold(engine, |engine, change| change(engine))
    })
}

/// Runs the client until its prompt is answered and the agent has closed the connection.
async fn converse(
    stream: DuplexStream,
    offers: &Value,
    prompt_meta: Option<Value>,
    script: &mut dyn FnMut(&Value, &mut ClientReplies),
    lines: &mut Vec<Line>,
) {
    let (reader, writer) = split(stream);
    let mut reading = BufReader::new(reader).lines();
    let mut client = ClientWriter {
        writer: Some(writer),
        lines,
    };
    let hello = json!({"protocolVersion": 1, "clientCapabilities": offers});
    client.write(request(1, "initialize", hello)).await;
    while let Some(text) = reading.next_line().await.expect("text") {
        let json: Value = serde_json::from_str(&text).expect("every line is JSON");
        client.lines.push(Line {
            side: Side::Agent,
            text,
            json: json.clone(),
        });
        let mut out = ClientReplies::default();
        go_on(&json, prompt_meta.as_ref(), &mut out);
        script(&json, &mut out);
        for message in out.messages {
            client.write(message).await;
        }
        if out.hangs_up || is_response_to(&json, PROMPT) {
            client.stop_reading().await;
        }
    }
}

fn texts(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

/// Sends the next request after each response, up to the prompt, as every client does.
fn go_on(line: &Value, prompt_meta: Option<&Value>, out: &mut ClientReplies) {
    if is_response_to(line, 1) {
        out.send(request(
            2,
            "session/new",
            json!({"cwd": "/w", "mcpServers": []}),
        ));
    }
    if is_response_to(line, 2) {
        let text = json!([{"type": "text", "text": "go"}]);
        let mut params = json!({"sessionId": "s1", "prompt": text});
        if let Some(meta) = prompt_meta {
            params["_meta"] = meta.clone();
        }
        out.send(request(PROMPT, "session/prompt", params));
    }
}

fn is_response_to(line: &Value, id: u64) -> bool {
    line["id"] == id && line.get("method").is_none()
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Writes and records the client's lines. Without a writer the client has closed the connection.
struct ClientWriter<'a> {
    writer: Option<WriteHalf<DuplexStream>>,
    lines: &'a mut Vec<Line>,
}

impl ClientWriter<'_> {
    async fn stop_reading(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.shutdown().await.expect("an open pipe");
        }
    }

    async fn write(&mut self, json: Value) {
        let text = json.to_string();
        if let Some(writer) = &mut self.writer {
            let bytes = format!("{text}\n");
            writer.write_all(bytes.as_bytes()).await.expect("a reader");
            let side = Side::Client;
            self.lines.push(Line { side, text, json });
        }
    }
}

impl ClientReplies {
    /// Sends any message.
    pub(crate) fn send(&mut self, message: Value) {
        self.messages.push(message);
    }

    /// Closes the connection after this reply.
    pub(crate) fn stop_reading(&mut self) {
        self.hangs_up = true;
    }

    /// Answers a request.
    pub(crate) fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
}
