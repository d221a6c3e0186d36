//! What an agent takes with many sessions at once on one connection, each of which runs calls.
//! It measures the agent's own process, not the commands that its calls run.

use std::collections::BTreeSet;
use std::fs::{File, create_dir_all};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::{Agent, toolcall};
use crate::{Case, Options, Row, Target, Unit};

/// How many sessions there are when it is measured.
const SIZES: [usize; 4] = [1, 50, 100, 200];

/// A session must not cost more the more there are; what is freed and taken again makes for some noise.
const FLAT: Target = Target::AtMost(1.5);

/// One turn: a command that runs until its gate is opened, beside a file that is written and one that is read.
const TURN: &str = "
- - when: go
  - calls:
      - {tool: run_command, input: {command: cat gate}}
      - {tool: write_file, input: {path: new.txt, content: one more}}
      - {tool: read_file, input: {path: there.txt}}
";

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let case = |name: String| Case::new(name, options);
    let rounds: Vec<Round> = (0..case(String::new()).rounds())
        .map(|_| played().unwrap_or_else(|why| panic!("the agent failed: {why}")))
        .collect();
    let pairs = |of: fn(&Round) -> (f64, f64)| rounds.iter().map(of).collect::<Vec<_>>();
    let row = |name: &str, of| case(name.into()).of_pairs(Unit::Bytes, &pairs(of));
    vec![
        row("50 sessions that run calls, against one", |round| {
            (round.busy[1], round.busy[0])
        }),
        row("100 sessions that run calls, against one", |round| {
            (round.busy[2], round.busy[0])
        }),
        row("200 sessions that run calls, against one", |round| {
            (round.busy[3], round.busy[0])
        }),
        row(
            "200 sessions after all of them were closed, against while they ran",
            |round| (round.closed, round.busy[3]),
        ),
        case("a session of the second hundred, against one of the first".into())
            .target(FLAT)
            .of_pairs(Unit::Bytes, &pairs(Round::of_a_session)),
    ]
}

/// What the agent took, in bytes.
struct Round {
    /// With so many sessions as [`SIZES`] says, all of which run calls.
    busy: [f64; 4],
    /// When they are all closed.
    closed: f64,
}

impl Round {
    /// A session of the second hundred, and one of the first.
    fn of_a_session(&self) -> (f64, f64) {
        let [one, _, hundred, all] = self.busy;
        ((all - hundred) / 100.0, (hundred - one) / 99.0)
    }
}

fn played() -> Result<Round, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut stage = Stage::open(folder)?;
    let mut busy = [0.0; 4];
    for (size, taken) in SIZES.into_iter().zip(&mut busy) {
        stage.grow(size)?;
        *taken = stage.busy()?;
    }
    stage.close()?;
    let closed = stage.agent.memory().resident;
    stage.agent.finish();
    Ok(Round { busy, closed })
}

struct Stage {
    folder: TempDir,
    agent: Agent,
    sessions: Vec<Value>,
    requests: u32,
}

impl Stage {
    fn open(folder: TempDir) -> Result<Self, String> {
        let script = folder.path().join("turn.yaml");
        std::fs::write(&script, TURN).expect("a script");
        let mut command = Command::new(toolcall());
        command
            .args(["agent", "--mode", "allow-all", "--model"])
            .arg(format!("script:{}", script.display()))
            .env_clear()
            .env("HOME", folder.path())
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .current_dir(folder.path());
        let mut agent = Agent::start(command)?;
        let greeting = json!({"protocolVersion": 1, "clientCapabilities": {}});
        agent.ask(0, "initialize", greeting)?;
        Ok(Self {
            folder,
            agent,
            sessions: Vec::new(),
            requests: 0,
        })
    }

    /// Opens sessions until there are so many, each in a folder of its own.
    fn grow(&mut self, size: usize) -> Result<(), String> {
        while self.sessions.len() < size {
            let project = self.project(self.sessions.len());
            furnish(&project);
            let place = json!({"cwd": project, "mcpServers": []});
            let opened = self.ask("session/new", place)?;
            self.sessions.push(opened["sessionId"].clone());
        }
        Ok(())
    }

    /// Prompts all sessions at once, and says what the agent takes while they all run a command.
    fn busy(&mut self) -> Result<f64, String> {
        let mut open = BTreeSet::new();
        for session in self.sessions.clone() {
            let prompt = json!([{"type": "text", "text": "go"}]);
            open.insert(self.next());
            let params = json!({"sessionId": session, "prompt": prompt});
            self.agent
                .send(&json!({"jsonrpc": "2.0", "id": self.requests,
                                    "method": "session/prompt", "params": params}))?;
        }
        self.hear_commands()?;
        let taken = self.agent.memory().resident;
        let opening = self.open_gates();
        self.hear_answers(open)?;
        opening.join().expect("every gate was opened");
        Ok(taken)
    }

    /// Whoever opens a gate for writing waits until the command reads from it. Meanwhile somebody listens to the agent.
    fn open_gates(&self) -> JoinHandle<()> {
        let sessions = 0..self.sessions.len();
        let gates: Vec<_> = sessions
            .map(|session| self.project(session).join("gate"))
            .collect();
        let open = |gate: PathBuf| drop(File::options().write(true).open(gate).expect("a gate"));
        std::thread::spawn(move || gates.into_iter().for_each(open))
    }

    /// Until every session runs its command.
    fn hear_commands(&mut self) -> Result<(), String> {
        let (mut commands, mut running) = (BTreeSet::new(), BTreeSet::new());
        while running.len() < self.sessions.len() {
            let message = self.agent.receive()?;
            let update = &message["params"]["update"];
            let call = format!(
                "{} {}",
                message["params"]["sessionId"], update["toolCallId"]
            );
            if update["kind"] == "execute" {
                commands.insert(call.clone());
            }
            if update["status"] == "in_progress" && commands.contains(&call) {
                running.insert(call);
            }
        }
        Ok(())
    }

    /// Until every prompt is answered.
    fn hear_answers(&mut self, mut open: BTreeSet<u32>) -> Result<(), String> {
        while !open.is_empty() {
            let message = self.agent.receive()?;
            let id = message["id"].as_u64().and_then(|id| u32::try_from(id).ok());
            if !id.is_some_and(|id| open.remove(&id)) {
                continue;
            }
            if message["result"]["stopReason"] != "end_turn" {
                return Err(format!("a turn ended otherwise: {message}"));
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), String> {
        for session in std::mem::take(&mut self.sessions) {
            self.ask("session/close", json!({"sessionId": session}))?;
        }
        Ok(())
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.next();
        self.agent.ask(id, method, params)
    }

    fn next(&mut self) -> u32 {
        self.requests += 1;
        self.requests
    }

    fn project(&self, session: usize) -> PathBuf {
        self.folder.path().join(format!("project-{session}"))
    }
}

/// A file to read, and a gate that keeps a command waiting.
fn furnish(project: &Path) {
    create_dir_all(project).expect("a folder");
    std::fs::write(project.join("there.txt"), "one\n").expect("a file");
    let (kind, mode) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
    mknodat(CWD, project.join("gate"), kind, mode, 0).expect("a gate");
}
