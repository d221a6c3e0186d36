//! What a whole call costs: ours against the same closure, validated and spawned bare.
//! It measures calls that do nothing, so that nothing but the carrying is left.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use toolcall::{
    AllowAll, CustomTool, Engine, Event, Intent, Kind, Limits, MemoryStore, Registry, RunContext,
    ToolCall, ToolDefinition, ToolError, ToolRequest,
};

use crate::{Case, Options, Row, Target};

const CALLS: u32 = 10_000;
const IN_FLIGHT: usize = 64;
const MOST_LIVE: usize = 10_000;

/// Runs all cases.
pub(crate) fn run(options: &Options) -> Vec<Row> {
    let (alone, runtime) = (one_thread(), two_threads());
    let mut rows = vec![
        one_at_a_time(options, &alone),
        many_at_once(options, &runtime),
    ];
    rows.extend([10, 100, 1_000, MOST_LIVE].map(|live| beside_others(options, &runtime, live)));
    rows
}

/// One call after the other measures the work, not how threads wake each other.
fn one_thread() -> Runtime {
    let built = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    built.expect("a runtime can be built")
}

fn two_threads() -> Runtime {
    let built = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build();
    built.expect("a runtime can be built")
}

fn one_at_a_time(options: &Options, runtime: &Runtime) -> Row {
    let case = Case::new("one call at a time, one thread", options);
    against_bare(case.target(Target::AtMost(6.0)), runtime, 1)
}

/// For information: here both sides share one journal, or nothing, between two threads.
fn many_at_once(options: &Options, runtime: &Runtime) -> Row {
    let case = Case::new("64 calls in flight, two threads", options);
    against_bare(case, runtime, IN_FLIGHT)
}

fn against_bare(case: Case, runtime: &Runtime, in_flight: usize) -> Row {
    case.operations(CALLS).compare_measured(
        || runtime.block_on(carried(&Arc::new(engine(Arc::default())), in_flight)),
        || runtime.block_on(bare(in_flight)),
    )
}

/// Ours with many other calls open, against ours with one other.
fn beside_others(options: &Options, runtime: &Runtime, live: usize) -> Row {
    let beside = |others: usize| {
        runtime.block_on(async {
            let hold = Arc::new(Notify::new());
            let engine = Arc::new(engine(hold));
            let turn = engine.turn();
            for _ in 0..others {
                drop(turn.call(ToolRequest::new("wait_forever", json!({}))).await);
            }
            let time = carried(&engine, IN_FLIGHT).await;
            turn.end().await;
            time
        })
    };
    Case::new(format!("beside {live} live calls, against 1"), options)
        .operations(CALLS)
        .target(Target::AtMost(2.0))
        .compare_measured(|| beside(live), || beside(1))
}

/// Does all calls through the engine.
async fn carried(engine: &Arc<Engine>, in_flight: usize) -> Duration {
    let began = Instant::now();
    let left = Arc::new(AtomicU64::new(u64::from(CALLS)));
    in_flight_tasks(in_flight, |_| {
        let (engine, left) = (engine.clone(), left.clone());
        async move {
            let turn = engine.turn();
            while take_one(&left) {
                let outcome = turn
                    .call(ToolRequest::new("read_nothing", input()))
                    .await
                    .await;
                assert!(outcome.ending().is_success(), "{:?}", outcome.ending());
            }
        }
    })
    .await;
    began.elapsed()
}

/// Does the same closure, validated and spawned bare.
async fn bare(in_flight: usize) -> Duration {
    let validator = jsonschema::validator_for(&schema()).expect("the schema is valid");
    let validator = Arc::new(validator);
    let began = Instant::now();
    let left = Arc::new(AtomicU64::new(u64::from(CALLS)));
    in_flight_tasks(in_flight, |_| {
        let (validator, left) = (validator.clone(), left.clone());
        async move {
            while take_one(&left) {
                let input = input();
                assert!(validator.is_valid(&input));
                let done = tokio::spawn(do_nothing(input)).await;
                assert!(done.is_ok_and(|done| done.is_ok()));
            }
        }
    })
    .await;
    began.elapsed()
}

async fn in_flight_tasks<F: Future<Output = ()> + Send + 'static>(
    count: usize,
    task: impl Fn(usize) -> F,
) {
    let tasks: Vec<_> = (0..count)
        .map(|number| tokio::spawn(task(number)))
        .collect();
    for task in tasks {
        task.await.expect("no task panics");
    }
}

fn take_one(left: &AtomicU64) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}

fn engine(hold: Arc<Notify>) -> Engine {
    let mut registry = Registry::new();
    let nothing = CustomTool::new(
        ToolDefinition::new("read_nothing", "Reads nothing", schema()),
        |input, _scope: RunContext| do_nothing(input),
    );
    let nothing = nothing.preparing(|look| {
        let path = look.path(look.input()["path"].as_str().unwrap_or_default());
        Ok(Intent::new(Kind::Read, "Read nothing").reading(path))
    });
    let wait = CustomTool::new(
        ToolDefinition::new("wait_forever", "Waits", json!({"type": "object"})),
        move |_input, scope: RunContext| wait(hold.clone(), scope),
    );
    let wait = wait.preparing(|_look| Ok(Intent::new(Kind::Other, "Wait")));
    registry
        .add_any(Arc::new(nothing))
        .expect("the tool is fine");
    registry.add_any(Arc::new(wait)).expect("the tool is fine");
    let limits = Limits {
        running: MOST_LIVE + IN_FLIGHT,
        unreported: MOST_LIVE + 2 * IN_FLIGHT,
        ..Limits::default()
    };
    let seen = AtomicU64::new(0);
    Engine::builder(registry)
        .policy(AllowAll)
        .store(MemoryStore::default())
        .reader(move |_call: &ToolCall, _event: &Event| {
            seen.fetch_add(1, Ordering::Relaxed);
        })
        .limits(limits)
        .cwd("/work")
        .build()
}

async fn do_nothing(_input: impl Send) -> Result<&'static str, ToolError> {
    Ok("nothing was read")
}

async fn wait(hold: Arc<Notify>, scope: RunContext) -> Result<(), ToolError> {
    tokio::select! {
        () = hold.notified() => {}
        () = scope.cancelled() => {}
    }
    Ok(())
}

fn input() -> Value {
    json!({"path": "src/main.rs", "line": 10, "limit": 20})
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file"},
            "line": {"type": "integer", "minimum": 1, "description": "The first line"},
            "limit": {"type": "integer", "description": "How many lines"}
        },
        "required": ["path"]
    })
}
