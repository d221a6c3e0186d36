//! What a call of an MCP server's tool costs through registry, engine and our client, against bare rmcp.
//! Both sides call the same server, which is this program started again and does nothing.

use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolcall::{AllowAll, Engine, Registry, SharedRegistry, ToolRequest};
use toolcall_tools::mcp::{Program, ServerEnvironment, ServerSettings, Servers};

use crate::{Case, Options, Row, Target};

const CALLS: u32 = 5_000;

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    let (ours, bare) = runtime.block_on(async { (Ours::start().await, start_bare().await) });
    let compare = |case: Case, in_flight| {
        case.operations(CALLS).compare_measured(
            || carried(&runtime, &ours, in_flight),
            || called(&runtime, &bare, in_flight),
        )
    };
    vec![
        compare(
            Case::new("one call at a time, against bare rmcp", options),
            1,
        ),
        compare(
            Case::new("64 calls in flight, against bare rmcp", options).target(Target::AtMost(1.5)),
            64,
        ),
    ]
}

struct Ours {
    engine: Arc<Engine>,
    /// Held, for the server goes with it.
    _servers: Servers,
}

impl Ours {
    async fn start() -> Self {
        let program = Program::new(this_program(), ["--sender", "mcp"], []);
        let registry = SharedRegistry::new(Registry::new());
        let surroundings = ServerEnvironment::new(vec![std::env::temp_dir()], std::env::vars_os());
        let settings = vec![ServerSettings::new("bench", program)];
        let servers = Servers::new(settings, &surroundings, registry.clone()).expect("one server");
        servers.start();
        servers.settled().await;
        let engine = Engine::builder(registry).policy(AllowAll).build();
        Self {
            engine: Arc::new(engine),
            _servers: servers,
        }
    }
}

async fn start_bare() -> RunningService<RoleClient, ()> {
    let mut command = tokio::process::Command::new(this_program());
    command.args(["--sender", "mcp"]);
    let transport = TokioChildProcess::new(command).expect("this program can start itself");
    ().serve(transport).await.expect("it greets")
}

fn this_program() -> String {
    let path = std::env::current_exe().expect("this program has a path");
    path.to_str().expect("which is text").to_owned()
}

/// Names no file: calls that name the same one are made one after the other.
fn input() -> Value {
    json!({"text": "boil water", "line": 7, "words": ["tea", "cup"]})
}

fn carried(runtime: &Runtime, ours: &Ours, in_flight: usize) -> Duration {
    let engine = ours.engine.clone();
    runtime.block_on(timed(in_flight, move || {
        let engine = engine.clone();
        async move {
            let outcome = engine.run(ToolRequest::new("work", input())).await;
            assert!(outcome.ending().is_success(), "{:?}", outcome.ending());
        }
    }))
}

fn called(runtime: &Runtime, bare: &RunningService<RoleClient, ()>, in_flight: usize) -> Duration {
    let peer = bare.peer().clone();
    runtime.block_on(timed(in_flight, move || {
        let peer = peer.clone();
        async move {
            let Value::Object(input) = input() else {
                unreachable!("the input is an object");
            };
            let params = CallToolRequestParams::new("work").with_arguments(input);
            let result = peer.call_tool(params).await.expect("it answers");
            assert_ne!(result.is_error, Some(true));
        }
    }))
}

/// Does all calls, so many at once.
async fn timed<F>(in_flight: usize, call: impl Fn() -> F + Clone + Send + 'static) -> Duration
where
    F: Future<Output = ()> + Send + 'static,
{
    let began = Instant::now();
    let left = Arc::new(AtomicU32::new(CALLS));
    let tasks: Vec<_> = (0..in_flight)
        .map(|_| {
            let (call, left) = (call.clone(), left.clone());
            tokio::spawn(async move {
                let take = |left: u32| left.checked_sub(1);
                while left
                    .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                    .is_ok()
                {
                    call().await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no call panics");
    }
    began.elapsed()
}

/// Plays the server: it answers at once, and does nothing.
pub(crate) fn play() -> ExitCode {
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in stdin.lines() {
        let Ok(Ok(message)) = line.map(|line| serde_json::from_str::<Value>(&line)) else {
            return ExitCode::FAILURE;
        };
        let Some(id) = message.get("id") else {
            continue;
        };
        let body = match message["method"].as_str() {
            Some("initialize") => {
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                                         "serverInfo": {"name": "bench", "version": "1"}})
            }
            Some("tools/list") => {
                json!({"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
            }
            Some("tools/call") => json!({"content": [{"type": "text", "text": "done"}]}),
            Some(_) | None => Value::Null,
        };
        let answer = if body.is_null() {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})
        } else {
            json!({"jsonrpc": "2.0", "id": id, "result": body})
        };
        if writeln!(stdout, "{answer}")
            .and_then(|()| stdout.flush())
            .is_err()
        {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
