//! A client that opens sessions, sends prompts, answers questions and serves files and terminals.
//! It has exactly the given features and behavior, and checks nothing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcall_testkit::client::{
    asks_permission, failure, notification, option_of_kind, prompt, request, response, select,
};

use crate::agent::terminals::Terminals;
use crate::recorder::Recorder;
use crate::recorder::TIMEOUT;

/// How often terminals are polled.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The capabilities of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientFeatures {
    Nothing,
    Files,
    Terminal,
    /// Terminal output in `_meta`, an extension.
    Output,
    Everything,
}

impl ClientFeatures {
    fn capabilities(self) -> Value {
        let files = json!({"readTextFile": true, "writeTextFile": true});
        match self {
            Self::Nothing => json!({}),
            Self::Files => json!({"fs": files}),
            Self::Terminal => json!({"terminal": true}),
            Self::Output => json!({"_meta": {"terminal_output": true}}),
            Self::Everything => json!({"fs": files, "terminal": true}),
        }
    }
}

/// How a client answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionAnswer {
    /// Chooses the option of this kind; the "once" option if there is no "always" one.
    Choose(&'static str),
    /// Does not answer.
    Silence,
}

/// When a client cancels the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelTrigger {
    Never,
    /// When it is asked for permission.
    Asked,
    /// When this many calls run.
    Running(usize),
    /// When the model sends a message.
    Speaking,
    /// When a call is announced.
    Announced,
}

/// How a client behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientBehavior {
    pub(crate) answer: QuestionAnswer,
    pub(crate) cancel: CancelTrigger,
}

/// A client of a recorded agent.
pub(crate) struct TestClient {
    pub(crate) recorder: Recorder,
    pub(crate) session: Value,
    behavior: ClientBehavior,
    terminals: Terminals,
    requests: u64,
    /// Unanswered questions.
    open: Vec<Value>,
    cancelled: bool,
    /// Calls that have started.
    running: BTreeSet<String>,
}

impl TestClient {
    /// Initializes the connection.
    pub(crate) fn initialize(
        recorder: Recorder,
        features: ClientFeatures,
        behavior: ClientBehavior,
    ) -> Self {
        let mut client = Self {
            recorder,
            session: Value::Null,
            behavior,
            terminals: Terminals::default(),
            requests: 0,
            open: Vec::new(),
            cancelled: false,
            running: BTreeSet::new(),
        };
        let info = json!({"name": "recorder", "version": "1"});
        let params = json!({"protocolVersion": 1, "clientCapabilities": features.capabilities(), "clientInfo": info});
        client.ask("initialize", params);
        client
    }

    /// Opens a session in a directory.
    pub(crate) fn open(&mut self, cwd: &std::path::Path, servers: Value) -> Value {
        let answer = self.ask("session/new", json!({"cwd": cwd, "mcpServers": servers}));
        self.session = answer["result"]["sessionId"].clone();
        answer
    }

    /// Prompts the session and returns the stop reason.
    pub(crate) fn prompt(&mut self, text: &str) -> Value {
        self.cancelled = false;
        let answer = self.ask("session/prompt", prompt(&self.session, text));
        let reason = answer["result"]["stopReason"].clone();
        assert!(reason.is_string(), "{answer}");
        reason
    }

    /// Sends a request and handles messages until it is answered.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer_of(id)
    }

    /// Sends a request and returns its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let message = request(self.requests, method, params);
        self.recorder.send(&message);
        self.requests
    }

    /// Handles messages until the request is answered.
    pub(crate) fn answer_of(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Handles messages until a permission request comes, and answers that, too.
    pub(crate) fn question(&mut self) -> Value {
        self.until(asks_permission)
    }

    /// Handles messages until one matches, and that, too.
    pub(crate) fn until(&mut self, matches: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let message = self.recorder.receive_within(POLL_INTERVAL);
            for answer in self.terminals.finished_waits() {
                self.recorder.send(&answer);
            }
            let Some(message) = message else {
                assert!(
                    began.elapsed() < TIMEOUT,
                    "the message never comes; {}",
                    self.recorder.last_lines()
                );
                continue;
            };
            self.handle(&message);
            if matches(&message) {
                return message;
            }
        }
    }

    fn handle(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some("session/update") => self.handle_update(&message["params"]["update"]),
            Some("session/request_permission") => self.answer(message),
            Some("fs/read_text_file") => self.read(message),
            Some("fs/write_text_file") => self.write(message),
            Some(method) if method.starts_with("terminal/") => {
                let answer = self.terminals.answer(message);
                answer
                    .into_iter()
                    .for_each(|answer| self.recorder.send(&answer));
            }
            Some(_) | None => {}
        }
    }

    fn handle_update(&mut self, update: &Value) {
        if update["status"] == "in_progress" {
            self.running.insert(update["toolCallId"].to_string());
        }
        let is_due = match self.behavior.cancel {
            CancelTrigger::Running(many) => self.running.len() >= many,
            CancelTrigger::Speaking => update["sessionUpdate"] == "agent_message_chunk",
            CancelTrigger::Announced => update["sessionUpdate"] == "tool_call",
            CancelTrigger::Never | CancelTrigger::Asked => false,
        };
        if is_due {
            self.cancel();
        }
    }

    fn answer(&mut self, question: &Value) {
        self.open.push(question.clone());
        match (self.behavior.cancel, self.behavior.answer) {
            (CancelTrigger::Asked, _) => self.cancel(),
            (_, QuestionAnswer::Silence) => {}
            (_, QuestionAnswer::Choose(kind)) => self.choose(question, kind),
        }
    }

    fn choose(&mut self, question: &Value, kind: &str) {
        let once = kind.replace("always", "once");
        let option = option_of_kind(question, kind).or_else(|| option_of_kind(question, &once));
        let option = option.expect("every question can be answered once");
        self.open.retain(|open| open["id"] != question["id"]);
        self.recorder.send(&select(question, option));
    }

    /// Cancels the turn, once, and every open question.
    pub(crate) fn cancel(&mut self) {
        if std::mem::replace(&mut self.cancelled, true) {
            return;
        }
        let params = json!({"sessionId": self.session});
        self.recorder.send(&notification("session/cancel", params));
        for question in std::mem::take(&mut self.open) {
            let outcome = json!({"outcome": {"outcome": "cancelled"}});
            self.recorder.send(&response(&question, outcome));
        }
    }

    fn read(&mut self, message: &Value) {
        let path = message["params"]["path"].as_str().unwrap();
        let read = std::fs::read_to_string(path);
        self.reply(message, read.map(|text| json!({"content": text})));
    }

    fn write(&mut self, message: &Value) {
        let params = &message["params"];
        let path = std::path::Path::new(params["path"].as_str().unwrap());
        // As editors do, it creates missing directories.
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let written = std::fs::write(path, params["content"].as_str().unwrap());
        self.reply(message, written.map(|()| json!({})));
    }

    fn reply(&mut self, message: &Value, result: std::io::Result<Value>) {
        self.recorder.send(&match result {
            Ok(result) => response(message, result),
            Err(error) => failure(message, -32603, &error.to_string()),
        });
    }
}
