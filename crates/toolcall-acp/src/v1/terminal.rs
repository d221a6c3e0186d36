//! Runs a command in the client's terminal: creates it, shows it, waits, reads the output, always releases it.
//! It does not decide whether the command may run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use toolcall::{Console, Content, Exit, SessionId};

use super::signal;
use crate::peer::{Peer, PeerError};

/// How much output the client keeps: twice what a call holds.
const OUTPUT_LIMIT: u32 = 128 * 1024;

/// The command of a terminal.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TerminalCommand {
    command: String,
    args: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<EnvVariable>,
    cwd: String,
}

/// An environment variable.
#[derive(Clone, Debug, Serialize)]
struct EnvVariable {
    name: Arc<str>,
    value: Arc<str>,
}

impl TerminalCommand {
    /// Creates the command that runs this program with these arguments.
    pub(crate) fn argv(argv: &[String], cwd: &Path) -> Option<Self> {
        let (command, args) = argv.split_first()?;
        Some(Self {
            command: command.clone(),
            args: args.to_vec(),
            env: Vec::new(),
            cwd: cwd.to_string_lossy().into_owned(),
        })
    }

    /// Creates the command that runs a text in `sh`.
    pub(crate) fn shell(text: &str, cwd: &Path) -> Self {
        Self {
            command: "sh".to_owned(),
            args: vec!["-c".to_owned(), text.to_owned()],
            env: Vec::new(),
            cwd: cwd.to_string_lossy().into_owned(),
        }
    }
}

impl TerminalCommand {
    /// Adds environment variables.
    pub(crate) fn with_env(mut self, env: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        let variables = env.iter().map(|(name, value)| EnvVariable {
            name: name.clone(),
            value: value.clone(),
        });
        self.env.extend(variables);
        self
    }
}

/// The parameters of `terminal/create`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreateTerminal<'a> {
    session_id: &'a str,
    output_byte_limit: u32,
    #[serde(flatten)]
    run: TerminalCommand,
}

/// An open terminal of the client. When dropped, it is killed if it still runs, and released.
pub(crate) struct Terminal {
    peer: Peer,
    session: SessionId,
    id: String,
    is_running: bool,
}

impl Terminal {
    /// Opens a terminal in its own task: if the caller was dropped before the client created it, it is
    /// released at once.
    pub(crate) async fn open(
        peer: Peer,
        session: SessionId,
        run: TerminalCommand,
    ) -> Result<Self, PeerError> {
        let opening = tokio::spawn(Self::create(peer, session, run));
        opening.await.unwrap_or(Err(PeerError::Gone))
    }

    async fn create(
        peer: Peer,
        session: SessionId,
        run: TerminalCommand,
    ) -> Result<Self, PeerError> {
        let params = CreateTerminal {
            session_id: session.as_str(),
            output_byte_limit: OUTPUT_LIMIT,
            run,
        };
        let answer = peer.request("terminal/create", &params).await?;
        let id = answer["terminalId"].as_str().ok_or(PeerError::Malformed)?;
        Ok(Self {
            id: id.to_owned(),
            peer,
            session,
            is_running: true,
        })
    }

    /// Shows the terminal in the call and waits for its command, which is killed if the call is stopped.
    /// Returns the exit status, if the client sends one.
    pub(crate) async fn wait(mut self, console: &dyn Console) -> Result<Option<Exit>, PeerError> {
        console.show(Content::Terminal(self.id.as_str().into()));
        let stopped = tokio::select! {
            biased;
            () = console.stopped() => None,
            status = self.request("terminal/wait_for_exit") => Some(status?),
        };
        if stopped.is_none() {
            self.request("terminal/kill").await?;
        }
        self.is_running = false;
        let output = self.request("terminal/output").await?;
        if output["truncated"] == true {
            console.print("… the beginning was left out by the client …\n".as_bytes());
        }
        if let Some(text) = output["output"].as_str() {
            console.print(text.as_bytes());
        }
        let status = stopped.unwrap_or_else(|| output["exitStatus"].clone());
        Ok(exit_status(&status))
    }

    async fn request(&self, method: &str) -> Result<Value, PeerError> {
        self.peer.request(method, &self.params()).await
    }

    fn params(&self) -> Value {
        json!({"sessionId": self.session.as_str(), "terminalId": self.id})
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.is_running {
            let _gone = self
                .peer
                .request_and_forget("terminal/kill", &self.params());
        }
        let _gone = self
            .peer
            .request_and_forget("terminal/release", &self.params());
    }
}

/// Parses the exit status that a client sends.
fn exit_status(status: &Value) -> Option<Exit> {
    let code = status["exitCode"]
        .as_i64()
        .and_then(|code| i32::try_from(code).ok());
    let signal = status["signal"].as_str().and_then(signal::number);
    signal.map(Exit::Signal).or(code.map(Exit::Code))
}
