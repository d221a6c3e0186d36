//! Keeps every line that passes between a client and the agent, in both directions.
//! It understands no line and changes none.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use toolcall_testkit::client::Side;

/// How long anything may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// How many lines may wait to be heard.
const LINES: usize = 1024;

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) side: Side,
    pub(crate) line: String,
}

impl Frame {
    /// What it says; null if it is no JSON.
    pub(crate) fn message(&self) -> Value {
        serde_json::from_str(&self.line).unwrap_or_default()
    }
}

/// An agent that runs, and what was said so far.
pub(crate) struct Recorder {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: JoinHandle<String>,
    frames: Vec<Frame>,
}

/// All that was said, and how it ended.
pub(crate) struct Recording {
    pub(crate) frames: Vec<Frame>,
    /// What the agent wrote where nobody reads it.
    pub(crate) complaints: String,
    pub(crate) code: Option<i32>,
}

impl Recorder {
    pub(crate) fn start(mut agent: Command) -> Self {
        let mut child = agent
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = child.stderr.take().unwrap();
        let complaints = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            errors.read_to_end(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let lines = listen(child.stdout.take().unwrap());
        Self {
            input: child.stdin.take(),
            child,
            lines,
            complaints,
            frames: Vec::new(),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What was said so far.
    pub(crate) fn frames(&self) -> &[Frame] {
        &self.frames
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Whatever it is, as a line.
    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it listens until it is ended");
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        let (side, line) = (Side::Client, line.to_owned());
        self.frames.push(Frame { side, line });
    }

    /// The next line, if one comes soon.
    pub(crate) fn hear_within(&mut self, limit: Duration) -> Option<Value> {
        let line = match self.lines.recv_timeout(limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => panic!("the agent broke off; {}", self.story()),
        };
        Some(self.keep(line).message())
    }

    /// The next line.
    pub(crate) fn hear(&mut self) -> Value {
        let heard = self.hear_within(PATIENCE);
        heard.unwrap_or_else(|| panic!("the agent is silent; {}", self.story()))
    }

    /// Ends the agent's input, and hears it out.
    pub(crate) fn end(mut self) -> Recording {
        drop(self.input.take());
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.keep(line);
        }
        let status = self.child.wait().unwrap();
        Recording {
            frames: self.frames,
            complaints: self.complaints.join().unwrap(),
            code: status.code(),
        }
    }

    fn keep(&mut self, line: String) -> Frame {
        let frame = Frame {
            side: Side::Agent,
            line,
        };
        self.frames.push(frame.clone());
        frame
    }

    /// The last lines, for whoever has to find out what went wrong.
    pub(crate) fn story(&self) -> String {
        let last = self.frames.iter().rev().take(8).rev();
        let lines = last.map(|frame| format!("{:?}: {}", frame.side, frame.line));
        lines.collect::<Vec<_>>().join("\n")
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
