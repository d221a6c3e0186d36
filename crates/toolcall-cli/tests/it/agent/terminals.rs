//! The terminals of a client: commands that an agent asked for, what they print, and how they end.
//! It holds no command back and keeps none longer than it is wanted.

use std::collections::BTreeMap;
use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::{Value, json};
use tempfile::NamedTempFile;
use toolcall_testkit::client::{failure, response};

/// All terminals of a client.
#[derive(Default)]
pub(crate) struct Terminals {
    running: BTreeMap<String, Terminal>,
    made: u32,
    /// Requests that wait for a command's end, with its terminal.
    waiting: Vec<(Value, String)>,
}

struct Terminal {
    child: Child,
    printed: NamedTempFile,
}

impl Terminals {
    /// The answer to a request; none yet if it waits for a command to end.
    pub(crate) fn answer(&mut self, request: &Value) -> Option<Value> {
        let params = &request["params"];
        let id = params["terminalId"].as_str().unwrap_or_default().to_owned();
        let result = match request["method"].as_str() {
            Some("terminal/create") => self.create(params),
            Some("terminal/output") => self.running.get_mut(&id).map(Terminal::output),
            Some("terminal/kill") => self.running.get_mut(&id).map(Terminal::kill),
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

    /// The answers to those who waited for commands that ended by now.
    pub(crate) fn glance(&mut self) -> Vec<Value> {
        let running = &mut self.running;
        let mut answers = Vec::new();
        self.waiting.retain(|(request, id)| {
            let ended = running.get_mut(id).map(Terminal::ended);
            // Whoever waits for a terminal that was released hears no more of it.
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
        self.made += 1;
        let id = format!("terminal-{}", self.made);
        self.running.insert(id.clone(), Terminal { child, printed });
        Some(json!({"terminalId": id}))
    }
}

impl Terminal {
    fn output(&mut self) -> Value {
        let text = std::fs::read_to_string(self.printed.path()).unwrap();
        let status = self.ended();
        json!({"output": text, "truncated": false, "exitStatus": status})
    }

    fn ended(&mut self) -> Option<Value> {
        self.child.try_wait().unwrap().map(told)
    }

    fn kill(&mut self) -> Value {
        // What has ended already cannot be killed, which is as good.
        let _ = self.child.kill();
        self.child.wait().unwrap();
        json!({})
    }
}

fn told(status: ExitStatus) -> Value {
    let signal = status.code().is_none().then_some("SIGKILL");
    json!({"exitCode": status.code(), "signal": signal})
}
