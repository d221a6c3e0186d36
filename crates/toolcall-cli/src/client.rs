//! A small client of v1: it prompts an agent in this process, answers what it is asked, and shows what it hears.
//! It knows of calls only what comes over the wire.

mod calls;
mod link;
mod question;
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

use crate::approver::{Chosen, ScreenApprover};
use crate::pace::Pace;
use crate::screen::{Audience, Screen};
use calls::Calls;
pub(crate) use link::From;
use link::Link;
use question::Asked;

/// How long a call is watched before it is stopped.
const WATCHED: u64 = 500;

/// Shows what a client hears, each as far as it cares.
pub(crate) trait Viewer {
    /// A line of the protocol, before anything is made of it.
    fn line(&mut self, _from: From, _line: &str) {}
    /// Something happened to a call.
    fn event(&mut self, _call: &ToolCall, _event: &Event) {}
    /// The model says more.
    fn said(&mut self, _text: &str) {}
    /// The session has this plan now.
    fn planned(&mut self, _plan: &Plan) {}
    /// The person has had enough.
    fn interrupted(&mut self) {}
    /// Nothing follows.
    fn over(&mut self) {}
}

/// What the client does.
pub(crate) struct Errand {
    /// The folder of the session.
    pub(crate) cwd: PathBuf,
    /// The one prompt.
    pub(crate) text: String,
    /// The calls that it stops by itself.
    pub(crate) stops: fn(&ToolCall) -> bool,
    /// How it takes the output of commands.
    pub(crate) printing: Printing,
    pub(crate) pace: Pace,
}

/// How the client takes the output of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Printing {
    /// As text.
    Text,
    /// In chunks, as for a terminal.
    Terminal,
}

/// How a client left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// When its prompt was answered.
    Answered,
    /// After Ctrl-C, when everything had ended.
    Interrupted,
    /// The same, since nobody read any more.
    Unheard,
}

/// The client.
pub(crate) struct Client<V> {
    link: Link,
    errand: Errand,
    approver: Arc<Mutex<ScreenApprover>>,
    viewer: V,
    screen: Screen,
    /// Once it is open.
    session: Option<SessionId>,
    calls: Calls,
    /// Questions that nobody has answered yet.
    open: Vec<Asked>,
    /// Calls that it stops, or did.
    stopped: Vec<CallId>,
    waiting: JoinSet<Deed>,
    interrupts: Signal,
    left: Left,
}

/// What the client does after a while.
enum Deed {
    /// Answers the request of this id.
    Answer(Value, Chosen),
    /// Says that it will not answer the request of this id.
    Cancel(Value),
    Stop(CallId),
}

