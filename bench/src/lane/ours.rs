//! Our way, twice: ready events through encoder and lane, and whole calls through everything.
//! The lane is drained to standard output, as an agent's is.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{empty, stdout};
use tokio::runtime::Runtime;
use toolcall::{
    AllowAll, CustomTool, Engine, Event, Registry, RunContext, SessionContext, SessionId, ToolCall,
    ToolDefinition, ToolError, ToolRequest,
};
use toolcall_acp::ClientConnection;
use toolcall_acp::lane::{Lane, TrySendError};
use toolcall_acp::transport::{ConnectionLimits, connect};
use toolcall_acp::v1::{EncodeOptions, encode};

use super::CALLS;

/// How many different calls there are; they are told again and again.
pub(super) const POOL: u32 = 1_000;
const IN_FLIGHT: u32 = 64;

/// One thread, beside the one that writes: an agent has one client to talk to.
fn one_thread() -> Runtime {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    built.expect("a runtime can be built")
}

/// What `#[tokio::main]` makes of this machine.
fn two_threads() -> Runtime {
    let built = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    built.expect("a runtime can be built")
}

pub(super) fn send_on_one_thread() {
    one_thread().block_on(send_through_the_engine());
}

pub(super) fn send_on_two_threads() {
    two_threads().block_on(send_through_the_engine());
}

pub(super) fn send_ready() {
    let (lane, outlet) = Lane::new(ConnectionLimits::default().lane);
    let told = record();
    one_thread().block_on(async {
        let draining = tokio::spawn(outlet.drain(stdout()));
        for _ in 0..CALLS / POOL {
            for (call, event) in &told {
                send(&lane, call, event).await;
            }
        }
        lane.close();
        draining
            .await
            .expect("it drains")
            .expect("it can be written");
    });
}

async fn send(lane: &Lane, call: &ToolCall, event: &Event) {
    let dialect = EncodeOptions::default();
    for update in encode(call, event, &dialect) {
        while let Err(refused) = lane.try_send(|line| update.write_line(call.session(), line)) {
            assert_eq!(refused, TrySendError::Full, "the reader is gone");
            lane.room().await.expect("the reader is there");
        }
    }
}

/// The events of some calls, each with its call as it was then.
pub(super) fn record() -> Vec<(ToolCall, Event)> {
    let told = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = told.clone();
    let runtime = one_thread();
    let _inside = runtime.enter();
    let engine = builder()
        .reader(move |call: &ToolCall, event: &Event| {
            seen.lock()
                .expect("a lock")
                .push((call.clone(), event.clone()));
        })
        .build();
    runtime.block_on(async {
        for _ in 0..POOL {
            engine.run(request()).await;
        }
    });
    std::mem::take(&mut *told.lock().expect("a lock"))
}

async fn send_through_the_engine() {
    let (peer, transport) = connect(empty(), stdout(), ConnectionLimits::default());
    let running = tokio::spawn(transport.run_without_methods());
    let session = ClientConnection::new(peer.clone()).open(builder());
    let tasks: Vec<_> = (0..IN_FLIGHT)
        .map(|number| {
            let session = session.clone();
            let share = CALLS / IN_FLIGHT + u32::from(number < CALLS % IN_FLIGHT);
            tokio::spawn(async move {
                let turn = session.engine().turn();
                for _ in 0..share {
                    turn.call(request()).await.await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no task panics");
    }
    session.reports().flush().await;
    peer.lane().close();
    running.await.expect("it runs").expect("it can be written");
}

fn builder() -> toolcall::EngineBuilder {
    let nothing = CustomTool::new(
        ToolDefinition::new("read_nothing", "Reads nothing", schema()),
        |_input, _scope: RunContext| async { Ok::<_, ToolError>("nothing was read") },
    );
    let nothing = nothing.preparing(|look| {
        let mut intent = look.infer();
        intent.touches.clear();
        Ok(intent)
    });
    let mut registry = Registry::new();
    registry
        .add_any(Arc::new(nothing))
        .expect("the tool is fine");
    Engine::builder(registry)
        .setting(SessionContext::new(SessionId::new("session"), "/work"))
        .policy(AllowAll)
}

fn request() -> ToolRequest {
    ToolRequest::new(
        "read_nothing",
        json!({"path": "/work/src/main.rs", "line": 10, "limit": 20}),
    )
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})
}
