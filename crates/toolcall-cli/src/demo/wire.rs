//! `toolcall demo --wire`: the same story, told by a real agent to a client in this process.
//! The client shows every line that goes either way, says yes to what it is asked, and nothing else.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    duplex, split,
};
use toolcall::{EngineBuilder, SessionId, Setting};
use toolcall_acp::transport::{Limits, connect};
use toolcall_acp::v1::{Client, Prompt, StopReason, serve};

use super::story::{Narrator, Story};
use super::{pace, project};
use crate::screen::{Audience, Screen};
use crate::view::{BUSY, GOOD, painted};

const PIPE: usize = 64 * 1024;

/// How a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Who sent it, and the line.
    Text,
    /// One JSON object, as recordings have it.
    Recording,
}

/// Plays the story over the wire.
pub(super) async fn show(
    form: Form,
    screen: Screen,
    engine: EngineBuilder,
    narrator: Narrator,
) -> anyhow::Result<ExitCode> {
    let (near, far) = duplex(PIPE);
    let (reader, writer) = split(near);
    let (peer, transport) = connect(reader, writer, Limits::default());
    let engine = std::sync::Mutex::new(Some(engine));
    let open = move |_: Setting| {
        let engine = engine.lock().ok().and_then(|mut engine| engine.take());
        let place = Setting::new(SessionId::new("demo"), project::FOLDER);
        engine
            .unwrap_or_else(|| unreachable!("the demo opens one session"))
            .setting(place)
    };
    let narrator = Arc::new(narrator);
    let answer = move |prompt, _| tell(prompt, narrator.clone());
    let agent = tokio::spawn(serve(Client::new(peer), transport, open, answer));
    let mut onlooker = Onlooker::new(far, screen, form);
    let listened = tokio::select! {
        listened = onlooker.listen() => listened,
        _interrupted = tokio::signal::ctrl_c() => return Ok(ExitCode::from(super::CANCELLED)),
    };
    drop(onlooker);
    agent.await?.context("the agent broke off")?;
    listened.map(|()| ExitCode::SUCCESS)
}

async fn tell(prompt: Arc<Prompt>, narrator: Arc<Narrator>) -> StopReason {
    let engine = prompt.session().engine();
    let story = Story::new(engine, prompt.turn(), &narrator, pace());
    match story.tell().await {
        Ok(()) | Err(super::story::Unheard) => StopReason::EndTurn,
    }
}

/// A client that shows what it hears and says.
struct Onlooker {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    screen: Screen,
    form: Form,
}

/// Who sent a line.
#[derive(Clone, Copy)]
enum From {
    Agent,
    Client,
}

impl Onlooker {
    fn new(far: DuplexStream, screen: Screen, form: Form) -> Self {
        let (reader, writer) = split(far);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            screen,
            form,
        }
    }

    /// Opens a session and prompts; ends when the prompt is answered.
    async fn listen(&mut self) -> anyhow::Result<()> {
        let client = json!({"protocolVersion": 1, "clientCapabilities": {}});
        self.ask(0, "initialize", client).await?;
        let place = json!({"cwd": project::FOLDER, "mcpServers": []});
        self.ask(1, "session/new", place).await?;
        let text = json!([{"type": "text", "text": "Tell the story."}]);
        self.ask(
            2,
            "session/prompt",
            json!({"sessionId": "demo", "prompt": text}),
        )
        .await
    }

    /// Sends a request and hears everything until it is answered.
    async fn ask(&mut self, id: u32, method: &str, params: Value) -> anyhow::Result<()> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request).await?;
        while let Some(line) = self.lines.next_line().await? {
            self.show(From::Agent, &line)?;
            let message: Value = serde_json::from_str(&line)?;
            if message["method"] == "session/request_permission" {
                self.send(&yes(&message)).await?;
            }
            if message["id"] == id && message.get("method").is_none() {
                return Ok(());
            }
        }
        bail!("the agent broke off")
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let line = message.to_string();
        self.show(From::Client, &line)?;
        self.writer.write_all(line.as_bytes()).await?;
        Ok(self.writer.write_all(b"\n").await?)
    }

    fn show(&self, from: From, line: &str) -> anyhow::Result<()> {
        let (name, direction, style) = match from {
            From::Agent => ("agent ", "a2c", GOOD),
            From::Client => ("client", "c2a", BUSY),
        };
        let shown = match self.form {
            Form::Text => format!("{} {line}", painted(style, name)),
            Form::Recording => format!(r#"{{"dir":"{direction}","msg":{line}}}"#),
        };
        match self.screen.line(&shown) {
            Audience::Listening => Ok(()),
            Audience::Gone => bail!("nobody reads any more"),
        }
    }
}

/// The answer that allows this once, chosen by its kind.
fn yes(request: &Value) -> Value {
    let options = request["params"]["options"].as_array();
    let once = options
        .into_iter()
        .flatten()
        .find(|option| option["kind"] == "allow_once");
    let outcome = match once {
        Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
        None => json!({"outcome": "cancelled"}),
    };
    json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}})
}
