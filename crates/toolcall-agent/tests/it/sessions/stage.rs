//! A client and an agent in one process, with a folder to work in and a model that is told what to say.
//! It asserts nothing.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    duplex, split,
};
use tokio::task::JoinHandle;
use toolcall::{Content, Limits};
use toolcall_acp::transport;
use toolcall_acp::v1::{Client, serve_agent};
use toolcall_agent::model::{Conversation, Delta, Message, Model, ModelError, Models};
use toolcall_agent::{Agent, AgentSettings};
use toolcall_history::{OnFailure, Settings};
use toolcall_policy::Places;

/// One answer, bit by bit. After the last bit it may hang.
pub(crate) type Answer = Vec<Result<Delta, ModelError>>;

/// Says what it is told to, and keeps what it was told.
#[derive(Default)]
pub(crate) struct Puppet {
    answers: Mutex<VecDeque<Answer>>,
    heard: Mutex<Vec<Vec<Message>>>,
}

impl Puppet {
    /// What it says next.
    pub(crate) fn will(&self, answer: impl IntoIterator<Item = Delta>) -> &Self {
        let answer = answer.into_iter().map(Ok).collect();
        self.answers.lock().expect("a lock").push_back(answer);
        self
    }

    /// What goes wrong next.
    pub(crate) fn will_fail(&self, reason: &str) {
        let answer = vec![
            Ok(Delta::Text("I will".to_owned())),
            Err(ModelError::new(reason)),
        ];
        self.answers.lock().expect("a lock").push_back(answer);
    }

    /// What it was told when it was asked last.
    pub(crate) fn heard(&self) -> Vec<Message> {
        let heard = self.heard.lock().expect("a lock");
        heard.last().cloned().unwrap_or_default()
    }
}

impl Model for Puppet {
    fn name(&self) -> &str {
        "puppet"
    }

    fn description(&self) -> &str {
        "Says what it is told to"
    }

    fn answer(&self, said: Arc<Conversation>) -> BoxStream<'static, Result<Delta, ModelError>> {
        self.heard
            .lock()
            .expect("a lock")
            .push(said.messages.clone());
        let answer = self.answers.lock().expect("a lock").pop_front();
        match answer {
            // Nobody told it what to say: it thinks for ever.
            None => stream::pending().boxed(),
            Some(answer) => stream::iter(answer).boxed(),
        }
    }
}

/// Text.
pub(crate) fn says(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

/// A whole call.
pub(crate) fn calls(id: &str, tool: &str, input: Value) -> [Delta; 3] {
    let id: Arc<str> = id.into();
    [
        Delta::CallBegan {
            id: id.clone(),
            tool: tool.into(),
        },
        Delta::CallGrew {
            id: id.clone(),
            text: input.to_string(),
        },
        Delta::CallComplete { id },
    ]
}

/// The texts of a message of the person.
pub(crate) fn texts(message: &Message) -> Vec<String> {
    let Message::Person(said) = message else {
        return Vec::new();
    };
    said.iter()
        .map(|content| match content {
            Content::Text(text) => text.to_string(),
            other => format!("{other:?}"),
        })
        .collect()
}

/// A folder to work in, and one for what is kept.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) puppet: Arc<Puppet>,
}

impl Default for Stage {
    fn default() -> Self {
        let stage = Self {
            folder: TempDir::new().expect("a folder"),
            puppet: Arc::default(),
        };
        std::fs::create_dir(stage.cwd()).expect("a folder");
        std::fs::write(stage.cwd().join("a.txt"), "one\n").expect("a file");
        stage
    }
}

impl Stage {
    fn beneath(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().canonicalize().expect("a folder");
        folder.join(name)
    }

    pub(crate) fn cwd(&self) -> PathBuf {
        self.beneath("project")
    }

    pub(crate) fn history(&self) -> PathBuf {
        self.beneath("history.db")
    }

    fn settings(&self) -> AgentSettings {
        let other: Arc<dyn Model> = Arc::new(Named("other"));
        AgentSettings {
            places: Places {
                config: self.beneath("config"),
                state: self.beneath("state"),
            },
            home: None,
            supervisor: None,
            sandbox: None,
            search: None,
            layers: Vec::new(),
            limits: Limits::default(),
            history: Some((
                self.history(),
                Settings {
                    on_failure: OnFailure::GoOn,
                    ..Settings::default()
                },
            )),
            models: Models::new(self.puppet.clone()).and(other),
            guests: Vec::new(),
            onlooker: None,
            version: "0".to_owned(),
        }
    }

    /// An agent, and a client of this name that has greeted it.
    pub(crate) async fn connect_as(&self, name: &str) -> Editor {
        self.connect_with(name, self.settings()).await
    }

