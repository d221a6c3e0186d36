//! Runs an agent and a client in this process, and prints every line of the protocol between them.
//! It prints the lines unchanged.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::io::{duplex, split};
use toolcall::{EngineBuilder, SessionContext};
use toolcall_acp::transport::{ConnectionLimits, Transport, connect};
use toolcall_acp::{ClientConnection, Prompt, SimpleAgent, StopReason, serve};

use crate::approver::{AnswerMode, Commentary, ScreenApprover};
use crate::client::{Client, ClientTask, LineSender, Viewer};
use crate::screen::Screen;
use crate::view::{BUSY, GOOD, paint};

const PIPE_BYTES: usize = 64 * 1024;

/// How a line of the protocol is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WireFormat {
    /// Who sent it, and the line.
    Text,
    /// One JSON object, as in recordings.
    Recording,
}

/// A viewer that prints every line.
pub(crate) struct WireLines {
    pub(crate) format: WireFormat,
    pub(crate) screen: Screen,
}

impl Viewer for WireLines {
    fn line(&mut self, from: LineSender, line: &str) {
        let (name, direction, style) = match from {
            LineSender::Agent => ("agent ", "a2c", GOOD),
            LineSender::Client => ("client", "c2a", BUSY),
        };
        let shown = match self.format {
            WireFormat::Text => format!("{} {line}", paint(style, name)),
            WireFormat::Recording => format!(r#"{{"dir":"{direction}","msg":{line}}}"#),
        };
        self.screen.line(&shown);
    }
}

/// Creates a pipe. Returns the agent's connection and transport, and the client's end.
pub(crate) fn pipe() -> (ClientConnection, Transport, tokio::io::DuplexStream) {
    let (near, far) = duplex(PIPE_BYTES);
    let (reader, writer) = split(near);
    let (peer, transport) = connect(reader, writer, ConnectionLimits::default());
    (ClientConnection::new(peer), transport, far)
}

/// Runs one session with one prompt, which `answer` answers.
pub(crate) async fn show<A, F>(
    task: ClientTask,
    answer_mode: AnswerMode,
    screen: Screen,
    engine: EngineBuilder,
    answer: A,
) -> anyhow::Result<()>
where
    A: Fn(Arc<Prompt>) -> F + Send + Sync + 'static,
    F: Future<Output = StopReason> + Send + 'static,
{
    let (client, transport, pipe) = pipe();
    let engine = std::sync::Mutex::new(Some(engine));
    let open = move |_: SessionContext| {
        let engine = engine.lock().ok().and_then(|mut engine| engine.take());
        engine.unwrap_or_else(|| unreachable!("there is one session"))
    };
    let agent = SimpleAgent::new(client.clone(), open, move |prompt, _| answer(prompt));
    let serving = tokio::spawn(serve(client, transport, Arc::new(agent)));
    let approver = ScreenApprover::new(answer_mode, Commentary::Hidden, screen.clone(), task.pace);
    let viewer = WireLines {
        format: WireFormat::Text,
        screen: screen.clone(),
    };
    let exit = Client::new(pipe, task, approver, viewer, screen)?
        .run()
        .await;
    serving.await?.context("the agent failed")?;
    exit.map(drop)
}
