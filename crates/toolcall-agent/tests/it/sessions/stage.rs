//! A client and an agent in one process, with a folder to work in and a model that is told what to say.
//! It asserts nothing.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use tokio::io::{duplex, split};
use tokio::task::JoinHandle;
use toolcall::{Content, Limits};
use toolcall_acp::transport;
use toolcall_acp::{ClientConnection, serve};
use toolcall_agent::model::{Conversation, Delta, Message, Model, ModelError, Models};
use toolcall_agent::{Agent, AgentConfig};
use toolcall_history::{HistoryConfig, OnFailure};
use toolcall_policy::UserDirs;
use toolcall_testkit::client::{self as testkit, Exchange, allow_once};
use toolcall_testkit::dir::TestDir;

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
    dir: TestDir,
    pub(crate) puppet: Arc<Puppet>,
}

impl Default for Stage {
    fn default() -> Self {
        Self {
            dir: TestDir::with(&[("project/a.txt", "one\n")]),
            puppet: Arc::default(),
        }
    }
}

impl Stage {
    pub(crate) fn cwd(&self) -> PathBuf {
        self.dir.at("project")
    }

    pub(crate) fn history(&self) -> PathBuf {
        self.dir.at("history.db")
    }

    fn settings(&self) -> AgentConfig {
        let other: Arc<dyn Model> = Arc::new(Named("other"));
        AgentConfig {
            places: UserDirs {
                config: self.dir.at("config"),
                state: self.dir.at("state"),
            },
            home: None,
            supervisor: None,
            sandbox: None,
            search: None,
            layers: Vec::new(),
            limits: Limits::default(),
            history: Some((
                self.history(),
                HistoryConfig {
                    on_failure: OnFailure::RunUnrecorded,
                    ..HistoryConfig::default()
                },
            )),
            models: Models::new(self.puppet.clone()).and(other),
            guests: Vec::new(),
            observer: None,
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
        let settings = AgentConfig {
            history: None,
            ..self.settings()
        };
        self.connect_with("editor", settings).await
    }

    async fn connect_with(&self, name: &str, settings: AgentConfig) -> Editor {
        let (near, far) = duplex(64 * 1024);
        let (reader, writer) = split(near);
        let (peer, transport) =
            transport::connect(reader, writer, transport::ConnectionLimits::default());
        let client = ClientConnection::new(peer);
        let agent = Agent::new(client.clone(), settings);
        let serving = tokio::spawn(async move {
            let served = serve(client, transport, agent.clone()).await;
            agent.close().await;
            served.expect("a connection");
        });
        let mut editor = Editor {
            client: testkit::Client::new(far, allow_once),
            serving,
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

/// A client that allows once whatever it is asked.
pub(crate) struct Editor {
    client: testkit::Client,
    serving: JoinHandle<()>,
    cwd: PathBuf,
}

impl std::ops::Deref for Editor {
    type Target = testkit::Client;

    fn deref(&self) -> &testkit::Client {
        &self.client
    }
}

impl std::ops::DerefMut for Editor {
    fn deref_mut(&mut self) -> &mut testkit::Client {
        &mut self.client
    }
}

impl Editor {
    /// Opens a session, hears of its commands, and returns its id.
    pub(crate) async fn open(&mut self) -> String {
        let params = json!({"cwd": self.cwd, "mcpServers": []});
        let opened = self.ask("session/new", params).await;
        let session = opened.answer["result"]["sessionId"]
            .as_str()
            .expect("a session");
        assert_eq!(
            self.next().await["params"]["update"]["sessionUpdate"],
            "available_commands_update"
        );
        session.to_owned()
    }

    pub(crate) async fn send_prompt(&mut self, session: &str, text: &str) -> u64 {
        let params = testkit::prompt(&session.into(), text);
        self.begin("session/prompt", params).await
    }

    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> Exchange {
        let id = self.send_prompt(session, text).await;
        self.finish(id).await
    }

    /// Hangs up, and waits until the agent is gone.
    pub(crate) async fn leave(self) {
        self.client.stop_reading().await;
        self.serving.await.expect("an end");
    }
}