    pub(crate) async fn connect(&self) -> Editor {
        self.connect_as("editor").await
    }

    /// Without a history.
    pub(crate) async fn connect_forgetful(&self) -> Editor {
        let settings = AgentSettings {
            history: None,
            ..self.settings()
        };
        self.connect_with("editor", settings).await
    }

    async fn connect_with(&self, name: &str, settings: AgentSettings) -> Editor {
        let (near, far) = duplex(64 * 1024);
        let (reader, writer) = split(near);
        let (peer, transport) = transport::connect(reader, writer, transport::Limits::default());
        let client = Client::new(peer);
        let agent = Agent::new(client.clone(), settings);
        let serving = tokio::spawn(async move {
            let served = serve_agent(client, transport, agent.clone()).await;
            agent.close().await;
            served.expect("a connection");
        });
        let (reader, writer) = split(far);
        let mut editor = Editor {
            lines: BufReader::new(reader).lines(),
            writer,
            serving,
            next: 0,
            cwd: self.cwd(),
        };
        let greeting = json!({"protocolVersion": 1, "clientInfo": {"name": name, "version": "7"}});
        editor.ask("initialize", greeting).await;
        editor
    }
}

/// A model that is only there to be chosen.
struct Named(&'static str);

impl Model for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn description(&self) -> &str {
        "Says its name"
    }

    fn answer(&self, _said: Arc<Conversation>) -> BoxStream<'static, Result<Delta, ModelError>> {
        stream::iter([Ok(says(self.0))]).boxed()
    }
}

/// A client.
pub(crate) struct Editor {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    serving: JoinHandle<()>,
    next: u64,
    cwd: PathBuf,
}

/// What was heard until a request was answered: updates, then the answer.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) before: Vec<Value>,
    pub(crate) answer: Value,
}

impl Heard {
    /// What was said, all together.
    pub(crate) fn words(&self) -> String {
        let updates = self.updates("agent_message_chunk");
        let words = updates
            .iter()
            .filter_map(|update| update["content"]["text"].as_str());
        words.collect()
    }

    /// The updates of one sort.
    pub(crate) fn updates(&self, sort: &str) -> Vec<&Value> {
        let updates = self.before.iter().map(|line| &line["params"]["update"]);
        updates
            .filter(|update| update["sessionUpdate"] == sort)
            .collect()
    }

    /// The sorts of everything that was heard, in order.
    pub(crate) fn sorts(&self) -> Vec<&str> {
        let updates = self.before.iter().map(|line| &line["params"]["update"]);
        updates
            .filter_map(|update| update["sessionUpdate"].as_str())
            .collect()
    }
}

impl Editor {
    pub(crate) async fn write(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.writer
            .write_all(line.as_bytes())
            .await
            .expect("a pipe");
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    /// Sends a request and does not wait.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    /// The next line.
    pub(crate) async fn hear(&mut self) -> Value {
        let line = self
            .lines
            .next_line()
            .await
            .expect("a pipe")
            .expect("a line");
        serde_json::from_str(&line).expect("json")
    }

    /// Everything until this request is answered. Whatever is asked meanwhile is allowed once.
    pub(crate) async fn until(&mut self, id: u64) -> Heard {
        let mut before = Vec::new();
        loop {
            let message = self.hear().await;
            if message["method"] == "session/request_permission" {
                let chosen = json!({"outcome": {"outcome": "selected", "optionId": "allow-once"}});
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": chosen});
                self.write(&answer).await;
            }
            if message["id"] == id && message.get("method").is_none() {
                return Heard {
                    before,
                    answer: message,
                };
            }
            before.push(message);
        }
    }

    /// Sends a request and hears everything until it is answered.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Heard {
        let id = self.send(method, params).await;
        self.until(id).await
    }

    /// Opens a session, hears of its commands, and returns its id.
    pub(crate) async fn open(&mut self) -> String {
        let opened = self
            .ask("session/new", json!({"cwd": self.cwd, "mcpServers": []}))
            .await;
        let session = opened.answer["result"]["sessionId"]
            .as_str()
            .expect("a session");
        assert_eq!(
            self.hear().await["params"]["update"]["sessionUpdate"],
            "available_commands_update"
        );
        session.to_owned()
    }

    pub(crate) async fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send(
            "session/prompt",
            json!({"sessionId": session, "prompt": prompt}),
        )
        .await
    }

    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Heard {
        let id = self.send_prompt(session, text).await;
        self.until(id).await
    }

    /// Hangs up, and waits until the agent is gone.
    pub(crate) async fn leave(mut self) {
        self.writer.shutdown().await.expect("a pipe");
        drop((self.writer, self.lines));
        self.serving.await.expect("an end");
    }
}
