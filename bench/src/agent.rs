//! An agent in a process of its own, spoken to in lines of JSON, and the memory that it takes.
//! It does not know which agent it is, nor what is measured.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

/// How long an agent may be silent before it is given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How many lines may wait to be looked at.
const LINES: usize = 1024;

/// An agent, as its client sees it.
pub(crate) struct Agent {
    child: Child,
    lines: Receiver<String>,
}

/// What processes take, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    /// All pages, those that are shared as often as they are.
    pub(crate) resident: f64,
    /// Shared pages by their share.
    pub(crate) proportional: f64,
}

/// The program that is built beside this one.
pub(crate) fn toolcall() -> PathBuf {
    let this = std::env::current_exe().expect("this program has a path");
    this.with_file_name("toolcall")
}

impl Agent {
    /// Starts it in a group of its own. What it complains about is not shown.
    pub(crate) fn start(mut command: Command) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`{}`: {error}", command.get_program().display()))?;
        let lines = listen(child.stdout.take().expect("its output is piped"));
        Ok(Self { child, lines })
    }

    /// Sends a request and hears everything until it is answered.
    pub(crate) fn ask(&mut self, id: u32, method: &str, params: Value) -> Result<Value, String> {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut message = self.receive()?;
            if message["id"] == id && message.get("method").is_none() {
                return match message.get("error") {
                    Some(error) => Err(format!("`{method}` failed: {error}")),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    pub(crate) fn send(&mut self, message: &Value) -> Result<(), String> {
        let pipe = self.child.stdin.as_mut().expect("its input is piped");
        writeln!(pipe, "{message}").map_err(|error| format!("it does not listen: {error}"))
    }

    /// The next thing that it says; lines that are no JSON are passed over.
    pub(crate) fn receive(&mut self) -> Result<Value, String> {
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.map_err(|_| "it broke off or is silent".to_owned())?;
            if let Ok(message) = serde_json::from_str(&line) {
                return Ok(message);
            }
        }
    }

    /// What the agent's own process takes.
    pub(crate) fn memory(&self) -> Memory {
        memory_of(self.child.id())
    }

    /// What the agent takes with everything that it started.
    pub(crate) fn memory_of_tree(&self) -> Memory {
        let processes = below(self.child.id());
        processes
            .into_iter()
            .map(memory_of)
            .fold(Memory::default(), |sum, one| Memory {
                resident: sum.resident + one.resident,
                proportional: sum.proportional + one.proportional,
            })
    }

    /// Ends its input and waits: it must end by itself.
    pub(crate) fn finish(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("it ends");
    }

    /// Ends it with its whole group.
    pub(crate) fn kill(mut self) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // A group that is gone already needs no signal.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        self.child.wait().expect("it was killed");
    }
}

fn listen(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = sync_channel(LINES);
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        // Ends when the agent does, or when nobody listens any more.
        let _ = lines.map(|line| sender.send(line)).find(Result::is_err);
    });
    receiver
}

fn memory_of(process: u32) -> Memory {
    let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"));
    let text = text.unwrap_or_default();
    let bytes = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        kib.unwrap_or_default() * 1024.0
    };
    Memory {
        resident: bytes("Rss:"),
        proportional: bytes("Pss:"),
    }
}

/// A process and all that descend from it.
fn below(root: u32) -> Vec<u32> {
    let parents = parents();
    let mut found = vec![root];
    let mut looked_at = 0;
    while looked_at < found.len() {
        let parent = found[looked_at];
        let children = parents.iter().filter(|(_, of)| **of == parent);
        found.extend(children.map(|(child, _)| *child));
        looked_at += 1;
    }
    found
}

/// Every process with its parent.
fn parents() -> BTreeMap<u32, u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id| Some((id, parent(id)?))).collect()
}

fn parent(process: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name, in parentheses, may hold anything; state and parent follow it.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cat() -> Agent {
        Agent::start(Command::new("cat")).unwrap()
    }

    #[test]
    fn what_was_said_is_heard_and_noise_is_not() {
        let mut agent = cat();
        agent.send(&json!("hello")).unwrap();
        assert_eq!(agent.receive(), Ok(json!("hello")));
        agent.finish();
    }

    #[test]
    fn an_error_is_told_with_its_method() {
        let mut agent = Agent::start({
            let mut command = Command::new("sh");
            let answer = r#"{"id":1,"error":{"code":-1}}"#;
            command.args(["-c", &format!("echo noise; echo '{answer}'; read x")]);
            command
        })
        .unwrap();
        let why = agent.ask(1, "initialize", json!({})).unwrap_err();
        assert_eq!(why, r#"`initialize` failed: {"code":-1}"#);
        agent.kill();
    }

    #[test]
    fn a_tree_takes_at_least_what_its_root_takes() {
        let agent = cat();
        let (own, tree) = (agent.memory(), agent.memory_of_tree());
        assert!(own.resident > 0.0 && own.proportional > 0.0);
        assert!(tree.resident >= own.resident);
        assert!(below(std::process::id()).contains(&agent.child.id()));
        agent.kill();
    }

    #[test]
    fn a_program_that_is_missing_is_told() {
        let why = Agent::start(Command::new("no-such-program")).map(|_| ());
        assert!(why.unwrap_err().starts_with("`no-such-program`: "));
    }
}
