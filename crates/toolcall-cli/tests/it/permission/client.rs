//! A client that opens a session, prompts once, and answers questions as it was told.
//! It keeps what it heard and judges nothing.

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};

pub(crate) const SESSION: &str = "session-1";

type Answers = Box<dyn Fn(&Value) -> Vec<Reply> + Send>;

/// How a client answers.
pub(crate) struct Client {
    replies: Answers,
}

/// One message of the client.
pub(crate) struct Reply(Value);

/// Everything the agent said.
pub(crate) struct Heard(Vec<Value>);

impl Client {
    pub(crate) fn answering(replies: impl Fn(&Value) -> Vec<Reply> + Send + 'static) -> Self {
        Self {
            replies: Box::new(replies),
        }
    }

    /// Says nothing to a question but that the turn is over.
    pub(crate) fn silent_until_cancelled() -> Self {
        Self::answering(|_| vec![Reply::cancel()])
    }

    /// One prompt in one session.
    pub(crate) async fn prompt(self, end: DuplexStream, cwd: &std::path::Path) -> Heard {
        let (reader, writer) = split(end);
        let mut talk = Talk {
            lines: BufReader::new(reader).lines(),
            writer,
            replies: self.replies,
            heard: Vec::new(),
        };
        let capabilities = json!({"protocolVersion": 1, "clientCapabilities": {}});
        talk.ask(0, "initialize", capabilities).await;
        talk.ask(1, "session/new", json!({"cwd": cwd, "mcpServers": []}))
            .await;
        let text = json!([{"type": "text", "text": "go"}]);
        let prompt = json!({"sessionId": SESSION, "prompt": text});
        talk.ask(2, "session/prompt", prompt).await;
        Heard(talk.heard)
    }
}

struct Talk {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    replies: Answers,
    heard: Vec<Value>,
}

impl Talk {
    /// Sends a request and hears everything until it is answered.
    async fn ask(&mut self, id: u32, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&[Reply(request)]).await;
        while let Some(line) = self.lines.next_line().await.unwrap() {
            let message: Value = serde_json::from_str(&line).unwrap();
            self.heard.push(message.clone());
            if message["method"] == "session/request_permission" {
                let replies = (self.replies)(&message);
                self.send(&replies).await;
            }
            if message["id"] == id && message.get("method").is_none() {
                return;
            }
        }
        panic!("the agent broke off");
    }

    /// All at once, so that nothing comes between them.
    async fn send(&mut self, messages: &[Reply]) {
        let lines: String = messages
            .iter()
            .map(|Reply(value)| format!("{value}\n"))
            .collect();
        self.writer.write_all(lines.as_bytes()).await.unwrap();
    }
}

impl Reply {
    pub(crate) fn option(asked: &Value, option: &str) -> Self {
        let outcome = json!({"outcome": "selected", "optionId": option});
        Self(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}}))
    }

    pub(crate) fn error(asked: &Value, code: i32) -> Self {
        let error = json!({"code": code, "message": "no"});
        Self(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}))
    }

    pub(crate) fn cancel() -> Self {
        let params = json!({"sessionId": SESSION});
        Self(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))
    }
}

impl Heard {
    /// Every status that was told, in order.
    pub(crate) fn statuses(&self) -> Vec<String> {
        let updates = self.0.iter().map(|message| &message["params"]["update"]);
        let statuses = updates.filter_map(|update| update["status"].as_str());
        statuses.map(str::to_owned).collect()
    }

    pub(crate) fn stop_reason(&self) -> String {
        let last = self.0.last().expect("an answer");
        last["result"]["stopReason"]
            .as_str()
            .expect("a reason")
            .to_owned()
    }

    /// The question.
    pub(crate) fn asked(&self) -> &Value {
        let mut messages = self.0.iter();
        let asked = messages.find(|message| message["method"] == "session/request_permission");
        asked.expect("a question")
    }
}
