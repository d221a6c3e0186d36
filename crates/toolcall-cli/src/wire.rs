//! What goes over the wire: a real agent and a client in this process, with every line shown.
//! It shows lines as they are and makes nothing of them.

use std::sync::Arc;

use anyhow::Context as _;
use tokio::io::{duplex, split};
use toolcall::{EngineBuilder, SessionContext};
use toolcall_acp::transport::{Limits, Transport, connect};
use toolcall_acp::{ClientConnection, Prompt, SimpleAgent, StopReason, serve};

use crate::approver::{Answering, ScreenApprover, Voice};
use crate::client::{Client, Errand, From, Viewer};
use crate::screen::Screen;
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

/// Shows every line.
pub(crate) struct WireLines {
    pub(crate) form: Form,
    pub(crate) screen: Screen,
}

impl Viewer for WireLines {
    fn line(&mut self, from: From, line: &str) {
        let (name, direction, style) = match from {
            From::Agent => ("agent ", "a2c", GOOD),
            From::Client => ("client", "c2a", BUSY),
        };
        let shown = match self.form {
            Form::Text => format!("{} {line}", painted(style, name)),
            Form::Recording => format!(r#"{{"dir":"{direction}","msg":{line}}}"#),
        };
        self.screen.line(&shown);
    }
}

/// A pipe: the client as an agent has it, its connection, and the client's own end.
pub(crate) fn pipe() -> (ClientConnection, Transport, tokio::io::DuplexStream) {
    let (near, far) = duplex(PIPE);
    let (reader, writer) = split(near);
    let (peer, transport) = connect(reader, writer, Limits::default());
    (ClientConnection::new(peer), transport, far)
}

/// Plays one session with one prompt, which `answer` answers.
pub(crate) async fn show<A, F>(
    errand: Errand,
    answering: Answering,
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
    let approver = ScreenApprover::new(answering, Voice::Silent, screen.clone(), errand.pace);
    let form = Form::Text;
    let viewer = WireLines {
        form,
        screen: screen.clone(),
    };
    let left = Client::new(pipe, errand, approver, viewer, screen)?
        .run()
        .await;
    serving.await?.context("the agent broke off")?;
    left.map(drop)
}
