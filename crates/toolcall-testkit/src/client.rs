//! A client that speaks JSON-RPC over a stream in memory, a message a line. It keeps what it hears and judges nothing.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};

/// A request.
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A notification.
pub fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// The response to a request.
pub fn response(request: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

/// The response that a request failed.
pub fn failure(request: &Value, code: i64, message: &str) -> Value {
    let error = json!({"code": code, "message": message});
    json!({"jsonrpc": "2.0", "id": request["id"], "error": error})
}

/// The response to a permission request that selects this option.
pub fn select(question: &Value, option: &str) -> Value {
    let outcome = json!({"outcome": "selected", "optionId": option});
    response(question, json!({"outcome": outcome}))
}

/// The id of the first option of this kind, if a permission request offers one.
pub fn option_of_kind<'a>(question: &'a Value, kind: &str) -> Option<&'a str> {
    let options = question["params"]["options"].as_array()?;
    let option = options.iter().find(|option| option["kind"] == kind)?;
    option["optionId"].as_str()
}

/// Whether a message asks for permission.
pub fn asks_permission(message: &Value) -> bool {
    message["method"] == "session/request_permission"
}

/// Allows once what is asked; says nothing to other messages.
pub fn allow_once(message: &Value) -> Vec<Value> {
    let option = option_of_kind(message, "allow_once");
    let option = option.filter(|_| asks_permission(message));
    option.map(|id| select(message, id)).into_iter().collect()
}

/// Who sent a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The agent.
    Agent,
    /// This client.
    Client,
}

/// What came until a request was answered.
#[derive(Debug)]
pub struct Exchange {
    /// Everything before the answer.
    pub before: Vec<Value>,
    /// The answer.
    pub answer: Value,
}

impl Exchange {
    /// What the agent said, all together.
    pub fn text(&self) -> String {
        let chunks = self.updates("agent_message_chunk").into_iter();
        let texts = chunks.filter_map(|update| update["content"]["text"].as_str());
        texts.collect()
    }

    /// The updates of one kind.
    pub fn updates(&self, kind: &str) -> Vec<&Value> {
        let updates = updates(&self.before);
        let of_kind = updates.filter(|update| update["sessionUpdate"] == kind);
        of_kind.collect()
    }

    /// The kinds of all updates, in order.
    pub fn kinds(&self) -> Vec<&str> {
        let updates = updates(&self.before);
        let kinds = updates.filter_map(|update| update["sessionUpdate"].as_str());
        kinds.collect()
    }
}

/// What a client sends when a message comes, all at once.
pub type Replies = Box<dyn FnMut(&Value) -> Vec<Value> + Send>;

/// A client at its end of a connection.
pub struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    replies: Replies,
    requests: u64,
    /// Every message in the order of the wire.
    pub wire: Vec<(Side, Value)>,
}

impl Client {
    /// A client that replies like this to whatever comes while it waits for a response.
    pub fn new(
        end: DuplexStream,
        replies: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
    ) -> Self {
        let (reader, writer) = split(end);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            replies: Box::new(replies),
            requests: 0,
            wire: Vec::new(),
        }
    }

    /// Sends messages in one piece, so that nothing comes between them.
    pub async fn send(&mut self, messages: &[Value]) {
        let lines = messages.iter().map(|message| format!("{message}\n"));
        let lines: String = lines.collect();
        let sent = self.writer.write_all(lines.as_bytes()).await;
        sent.expect("an agent that reads");
        let sent = messages
            .iter()
            .map(|message| (Side::Client, message.clone()));
        self.wire.extend(sent);
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(&[notification(method, params)]).await;
    }

    /// Sends a request without waiting; returns its id.
    pub async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        self.send(&[request(self.requests, method, params)]).await;
        self.requests
    }

    /// The next message.
    pub async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("a stream");
        let line = line.expect("the agent hung up");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        self.wire.push((Side::Agent, message.clone()));
        message
    }

    /// Replies to what comes until this request is answered.
    pub async fn finish(&mut self, id: u64) -> Exchange {
        let mut before = Vec::new();
        loop {
            let message = self.next().await;
            let replies = (self.replies)(&message);
            if !replies.is_empty() {
                self.send(&replies).await;
            }
            if message["id"] == id && message.get("method").is_none() {
                let answer = message;
                return Exchange { before, answer };
            }
            before.push(message);
        }
    }

    /// Sends a request and replies to what comes until it is answered.
    pub async fn ask(&mut self, method: &str, params: Value) -> Exchange {
        let id = self.begin(method, params).await;
        self.finish(id).await
    }

    /// Greets an agent of ACP, opens a session in `cwd` and prompts it once.
    pub async fn prompt_once(&mut self, cwd: &Path, capabilities: Value) -> Exchange {
        let greeting = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        self.ask("initialize", greeting).await;
        let params = json!({"cwd": cwd, "mcpServers": []});
        let opened = self.ask("session/new", params).await.answer;
        let session = &opened["result"]["sessionId"];
        self.ask("session/prompt", prompt(session, "go")).await
    }

    /// Hangs up.
    pub async fn stop_reading(mut self) {
        self.writer.shutdown().await.expect("a stream");
    }
}

/// The parameters of a prompt of one text.
pub fn prompt(session: &Value, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}

/// The updates of a session among these messages.
pub fn updates<'a>(
    messages: impl IntoIterator<Item = &'a Value>,
) -> impl Iterator<Item = &'a Value> {
    let updates = messages
        .into_iter()
        .map(|message| &message["params"]["update"]);
    updates.filter(|update| !update.is_null())
}
