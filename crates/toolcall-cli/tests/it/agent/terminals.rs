//! The terminals of a client: commands that the agent runs in them, their output and exit status.
//! It runs every command at once, and ends it on release.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::NamedTempFile;
use toolcall_testkit::client::{failure, response};

/// All terminals of a client.
#[derive(Default)]
pub(crate) struct Terminals {
    running: BTreeMap<String, ClientTerminal>,
    created: u32,
    /// `terminal/wait_for_exit` requests, with their terminal.
    waiting: Vec<(Value, String)>,
}

struct ClientTerminal {
    child: Child,
    printed: NamedTempFile,
}

impl Terminals {
    /// Returns the answer to a request; `None` while it waits for a command to end.
    pub(crate) fn answer(&mut self, request: &Value) -> Option<Value> {
        let params = &request["params"];
        let id = params["terminalId"].as_str().unwrap_or_default().to_owned();
        let result = match request["method"].as_str() {
            Some("terminal/create") => self.create(params),
            Some("terminal/output") => self.running.get_mut(&id).map(ClientTerminal::output),
            Some("terminal/kill") => self.running.get_mut(&id).map(ClientTerminal::kill),
            Some("terminal/release") => self.running.remove(&id).map(|mut gone| gone.kill()),
            Some("terminal/wait_for_exit") if self.running.contains_key(&id) => {
                self.waiting.push((request.clone(), id));
                return None;
            }
            Some(_) | None => None,
        };
        Some(match result {
            Some(result) => response(request, result),
            None => failure(request, -32002, "there is no such terminal"),
        })
    }

    /// Returns the answers to requests that waited for commands that have ended.
    pub(crate) fn finished_waits(&mut self) -> Vec<Value> {
        let running = &mut self.running;
        let mut answers = Vec::new();
        self.waiting.retain(|(request, id)| {
            let ended = running.get_mut(id).map(ClientTerminal::ended);
            // A released terminal has no exit status any more.
            let status = ended.unwrap_or(Some(json!({})));
            let answer = status.map(|status| response(request, status));
            let is_open = answer.is_none();
            answers.extend(answer);
            is_open
        });
        answers
    }

    fn create(&mut self, params: &Value) -> Option<Value> {
        let printed = NamedTempFile::new().unwrap();
        let both = || Stdio::from(File::options().append(true).open(printed.path()).unwrap());
        let texts = |list: &Value| -> Vec<String> {
            let list = list.as_array().into_iter().flatten();
            list.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let mut command = Command::new(params["command"].as_str()?);
        command
            .args(texts(&params["args"]))
            .stdin(Stdio::null())
            .stdout(both())
            .stderr(both());
        if let Some(cwd) = params["cwd"].as_str() {
            command.current_dir(cwd);
        }
        let child = command.spawn().ok()?;
        self.created += 1;
        let id = format!("terminal-{}", self.created);
        self.running
            .insert(id.clone(), ClientTerminal { child, printed });
        Some(json!({"terminalId": id}))
    }
}

impl ClientTerminal {
    fn output(&mut self) -> Value {
        let text = std::fs::read_to_string(self.printed.path()).unwrap();
        let status = self.ended();
        json!({"output": text, "truncated": false, "exitStatus": status})
    }

    fn ended(&mut self) -> Option<Value> {
        self.child.try_wait().unwrap().map(exit_status)
    }

    fn kill(&mut self) -> Value {
        // Killing a command that has ended fails, which is fine.
        let _ = self.child.kill();
        self.child.wait().unwrap();
        json!({})
    }
}

fn exit_status(status: ExitStatus) -> Value {
    let signal = status.code().is_none().then_some("SIGKILL");
    json!({"exitCode": status.code(), "signal": signal})
}
