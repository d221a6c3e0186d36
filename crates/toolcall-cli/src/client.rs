//! A small ACP v1 client: it prompts an agent in this process, answers its questions and shows its updates.
//! It knows calls only by the messages it receives.

mod calls;
mod connection;
mod permission;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Mutex;
use tokio::task::JoinSet;
use toolcall::{CallId, Event, Plan, SessionId, ToolCall};
use toolcall_acp::decode::Decoder;
use toolcall_acp::meta::{self, CANCEL_CALL};

use crate::approver::{ScreenApprover, UserChoice};
use crate::pace::Pace;
use crate::screen::{OutputState, Screen};
use calls::Calls;
use connection::Connection;
pub(crate) use connection::LineSender;
use permission::PermissionRequest;

/// How long a call is shown before the client stops it, in milliseconds.
const STOP_DELAY_MS: u64 = 500;

/// Shows what a client receives. Every method does nothing by default.
pub(crate) trait Viewer {
    /// Shows a line of the protocol, before it is parsed.
    fn line(&mut self, _from: LineSender, _line: &str) {}
    /// Shows an event of a call.
    fn event(&mut self, _call: &ToolCall, _event: &Event) {}
    /// Shows the next part of the model's message.
    fn message(&mut self, _text: &str) {}
    /// Shows the present plan of the session.
    fn plan(&mut self, _plan: &Plan) {}
    /// Shows that the user pressed Ctrl-C.
    fn interrupted(&mut self) {}
    /// Shows what is left: nothing follows.
    fn finish(&mut self) {}
}

/// What a client does, from one session to one prompt.
pub(crate) struct ClientTask {
    /// The working directory of the session.
    pub(crate) cwd: PathBuf,
    /// The only prompt.
    pub(crate) prompt: String,
    /// Whether the client stops this call by itself.
    pub(crate) should_stop: fn(&ToolCall) -> bool,
    /// How the client receives the output of commands.
    pub(crate) output_mode: CommandOutputMode,
    pub(crate) pace: Pace,
}

/// How the client receives the output of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOutputMode {
    /// As text.
    Text,
    /// In chunks, as for a terminal.
    Terminal,
}

/// Why a client ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientExit {
    /// The prompt was answered.
    Answered,
    /// The user pressed Ctrl-C; every call has ended.
    Interrupted,
    /// The reader of standard output is gone; every call has ended.
    OutputClosed,
}

/// The client.
pub(crate) struct Client<V> {
    connection: Connection,
    task: ClientTask,
    approver: Arc<Mutex<ScreenApprover>>,
    viewer: V,
    screen: Screen,
    /// `None` until the session is open.
    session: Option<SessionId>,
    calls: Calls,
    /// Requests that are not answered yet.
    open_requests: Vec<PermissionRequest>,
    /// Calls that the client stopped or will stop.
    stopped: Vec<CallId>,
    delayed: JoinSet<DelayedAction>,
    interrupts: Signal,
    exit: ClientExit,
}

/// An action of the client that waits for an answer or a delay.
enum DelayedAction {
    /// Answers the request of this id.
    Answer(Value, UserChoice),
    /// Cancels the request of this id.
    Cancel(Value),
    Stop(CallId),
}

