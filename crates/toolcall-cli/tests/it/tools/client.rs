//! A client that opens a session, prompts once, allows whatever it is asked, and keeps every line.
//! It judges nothing.

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};
use toolcall_acp::lint::Direction;

pub(crate) const SESSION: &str = "session-1";

/// A client at its end of a connection.
pub(crate) struct Client {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    recorded: Vec<(Direction, Value)>,
}

impl Client {
    pub(crate) fn new(end: DuplexStream) -> Self {
        let (reader, writer) = split(end);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            recorded: Vec::new(),
        }
    }

    /// One prompt in one session; gives every message in the order of the wire.
    pub(crate) async fn prompt(mut self, cwd: &std::path::Path) -> Vec<(Direction, Value)> {
        let capabilities = json!({"protocolVersion": 1, "clientCapabilities": {}});
        self.ask(0, "initialize", capabilities).await;
        let place = json!({"cwd": cwd, "mcpServers": []});
        self.ask(1, "session/new", place).await;
        let text = json!([{"type": "text", "text": "go"}]);
        let prompt = json!({"sessionId": SESSION, "prompt": text});
        self.ask(2, "session/prompt", prompt).await;
        self.recorded
    }

    /// Sends a request and hears everything until it is answered.
    async fn ask(&mut self, id: u32, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(request).await;
        while let Some(line) = self.lines.next_line().await.unwrap() {
            let message: Value = serde_json::from_str(&line).unwrap();
            self.recorded.push((Direction::FromAgent, message.clone()));
            if message["method"] == "session/request_permission" {
                self.send(allow(&message)).await;
            }
            if message["id"] == id && message.get("method").is_none() {
                return;
            }
        }
        panic!("the agent broke off");
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.recorded.push((Direction::FromClient, message));
    }
}

fn allow(request: &Value) -> Value {
    let mut options = request["params"]["options"].as_array().unwrap().iter();
    let once = options.find(|option| option["kind"] == "allow_once");
    let outcome = json!({"outcome": "selected", "optionId": once.unwrap()["optionId"]});
    json!({"jsonrpc": "2.0", "id": request["id"], "result": {"outcome": outcome}})
}
