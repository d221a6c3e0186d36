//! A session with a client that reads at its own pace and records each line with its time.
//! The client answers permission requests as configured. It asserts nothing.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use toolcall::*;
use toolcall_acp::service::AgentInfo;
use toolcall_acp::transport::{self, connect};
use toolcall_acp::{ClientConnection, Prompt, Session, SimpleAgent, StopReason, serve};

use crate::golden::client_state::ClientState;
use crate::golden::line::{Line, PROMPT, Side};

/// How many bytes may wait for the client.
pub(crate) const LANE: usize = 64 * 1024;

/// How a client behaves.
#[derive(Clone, Debug)]
pub(crate) struct ClientBehavior {
    pub(crate) offers: Value,
    /// The pause after each line.
    pub(crate) pause: Duration,
    /// The outcome that it answers permission requests with, if it answers.
    pub(crate) answer: Option<Value>,
}

/// A session with its client.
pub(crate) struct SessionFixture {
    pub(crate) client: ClientConnection,
    pub(crate) session: Arc<Session>,
    /// Whether the client reads.
    pub(crate) reads: watch::Sender<bool>,
    seen: Arc<Mutex<Vec<(Instant, Line)>>>,
    reading: JoinHandle<()>,
}

impl Default for ClientBehavior {
    fn default() -> Self {
        Self {
            offers: json!({}),
            pause: Duration::ZERO,
            answer: None,
        }
    }
}

/// Returns the behavior of a client with Zed's extension.
pub(crate) fn with_terminals() -> ClientBehavior {
    ClientBehavior {
        offers: json!({"_meta": {"terminal_output": true}}),
        ..ClientBehavior::default()
    }
}

impl SessionFixture {
    pub(crate) fn open(
        tools: Registry,
        behavior: ClientBehavior,
        change: impl FnOnce(EngineBuilder) -> EngineBuilder,
    ) -> Self {
        let (ours, theirs) = duplex(4 * 1024);
        let (reader, writer) = split(theirs);
        let limits = transport::ConnectionLimits {
            lane: LANE,
            ..transport::ConnectionLimits::default()
        };
        let (peer, transport) = connect(reader, writer, limits);
        let client = ClientConnection::new(peer);
        let hello = json!({"protocolVersion": 1, "clientCapabilities": behavior.offers});
        let hello = serde_json::value::to_raw_value(&hello).expect("parameters");
        let greeted = client.initialize(Some(&hello), &AgentInfo::default());
        greeted.expect("an answer");
        let agent = SimpleAgent::new(client.clone(), open_none, answer_none);
        tokio::spawn(serve(client.clone(), transport, Arc::new(agent)));
        let (reads, may_read) = watch::channel(true);
        let seen = Arc::default();
        let reading = tokio::spawn(read(ours, behavior, may_read, Arc::clone(&seen)));
        let session = client.open(change(engine(tools)));
        Self {
            client,
            session,
            reads,
            seen,
            reading,
        }
    }

    /// Returns the lines so far, each with the time when it was read.
    pub(crate) fn seen(&self) -> Vec<(Instant, Line)> {
        self.seen.lock().expect("lines").clone()
    }

    /// Closes the connection after everything was reported, and returns every line.
    pub(crate) async fn finish(self) -> Vec<Line> {
        self.session.reports().flush().await;
        let answer = json!({"jsonrpc": "2.0", "id": PROMPT, "result": {"stopReason": "end_turn"}});
        let answer = answer.to_string();
        let lane = self.client.peer().lane();
        lane.send(answer.as_bytes()).await.expect("a lane");
        lane.close();
        self.reading.await.expect("a reader");
        let seen = self.seen.lock().expect("lines");
        seen.iter().map(|(_, line)| line.clone()).collect()
    }
}

/// Not used: the fixture opens the session itself.
fn open_none(place: SessionContext) -> EngineBuilder {
    engine(Registry::new()).setting(place)
}

async fn answer_none(_: Arc<Prompt>, _: Vec<Content>) -> StopReason {
    StopReason::Refusal
}

fn engine(tools: Registry) -> EngineBuilder {
    Engine::builder(tools)
        .setting(SessionContext::new(SessionId::new("s1"), "/w"))
        .policy(AskDangerous)
        .ids(CallIds::new("call"))
        .clock(SystemClock::starting_at(Timestamp::default()))
}

async fn read(
    stream: DuplexStream,
    behavior: ClientBehavior,
    mut may_read: watch::Receiver<bool>,
    seen: Arc<Mutex<Vec<(Instant, Line)>>>,
) {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    let note = |side, text: String| {
        let json = serde_json::from_str(&text).expect("JSON");
        let line = Line { side, text, json };
        seen.lock().expect("lines").push((Instant::now(), line));
    };
    loop {
        may_read.wait_for(|may| *may).await.expect("a fixture");
        let Some(text) = lines.next_line().await.expect("text") else {
            return;
        };
        note(Side::Agent, text.clone());
        if let Some(answer) = answer(&text, behavior.answer.as_ref()) {
            note(Side::Client, answer.clone());
            let line = format!("{answer}\n");
            writer.write_all(line.as_bytes()).await.expect("a reader");
        }
        if !behavior.pause.is_zero() {
            sleep(behavior.pause).await;
        }
    }
}

fn answer(text: &str, outcome: Option<&Value>) -> Option<String> {
    let line: Value = serde_json::from_str(text).expect("JSON");
    let asks = line["method"] == "session/request_permission";
    let result = json!({"outcome": outcome.filter(|_| asks)?});
    Some(json!({"jsonrpc": "2.0", "id": line["id"], "result": result}).to_string())
}

/// Returns what the client knows after these lines.
pub(crate) fn known(lines: &[Line]) -> ClientState {
    let mut known = ClientState::default();
    for line in lines {
        known.update(&line.json["params"]["update"]);
    }
    known
}

/// Returns their bytes on the wire.
pub(crate) fn bytes(lines: &[Line]) -> usize {
    lines.iter().map(|line| line.text.len() + 1).sum()
}

/// Returns a registry with this one tool, called `work`.
pub(crate) fn only<F, Fut, R>(kind: Kind, run: F) -> Registry
where
    F: Fn(Arc<Value>, RunContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    R: Into<ToolResult>,
{
    let mut definition = ToolDefinition::new("work", "For a test", json!({"type": "object"}));
    definition.kind = Some(kind);
    let tool = CustomTool::new(definition, run);
    let tool = tool.preparing(move |_| Ok(Intent::new(kind, "work")));
    let mut tools = Registry::new();
    tools.add_any(Arc::new(tool)).expect("a tool");
    tools
}

/// Returns a call of `work`.
pub(crate) fn work() -> ToolRequest {
    ToolRequest::new("work", json!({}))
}