impl<V: Viewer> Client<V> {
    /// Creates a client at this end of a pipe.
    pub(crate) fn new(
        pipe: DuplexStream,
        task: ClientTask,
        approver: ScreenApprover,
        viewer: V,
        screen: Screen,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            connection: Connection::new(pipe),
            task,
            approver: Arc::new(Mutex::new(approver)),
            viewer,
            screen,
            session: None,
            calls: Calls::default(),
            open_requests: Vec::new(),
            stopped: Vec::new(),
            delayed: JoinSet::new(),
            interrupts: signal(SignalKind::interrupt()).context("Ctrl-C cannot be received")?,
            exit: ClientExit::Answered,
        })
    }

    /// Opens a session and sends the prompt; ends when that is answered.
    pub(crate) async fn run(mut self) -> anyhow::Result<ClientExit> {
        self.send_and_wait("initialize", initialize_params(self.task.output_mode))
            .await?;
        let params = json!({"cwd": self.task.cwd, "mcpServers": []});
        let opened = self.send_and_wait("session/new", params).await?;
        if let (Some(id), ClientExit::Answered) = (opened["sessionId"].as_str(), self.exit) {
            self.session = Some(SessionId::new(id));
            let text = json!([{"type": "text", "text": self.task.prompt}]);
            let prompt = json!({"sessionId": id, "prompt": text});
            self.send_and_wait("session/prompt", prompt).await?;
        }
        // There are no more questions.
        self.delayed.shutdown().await;
        self.close().await?;
        self.viewer.finish();
        Ok(self.exit)
    }

    /// Sends a request and handles every message until it is answered.
    async fn send_and_wait(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.request(method, params).await?;
        loop {
            tokio::select! {
                line = self.connection.next_line() => {
                    let line = line?.context("the agent closed the connection")?;
                    if let Some(answer) = self.receive(&line, id)? {
                        return Ok(answer);
                    }
                    if self.exit == ClientExit::Answered && self.screen.output_state() == OutputState::Closed {
                        self.cancel(ClientExit::OutputClosed).await?;
                    }
                }
                Some(Ok(action)) = self.delayed.join_next() => self.perform(action).await?,
                _ = self.interrupts.recv(), if self.exit == ClientExit::Answered => {
                    self.viewer.interrupted();
                    self.cancel(ClientExit::Interrupted).await?;
                }
            }
        }
    }

    /// Handles a line. Returns the result if it is the answer to the awaited request.
    fn receive(&mut self, line: &str, awaited: u64) -> anyhow::Result<Option<Value>> {
        self.viewer.line(LineSender::Agent, line);
        let mut message: Value =
            serde_json::from_str(line).context("the agent sent a line that is not JSON")?;
        match message["method"].as_str() {
            Some("session/update") => self.update(&message["params"]["update"]),
            Some("session/request_permission") => self.question(&message),
            // The client declares no capabilities, so there are no other requests.
            Some(_) => {}
            None if message["id"] == awaited => match message.get("error") {
                Some(error) => bail!("the agent answered with an error: {error}"),
                None => return Ok(Some(message["result"].take())),
            },
            None => {}
        }
        Ok(None)
    }

    fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("tool_call" | "tool_call_update") => {
                if let Some(id) = self.calls.apply_update(update, &mut self.viewer) {
                    self.stop_if_wanted(id);
                }
            }
            Some("plan") => {
                if let Ok(decoded) = Decoder::default().decode_plan(update) {
                    self.viewer.plan(&decoded.plan);
                }
            }
            Some("agent_message_chunk") => {
                self.viewer
                    .message(update["content"]["text"].as_str().unwrap_or_default());
            }
            Some(_) | None => {}
        }
    }

    /// Stops a call, once, if the task says so.
    fn stop_if_wanted(&mut self, id: CallId) {
        let is_wanted = |call: &ToolCall| call.ending().is_none() && (self.task.should_stop)(call);
        if self.stopped.contains(&id) || !self.calls.get(&id).is_some_and(is_wanted) {
            return;
        }
        self.stopped.push(id.clone());
        let pace = self.task.pace;
        self.delayed.spawn(async move {
            pace.pause(STOP_DELAY_MS).await;
            DelayedAction::Stop(id)
        });
    }

    /// Passes a permission request to the approver. Messages are handled meanwhile; questions are
    /// asked one after another.
    fn question(&mut self, request: &Value) {
        let id = self
            .calls
            .apply_update(&request["params"]["toolCall"], &mut self.viewer);
        let Some(call) = id.and_then(|id| self.calls.get(&id)) else {
            return;
        };
        let permission = PermissionRequest::parse(request, call);
        let (id, offers, approver) = (
            request["id"].clone(),
            permission.offers(),
            self.approver.clone(),
        );
        let event = Event::Asked(permission.question.clone());
        let call_id = permission.question.call.clone();
        self.open_requests.push(permission);
        self.calls.apply_event(&call_id, &event, &mut self.viewer);
        match self.exit {
            ClientExit::Answered => self.delayed.spawn(async move {
                let choice = approver.lock().await.choose(&offers).await;
                DelayedAction::Answer(id, choice)
            }),
            // The request was sent before the agent received our cancellation.
            ClientExit::Interrupted | ClientExit::OutputClosed => self
                .delayed
                .spawn(std::future::ready(DelayedAction::Cancel(id))),
        };
    }

    async fn perform(&mut self, action: DelayedAction) -> anyhow::Result<()> {
        match action {
            DelayedAction::Answer(id, choice) => self.answer(&id, &choice).await,
            DelayedAction::Cancel(id) => match self.take_request(&id) {
                Some(request) => self.send(&request.cancelled()).await,
                None => Ok(()),
            },
            DelayedAction::Stop(id) => {
                let params = json!({"sessionId": self.session(), "toolCallId": id.as_str()});
                self.request(CANCEL_CALL, params).await.map(drop)
            }
        }
    }

    async fn answer(&mut self, id: &Value, choice: &UserChoice) -> anyhow::Result<()> {
        let Some(request) = self.take_request(id) else {
            return Ok(());
        };
        let (answer, decision) = request.answer(choice);
        if let Some(decision) = decision {
            let event = Event::Decided(Arc::new(decision));
            self.calls
                .apply_event(&request.question.call, &event, &mut self.viewer);
        }
        self.send(&answer).await
    }

    fn take_request(&mut self, id: &Value) -> Option<PermissionRequest> {
        let mut requests = self.open_requests.iter();
        let index = requests.position(|request| request.id == *id)?;
        Some(self.open_requests.swap_remove(index))
    }

    /// Cancels the turn and every open request.
    async fn cancel(&mut self, exit: ClientExit) -> anyhow::Result<()> {
        self.exit = exit;
        self.delayed.abort_all();
        if let Some(session) = self.session() {
            let params = json!({"sessionId": session});
            let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
            self.send(&cancel).await?;
        }
        for request in std::mem::take(&mut self.open_requests) {
            self.send(&request.cancelled()).await?;
        }
        Ok(())
    }

    /// Closes the connection, and reads what is still on its way, so that the agent gets no broken pipe.
    async fn close(&mut self) -> anyhow::Result<()> {
        self.connection.close().await?;
        while let Some(line) = self.connection.next_line().await? {
            self.viewer.line(LineSender::Agent, &line);
        }
        Ok(())
    }

    fn session(&self) -> Option<&str> {
        self.session.as_ref().map(SessionId::as_str)
    }

    async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<u64> {
        let id = self.connection.next_id();
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request).await?;
        Ok(id)
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let line = message.to_string();
        self.viewer.line(LineSender::Client, &line);
        self.connection.send(line).await
    }
}

/// Returns the parameters of `initialize`.
fn initialize_params(output_mode: CommandOutputMode) -> Value {
    let capabilities = match output_mode {
        CommandOutputMode::Text => json!({}),
        CommandOutputMode::Terminal => json!({"_meta": {meta::TERMINAL_OUTPUT: true}}),
    };
    json!({
        "protocolVersion": 1,
        "clientInfo": {"name": "toolcall", "version": env!("CARGO_PKG_VERSION")},
        "clientCapabilities": capabilities,
    })
}
