//! A client that opens sessions, prompts, answers as it was told and does what agents may ask of it.
//! It offers what it was told to offer and nothing else, and judges nothing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcall_testkit::client::{
    asks_permission, failure, notification, option_of_kind, prompt, request, response, select,
};

use crate::agent::terminals::Terminals;
use crate::recorder::PATIENCE;
use crate::recorder::Recorder;

/// How often commands in terminals are looked at.
const GLANCE: Duration = Duration::from_millis(10);

/// What a client offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Nothing,
    Files,
    Terminal,
    /// Terminals that the agent fills itself, an extension.
    Output,
    Everything,
}

impl Offer {
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
pub(crate) enum Answer {
    /// By the option of this kind; once where it is not offered for always.
    Choose(&'static str),
    /// Not at all.
    Silence,
}

/// When a client cancels the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancel {
    Never,
    /// When it is asked for permission.
    Asked,
    /// When so many calls run.
    Running(usize),
    /// When the model speaks.
    Speaking,
    /// When a call is announced.
    Announced,
}

/// How a client behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    pub(crate) answer: Answer,
    pub(crate) cancel: Cancel,
}

/// A client of a recorded agent.
pub(crate) struct Client {
    pub(crate) recorder: Recorder,
    pub(crate) session: Value,
    manner: Manner,
    terminals: Terminals,
    requests: u64,
    /// Questions that are not answered.
    open: Vec<Value>,
    cancelled: bool,
    /// Calls that began to run.
    running: BTreeSet<String>,
}

impl Client {
    /// Greets the agent.
    pub(crate) fn greet(recorder: Recorder, offer: Offer, manner: Manner) -> Self {
        let mut client = Self {
            recorder,
            session: Value::Null,
            manner,
            terminals: Terminals::default(),
            requests: 0,
            open: Vec::new(),
            cancelled: false,
            running: BTreeSet::new(),
        };
        let info = json!({"name": "recorder", "version": "1"});
        let greeting = json!({"protocolVersion": 1, "clientCapabilities": offer.capabilities(), "clientInfo": info});
        client.ask("initialize", greeting);
        client
    }

    /// Opens a session in that folder.
    pub(crate) fn open(&mut self, cwd: &std::path::Path, servers: Value) -> Value {
        let answer = self.ask("session/new", json!({"cwd": cwd, "mcpServers": servers}));
        self.session = answer["result"]["sessionId"].clone();
        answer
    }

    /// Prompts the session; why it stopped.
    pub(crate) fn prompt(&mut self, text: &str) -> Value {
        self.cancelled = false;
        let answer = self.ask("session/prompt", prompt(&self.session, text));
        let reason = answer["result"]["stopReason"].clone();
        assert!(reason.is_string(), "{answer}");
        reason
    }

    /// Sends a request, and does what is asked until it is answered.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer_of(id)
    }

    /// Sends a request and says its id.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let message = request(self.requests, method, params);
        self.recorder.send(&message);
        self.requests
    }

    /// Does what is asked until that request is answered.
    pub(crate) fn answer_of(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// Does what is asked until a question comes, which it answers like any other.
    pub(crate) fn question(&mut self) -> Value {
        self.until(asks_permission)
    }

    /// Does what is asked until such a message comes, and that, too.
    pub(crate) fn until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let message = self.recorder.hear_within(GLANCE);
            for answer in self.terminals.glance() {
                self.recorder.send(&answer);
            }
            let Some(message) = message else {
                assert!(
                    began.elapsed() < PATIENCE,
                    "it never comes; {}",
                    self.recorder.story()
                );
                continue;
            };
            self.take(&message);
            if is_it(&message) {
                return message;
            }
        }
    }

    fn take(&mut self, message: &Value) {
        match message["method"].as_str() {
            Some("session/update") => self.look(&message["params"]["update"]),
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

    fn look(&mut self, update: &Value) {
        if update["status"] == "in_progress" {
            self.running.insert(update["toolCallId"].to_string());
        }
        let is_due = match self.manner.cancel {
            Cancel::Running(many) => self.running.len() >= many,
            Cancel::Speaking => update["sessionUpdate"] == "agent_message_chunk",
            Cancel::Announced => update["sessionUpdate"] == "tool_call",
            Cancel::Never | Cancel::Asked => false,
        };
        if is_due {
            self.cancel();
        }
    }

    fn answer(&mut self, question: &Value) {
        self.open.push(question.clone());
        match (self.manner.cancel, self.manner.answer) {
            (Cancel::Asked, _) => self.cancel(),
            (_, Answer::Silence) => {}
            (_, Answer::Choose(kind)) => self.choose(question, kind),
        }
    }

    fn choose(&mut self, question: &Value, kind: &str) {
        let once = kind.replace("always", "once");
        let option = option_of_kind(question, kind).or_else(|| option_of_kind(question, &once));
        let option = option.expect("every question can be answered once");
        self.open.retain(|open| open["id"] != question["id"]);
        self.recorder.send(&select(question, option));
    }

    /// Cancels the turn, once, and every question that is open.
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
        // As editors do.
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