impl<V: Viewer> Client<V> {
    /// At this end of a pipe.
    pub(crate) fn new(
        pipe: DuplexStream,
        errand: Errand,
        approver: ScreenApprover,
        viewer: V,
        screen: Screen,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            link: Link::new(pipe),
            errand,
            approver: Arc::new(Mutex::new(approver)),
            viewer,
            screen,
            session: None,
            calls: Calls::default(),
            open: Vec::new(),
            stopped: Vec::new(),
            waiting: JoinSet::new(),
            interrupts: signal(SignalKind::interrupt()).context("Ctrl-C cannot be heard")?,
            left: Left::Answered,
        })
    }

    /// Opens a session and prompts; leaves when the prompt is answered.
    pub(crate) async fn run(mut self) -> anyhow::Result<Left> {
        self.ask("initialize", introduction(self.errand.printing))
            .await?;
        let place = json!({"cwd": self.errand.cwd, "mcpServers": []});
        let opened = self.ask("session/new", place).await?;
        if let (Some(id), Left::Answered) = (opened["sessionId"].as_str(), self.left) {
            self.session = Some(SessionId::new(id));
            let text = json!([{"type": "text", "text": self.errand.text}]);
            let prompt = json!({"sessionId": id, "prompt": text});
            self.ask("session/prompt", prompt).await?;
        }
        // Nothing is asked any more.
        self.waiting.shutdown().await;
        self.hang_up().await?;
        self.viewer.over();
        Ok(self.left)
    }

    /// Sends a request and hears everything until it is answered.
    async fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        let id = self.request(method, params).await?;
        loop {
            tokio::select! {
                line = self.link.next_line() => {
                    let line = line?.context("the agent broke off")?;
                    if let Some(answer) = self.hear(&line, id)? {
                        return Ok(answer);
                    }
                    if self.left == Left::Answered && self.screen.audience() == Audience::Gone {
                        self.leave(Left::Unheard).await?;
                    }
                }
                Some(Ok(deed)) = self.waiting.join_next() => self.act(deed).await?,
                _ = self.interrupts.recv(), if self.left == Left::Answered => {
                    self.viewer.interrupted();
                    self.leave(Left::Interrupted).await?;
                }
            }
        }
    }

    /// Hears a line. It may be the answer that is waited for.
    fn hear(&mut self, line: &str, awaited: u64) -> anyhow::Result<Option<Value>> {
        self.viewer.line(From::Agent, line);
        let mut message: Value = serde_json::from_str(line).context("the agent sends no JSON")?;
        match message["method"].as_str() {
            Some("session/update") => self.update(&message["params"]["update"]),
            Some("session/request_permission") => self.question(&message),
            // It offers nothing else that it could be asked for.
            Some(_) => {}
            None if message["id"] == awaited => match message.get("error") {
                Some(error) => bail!("the agent refuses: {error}"),
                None => return Ok(Some(message["result"].take())),
            },
            None => {}
        }
        Ok(None)
    }

    fn update(&mut self, update: &Value) {
        match update["sessionUpdate"].as_str() {
            Some("tool_call" | "tool_call_update") => {
                if let Some(id) = self.calls.hear(update, &mut self.viewer) {
                    self.consider(id);
                }
            }
            Some("plan") => {
                if let Ok(decoded) = Decoder::default().decode_plan(update) {
                    self.viewer.planned(&decoded.plan);
                }
            }
            Some("agent_message_chunk") => {
                self.viewer
                    .said(update["content"]["text"].as_str().unwrap_or_default());
            }
            Some(_) | None => {}
        }
    }

    /// Stops a call, once, if it is one of those.
    fn consider(&mut self, id: CallId) {
        let stops = |call: &ToolCall| call.ending().is_none() && (self.errand.stops)(call);
        if self.stopped.contains(&id) || !self.calls.get(&id).is_some_and(stops) {
            return;
        }
        self.stopped.push(id.clone());
        let pace = self.errand.pace;
        self.waiting.spawn(async move {
            pace.pause(WATCHED).await;
            Deed::Stop(id)
        });
    }

    /// Asks whoever answers. Meanwhile it goes on to hear; questions wait for each other.
    fn question(&mut self, request: &Value) {
        let id = self
            .calls
            .hear(&request["params"]["toolCall"], &mut self.viewer);
        let Some(call) = id.and_then(|id| self.calls.get(&id)) else {
            return;
        };
        let asked = Asked::read(request, call);
        let (id, offers, approver) = (request["id"].clone(), asked.offers(), self.approver.clone());
        let event = Event::Asked(asked.question.clone());
        let about = asked.question.call.clone();
        self.open.push(asked);
        self.calls.tell(&about, &event, &mut self.viewer);
        match self.left {
            Left::Answered => self.waiting.spawn(async move {
                let chosen = approver.lock().await.choose(&offers).await;
                Deed::Answer(id, chosen)
            }),
            // It crossed with our leaving.
            Left::Interrupted | Left::Unheard => {
                self.waiting.spawn(std::future::ready(Deed::Cancel(id)))
            }
        };
    }

    async fn act(&mut self, deed: Deed) -> anyhow::Result<()> {
        match deed {
            Deed::Answer(id, chosen) => self.answer(&id, &chosen).await,
            Deed::Cancel(id) => match self.take_open(&id) {
                Some(asked) => self.send(&asked.cancelled()).await,
                None => Ok(()),
            },
            Deed::Stop(id) => {
                let which = json!({"sessionId": self.session(), "toolCallId": id.as_str()});
                self.request(CANCEL_CALL, which).await.map(drop)
            }
        }
    }

    async fn answer(&mut self, id: &Value, chosen: &Chosen) -> anyhow::Result<()> {
        let Some(asked) = self.take_open(id) else {
            return Ok(());
        };
        let (answer, decision) = asked.answer(chosen);
        if let Some(decision) = decision {
            let event = Event::Decided(Arc::new(decision));
            self.calls
                .tell(&asked.question.call, &event, &mut self.viewer);
        }
        self.send(&answer).await
    }

    fn take_open(&mut self, id: &Value) -> Option<Asked> {
        let place = self.open.iter().position(|asked| asked.request == *id)?;
        Some(self.open.swap_remove(place))
    }

    /// The turn is cancelled, and with it every question.
    async fn leave(&mut self, how: Left) -> anyhow::Result<()> {
        self.left = how;
        self.waiting.abort_all();
        if let Some(session) = self.session() {
            let params = json!({"sessionId": session});
            let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
            self.send(&cancel).await?;
        }
        for asked in std::mem::take(&mut self.open) {
            self.send(&asked.cancelled()).await?;
        }
        Ok(())
    }

    /// Hears what is still on its way, so that no pipe breaks.
    async fn hang_up(&mut self) -> anyhow::Result<()> {
        self.link.close().await?;
        while let Some(line) = self.link.next_line().await? {
            self.viewer.line(From::Agent, &line);
        }
        Ok(())
    }

    fn session(&self) -> Option<&str> {
        self.session.as_ref().map(SessionId::as_str)
    }

    async fn request(&mut self, method: &str, params: Value) -> anyhow::Result<u64> {
        let id = self.link.next_id();
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&request).await?;
        Ok(id)
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let line = message.to_string();
        self.viewer.line(From::Client, &line);
        self.link.send(line).await
    }
}

/// What it says of itself.
fn introduction(printing: Printing) -> Value {
    let capabilities = match printing {
        Printing::Text => json!({}),
        Printing::Terminal => json!({"_meta": {meta::TERMINAL_OUTPUT: true}}),
    };
    json!({
        "protocolVersion": 1,
        "clientInfo": {"name": "toolcall", "version": env!("CARGO_PKG_VERSION")},
        "clientCapabilities": capabilities,
    })
}
