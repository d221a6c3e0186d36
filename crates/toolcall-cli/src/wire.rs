//! What goes over the wire: a real agent and a client in this process, with every line shown.
//! The client answers what it is asked as it was told to, and does nothing else.

use std::path::PathBuf;
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

use crate::screen::{Audience, Screen};
use crate::view::{BUSY, GOOD, painted};

const PIPE: usize = 64 * 1024;

/// How a line is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Who sent it, and the line.
    Text,
    /// One JSON object, as recordings have it.
    Recording,
}

/// How the client answers when it is asked for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Yes,
    No,
}

/// What the client does.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) form: Form,
    pub(crate) consent: Consent,
    /// The folder of the session.
    pub(crate) cwd: PathBuf,
    /// The one prompt.
    pub(crate) text: String,
}

/// How a scene ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Whole,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// Plays one session with one prompt, which `answer` answers.
pub(crate) async fn show<A, F>(
    scene: Scene,
    screen: Screen,
    engine: EngineBuilder,
    answer: A,
) -> anyhow::Result<Shown>
where
    A: Fn(Arc<Prompt>) -> F + Send + Sync + 'static,
    F: Future<Output = StopReason> + Send + 'static,
{
    let (near, far) = duplex(PIPE);
    let (reader, writer) = split(near);
    let (peer, transport) = connect(reader, writer, Limits::default());
    let session = engine.session().clone();
    let engine = std::sync::Mutex::new(Some(engine));
    let open = move |_: Setting| {
        let engine = engine.lock().ok().and_then(|mut engine| engine.take());
        engine.unwrap_or_else(|| unreachable!("there is one session"))
    };
    let answer = move |prompt, _| answer(prompt);
    let agent = tokio::spawn(serve(Client::new(peer), transport, open, answer));
    let mut onlooker = Onlooker::new(far, screen, scene, session);
    let listened = tokio::select! {
        listened = onlooker.listen() => listened,
        _interrupted = tokio::signal::ctrl_c() => return Ok(Shown::Interrupted),
    };
    drop(onlooker);
    agent.await?.context("the agent broke off")?;
    listened.map(|()| Shown::Whole)
}

/// A client that shows what it hears and says.
struct Onlooker {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    screen: Screen,
    scene: Scene,
    session: SessionId,
}

/// Who sent a line.
#[derive(Clone, Copy)]
enum From {
    Agent,
    Client,
}

impl Onlooker {
    fn new(far: DuplexStream, screen: Screen, scene: Scene, session: SessionId) -> Self {
        let (reader, writer) = split(far);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            screen,
            scene,
            session,
        }
    }

    /// Opens a session and prompts; ends when the prompt is answered.
    async fn listen(&mut self) -> anyhow::Result<()> {
        let client = json!({"protocolVersion": 1, "clientCapabilities": {}});
        self.ask(0, "initialize", client).await?;
        let place = json!({"cwd": self.scene.cwd, "mcpServers": []});
        self.ask(1, "session/new", place).await?;
        let text = json!([{"type": "text", "text": self.scene.text}]);
        let prompt = json!({"sessionId": self.session.as_str(), "prompt": text});
        self.ask(2, "session/prompt", prompt).await
    }

    /// Sends a request and hears everything until it is answered.
    async fn ask(&mut self, id: u32, method: &str, params: Value) -> anyhow::Result<()> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request).await?;
        while let Some(line) = self.lines.next_line().await? {
            self.show(From::Agent, &line)?;
            let message: Value = serde_json::from_str(&line)?;
            if message["method"] == "session/request_permission" {
                self.send(&answer(&message, self.scene.consent)).await?;
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
        let shown = match self.scene.form {
            Form::Text => format!("{} {line}", painted(style, name)),
            Form::Recording => format!(r#"{{"dir":"{direction}","msg":{line}}}"#),
        };
        match self.screen.line(&shown) {
            Audience::Listening => Ok(()),
            Audience::Gone => bail!("nobody reads any more"),
        }
    }
}

/// The answer, chosen by the kind of the option.
fn answer(request: &Value, consent: Consent) -> Value {
    let kind = match consent {
        Consent::Yes => "allow_once",
        Consent::No => "reject_once",
    };
    let options = request["params"]["options"].as_array();
    let chosen = options
        .into_iter()
        .flatten()
        .find(|option| option["kind"] == kind);
    let outcome = match chosen {
        Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
        None => json!({"outcome": "cancelled"}),
    };
    json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}})
}
