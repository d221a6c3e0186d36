//! Records every line between a client and the agent, in both directions.
//! It parses no line and changes none.

#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use toolcall_testkit::client::Side;

/// How long to wait for anything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// How many lines may wait to be received.
const QUEUE_LENGTH: usize = 1024;

/// One line.
#[derive(Clone, Debug)]
pub(crate) struct RecordedLine {
    pub(crate) side: Side,
    pub(crate) line: String,
}

impl RecordedLine {
    /// Returns the parsed line; null if it is not JSON.
    pub(crate) fn message(&self) -> Value {
        serde_json::from_str(&self.line).unwrap_or_default()
    }
}

/// A running agent, and the lines so far.
pub(crate) struct Recorder {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: JoinHandle<String>,
    frames: Vec<RecordedLine>,
}

/// All lines, and how the agent ended.
pub(crate) struct Recording {
    pub(crate) frames: Vec<RecordedLine>,
    /// The standard error of the agent.
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
        let lines = read_lines(child.stdout.take().unwrap());
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

    /// Returns the lines so far.
    pub(crate) fn frames(&self) -> &[RecordedLine] {
        &self.frames
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a line, whatever it is.
    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self
            .input
            .as_mut()
            .expect("the input is open until the end");
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        let (side, line) = (Side::Client, line.to_owned());
        self.frames.push(RecordedLine { side, line });
    }

    /// Receives the next line, if one comes within the limit.
    pub(crate) fn receive_within(&mut self, limit: Duration) -> Option<Value> {
        let line = match self.lines.recv_timeout(limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => {
                panic!("the agent closed its output; {}", self.last_lines())
            }
        };
        Some(self.record(line).message())
    }

    /// Receives the next line.
    pub(crate) fn receive(&mut self) -> Value {
        let received = self.receive_within(TIMEOUT);
        received.unwrap_or_else(|| panic!("the agent is silent; {}", self.last_lines()))
    }

    /// Ends the agent's input, and receives the remaining lines.
    pub(crate) fn end(mut self) -> Recording {
        drop(self.input.take());
        while let Ok(line) = self.lines.recv_timeout(TIMEOUT) {
            self.record(line);
        }
        let status = self.child.wait().unwrap();
        Recording {
            frames: self.frames,
            complaints: self.complaints.join().unwrap(),
            code: status.code(),
        }
    }

    fn record(&mut self, line: String) -> RecordedLine {
        let frame = RecordedLine {
            side: Side::Agent,
            line,
        };
        self.frames.push(frame.clone());
        frame
    }

    /// Returns the last lines, for the message of a failed test.
    pub(crate) fn last_lines(&self) -> String {
        let last = self.frames.iter().rev().take(8).rev();
        let lines = last.map(|frame| format!("{:?}: {}", frame.side, frame.line));
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn read_lines(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = sync_channel(QUEUE_LENGTH);
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        // Ends with the agent or the receiver.
        let _ = lines.map(|line| sender.send(line)).find(Result::is_err);
    });
    receiver
}
