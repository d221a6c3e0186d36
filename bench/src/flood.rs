//! What a command that prints without end costs: memory of the agent, and time against a bare pipe.
//! The agent is a process of its own with the built-in tools; this one is its client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcall::{AllowAll, Content, Engine, Registry, SessionContext, ToolRequest};
use toolcall_acp::{Prompt, SimpleAgent, StopReason, prompt_text, serve, stdio};
use toolcall_tools::command::Supervisor;
use toolcall_tools::{Toolset, ToolsetConfig};

use crate::lane::peak_memory;
use crate::{Case, Options, Row};

const GB: u64 = 1_000_000_000;
/// For memory: far more than anybody would hold.
const MUCH: u64 = 10 * GB;
/// For time: long enough that starting does not count.
const ENOUGH: u64 = 2 * GB;
const MOST_MEMORY: u64 = 64 * 1024 * 1024;

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let case = |name: &str| Case::new(name, options);
    let time = case("2 GB through run_command, against the same pipeline read bare")
        .compare_measured(|| through_the_agent(ENOUGH).time, || bare(ENOUGH));
    let mut rows = vec![time];
    if cfg!(target_os = "linux") {
        let memory = case("memory of the agent over idle while 10 GB pass, against 64 MiB");
        rows.push(memory.within(|| through_the_agent(MUCH).memory, MOST_MEMORY));
    }
    rows
}

fn command(bytes: u64) -> String {
    format!("yes 0123456789abcdef | head -c {bytes}")
}

fn bare(bytes: u64) -> Duration {
    let began = Instant::now();
    let mut child = Command::new("sh")
        .args(["-c", &command(bytes)])
        .stdout(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    let mut pipe = child.stdout.take().expect("its output is piped");
    let (mut buffer, mut total) = (vec![0; 64 * 1024], 0);
    loop {
        match pipe.read(&mut buffer).expect("a pipe can be read") {
            0 => break,
            read => total += read as u64,
        }
    }
    assert_eq!(total, bytes);
    child.wait().expect("it ends");
    began.elapsed()
}

/// What a run took.
struct Took {
    time: Duration,
    /// Over what the agent takes when nothing happens.
    memory: u64,
}

fn through_the_agent(bytes: u64) -> Took {
    let mut agent = Agent::start();
    agent.ask(0, "initialize", json!({"protocolVersion": 1}));
    let place = json!({"cwd": agent.folder(), "mcpServers": []});
    let session = agent.ask(1, "session/new", place)["sessionId"].clone();
    let idle = peak_memory(&agent.child.id().to_string());
    let prompt = json!([{"type": "text", "text": command(bytes)}]);
    let began = Instant::now();
    agent.ask(
        2,
        "session/prompt",
        json!({"sessionId": session, "prompt": prompt}),
    );
    let time = began.elapsed();
    agent.check();
    let memory = peak_memory(&agent.child.id().to_string()).saturating_sub(idle);
    agent.end();
    Took { time, memory }
}

/// The agent, as its client sees it.
struct Agent {
    child: Child,
    lines: BufReader<ChildStdout>,
    folder: tempfile::TempDir,
    /// What the last update of the call said.
    content: String,
}

impl Agent {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut child = Command::new(std::env::current_exe().expect("this program has a path"))
            .args(["--sender", "flood"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("this program can start itself");
        let lines = BufReader::new(child.stdout.take().expect("its output is piped"));
        Self {
            child,
            lines,
            folder,
            content: String::new(),
        }
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn ask(&mut self, id: u32, method: &str, params: Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let pipe = self.child.stdin.as_mut().expect("its input is piped");
        writeln!(pipe, "{request}").expect("it listens");
        loop {
            let mut line = String::new();
            let read = self.lines.read_line(&mut line).expect("it speaks");
            assert!(read > 0, "the agent broke off");
            let mut message: Value = serde_json::from_str(&line).expect("it speaks JSON");
            let update = &message["params"]["update"];
            if update["content"].is_array() {
                self.content = update["content"].to_string();
            }
            if message["id"] == id {
                return message["result"].take();
            }
        }
    }

    /// Head and tail are there, and where the rest is.
    fn check(&self) {
        for said in ["0123456789abcdef", "bytes left out", "file://"] {
            assert!(self.content.contains(said), "`{said}` is not told");
        }
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().expect("it ends");
    }
}

/// Plays the agent: every prompt is a command.
pub(crate) fn play(supervisor: Supervisor) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let folder = std::env::current_dir().expect("a folder");
    let mut settings = ToolsetConfig::new(vec![folder.clone()], folder.join(".state"));
    settings.supervisor = Some(supervisor);
    let kit = Toolset::open(settings).expect("tools");
    let mut tools = Registry::new();
    kit.add_to(&mut tools).expect("tools");
    let (tools, host) = (Arc::new(tools), kit.host());
    let open = move |place: SessionContext| {
        let engine = Engine::builder(tools.clone()).setting(place);
        engine.host(host.clone()).policy(AllowAll)
    };
    runtime.block_on(async {
        let (client, transport) = stdio();
        let agent = SimpleAgent::new(client.clone(), open, answer);
        let served = serve(client, transport, Arc::new(agent)).await;
        served.expect("the connection ends well");
    });
    ExitCode::SUCCESS
}

async fn answer(prompt: Arc<Prompt>, said: Vec<Content>) -> StopReason {
    let input = json!({"command": prompt_text(&said)});
    prompt.call(ToolRequest::new("run_command", input)).await;
    StopReason::EndTurn
}
