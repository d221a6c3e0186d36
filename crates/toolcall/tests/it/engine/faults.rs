//! Hosts, stores, sketches and readers that misbehave, and limits at their edges.
//! Every call still gets its ending.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolcall::*;

use crate::engine::support::*;

fn rt() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

#[test]
fn limits_hold_on_a_second_runtime_too() {
    let quick = custom("quick", |_, _| async { Ok("x") });
    let slow = custom("slow", |_, _| async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok("slept")
    });
    let engine = Engine::builder(registry_of(vec![quick, slow]))
        .policy(AllowAll)
        .limits(Limits {
            run: Duration::from_millis(200),
            ..Limits::default()
        })
        .build();
    rt().block_on(engine.run(ToolRequest::new("quick", json!({}))));
    let outcome = rt().block_on(engine.run(ToolRequest::new("slow", json!({}))));
    assert_eq!(outcome.ending().name(), "timed_out");
}

struct BadHost(MemoryHost);
impl Host for BadHost {
    fn resolve<'a>(
        &'a self,
        path: &'a std::path::Path,
    ) -> BoxFuture<'a, Result<std::path::PathBuf, HostError>> {
        self.0.resolve(path)
    }
    fn read<'a>(&'a self, p: &'a std::path::Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        self.0.read(p)
    }
    fn apply<'a>(&'a self, e: &'a FileEdit) -> BoxFuture<'a, Result<AppliedEdit, HostError>> {
        self.0.apply(e)
    }
    fn run<'a>(
        &'a self,
        c: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>> {
        self.0.run(c, console)
    }
    fn keep(&self, _: &CallId, _: &[u8]) -> Result<Spill, HostError> {
        panic!("keep")
    }
}

/// Checks that the call has an outcome and that its turn ends.
async fn assert_ends(engine: &Engine, tool: &'static str) {
    let turn = engine.turn();
    let handle = turn.call(ToolRequest::new(tool, json!({}))).await;
    let got = tokio::spawn(handle).await;
    let ended = tokio::time::timeout(Duration::from_secs(4), turn.end()).await;
    assert_eq!((got.is_ok(), ended.is_ok()), (true, true));
}

#[tokio::test]
async fn a_host_that_panics_costs_no_ending() {
    let long = custom("long", |_, _| async { Ok("0123456789".repeat(100_000)) });
    let engine = Engine::builder(registry_of(vec![long]))
        .policy(AllowAll)
        .host(Arc::new(BadHost(MemoryHost::default())))
        .build();
    assert_ends(&engine, "long").await;
}

#[tokio::test]
async fn children_that_nobody_waits_for_are_cancelled() {
    static LIVE: AtomicUsize = AtomicUsize::new(0);
    let inner = custom("inner", |_, _| async {
        LIVE.fetch_add(1, Ordering::SeqCst);
        std::future::pending::<()>().await;
        Ok("x")
    });
    let outer = custom("outer", |_, context: RunContext| async move {
        for _ in 0..50 {
            let _ = tokio::time::timeout(
                Duration::from_millis(1),
                context.call(ToolRequest::new("inner", json!({}))),
            )
            .await;
        }
        Ok(format!("{}", LIVE.load(Ordering::SeqCst)))
    });
    let engine = Engine::builder(registry_of(vec![inner, outer]))
        .policy(AllowAll)
        .limits(Limits {
            nested: 4,
            running: 4,
            unreported: 4,
            ..Limits::default()
        })
        .build();
    let o = engine.run(ToolRequest::new("outer", json!({}))).await;
    let Content::Text(t) = &o.result().content[0] else {
        panic!()
    };
    assert!(t.parse::<usize>().unwrap() <= 4, "{t} nested calls at once");
}

#[tokio::test]
async fn what_comes_after_the_engine_is_cancelled() {
    let quick = custom("quick", |_, _| async { Ok("x") });
    let engine = Engine::builder(registry_of(vec![quick]))
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    drop(engine);
    let o = turn.call(ToolRequest::new("quick", json!({}))).await.await;
    assert_ne!(o.ending().name(), "completed");
}

#[tokio::test]
async fn tests_that_fail_after_every_edit_are_run_every_time() {
    let t = custom("run_tests", |_, _| async {
        Err::<String, _>(ToolError::new("exit code 1"))
    });
    let e = custom("edit", |_, _| async { Ok("edited") });
    let engine = Engine::builder(registry_of(vec![t, e]))
        .policy(AllowAll)
        .build();
    for n in 0..6 {
        engine.run(ToolRequest::new("edit", json!({"n": n}))).await;
        let o = engine.run(ToolRequest::new("run_tests", json!({}))).await;
        assert!(
            o.call.has_started(),
            "test run {n} was not run: {:?}",
            o.ending()
        );
    }
}

#[tokio::test]
async fn a_structured_result_alone_reaches_the_model() {
    let t = custom("s", |_, _| async {
        Ok(ToolResult::default().structured(json!({"answer": 42})))
    });
    let engine = Engine::builder(registry_of(vec![t]))
        .policy(AllowAll)
        .build();
    let o = engine.run(ToolRequest::new("s", json!({}))).await;
    assert_ne!(o.for_model().content, vec![Content::text("(no output)")]);
}

struct SketchPanics;
impl AnyTool for SketchPanics {
    fn definition(&self) -> &ToolDefinition {
        static D: std::sync::OnceLock<ToolDefinition> = std::sync::OnceLock::new();
        D.get_or_init(|| definition("sk"))
    }
    fn sketch(&self, _: &Value) -> Option<Sketch> {
        panic!("sketch")
    }
    fn run<'a>(
        &'a self,
        _: Arc<Value>,
        _: &'a RunContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(().into()) })
    }
}
#[tokio::test]
async fn a_sketch_that_panics_is_inferred() {
    let mut r = Registry::new();
    r.add_any(Arc::new(SketchPanics)).unwrap();
    let engine = Engine::builder(r).policy(AllowAll).build();
    let got = tokio::spawn(async move {
        engine
            .run(ToolRequest::new("sk", json!({})))
            .await
            .ending()
            .name()
    })
    .await;
    assert!(got.is_ok(), "the panic reached the agent's loop");
}

#[tokio::test]
async fn the_budget_is_for_the_whole_result() {
    let t = custom("big", |_, _| async {
        Ok(ToolResult::from(vec![
            Content::text("x".repeat(64 * 1024));
            256
        ]))
    });
    let engine = Engine::builder(registry_of(vec![t]))
        .policy(AllowAll)
        .build();
    let o = engine.run(ToolRequest::new("big", json!({}))).await;
    let n: usize = o
        .for_model()
        .content
        .iter()
        .map(|c| match c {
            Content::Text(t) => t.len(),
            _ => 0,
        })
        .sum();
    assert!(
        n < 200_000,
        "{n} bytes for the model with a budget of 64 KiB"
    );
}

#[tokio::test]
async fn a_store_that_panics_at_the_end_costs_no_ending() {
    struct StorePanickingAtEnd;
    impl Store for StorePanickingAtEnd {
        fn append(&self, r: Record) -> Receipt {
            if matches!(r.event, Event::Finished(_)) {
                panic!("store")
            }
            Receipt::safe()
        }
        fn load(&self, _: &SessionId) -> Result<Vec<Record>, StoreError> {
            Ok(vec![])
        }
    }
    let quick = custom("quick", |_, _| async { Ok("x") });
    let engine = Engine::builder(registry_of(vec![quick]))
        .policy(AllowAll)
        .store(StorePanickingAtEnd)
        .build();
    assert_ends(&engine, "quick").await;
}
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_tool_that_blocks_while_it_prepares_holds_up_nobody() {
    let (release, held) = std::sync::mpsc::sync_channel::<()>(0);
    let held = std::sync::Mutex::new(held);
    let blocks = custom("block", |_, _| async { Ok("x") }).preparing(move |_| {
        let _released = held.lock().map(|held| held.recv());
        Ok(Intent::new(Kind::Other, "Block"))
    });
    let quick = tool("quick", |_, _| async { Ok("x") });
    let limits = Limits {
        prepare: Duration::from_millis(10),
        ..Limits::default()
    };
    let engine = Engine::builder(registry_of(vec![Arc::new(blocks), quick]))
        .policy(AllowAll)
        .limits(limits)
        .build();
    let turn = engine.turn();
    let blocked = turn.call(ToolRequest::new("block", json!({}))).await;
    let quick = turn.call(ToolRequest::new("quick", json!({}))).await;
    assert_eq!(quick.await.ending(), &Ending::Completed);
    assert_eq!(
        blocked.await.ending(),
        &Ending::failed("the tool took over 10ms to prepare")
    );
    drop(release);
}

#[tokio::test]
async fn an_endless_grace_stops_no_watch() {
    let q = custom("slow", |_, s: RunContext| async move {
        s.cancelled().await;
        Ok("x")
    });
    let r = registry_of(vec![Arc::new(q)]);
    let engine = Engine::builder(r)
        .policy(AllowAll)
        .limits(Limits {
            run: Duration::from_millis(100),
            grace: Duration::MAX,
            ..Limits::default()
        })
        .build();
    let o = tokio::time::timeout(
        Duration::from_secs(3),
        engine.run(ToolRequest::new("slow", json!({}))),
    )
    .await;
    assert!(o.is_ok(), "the watchman died");
}

#[tokio::test]
async fn a_cancelled_turn_waits_for_no_reader() {
    struct TicketHolder(Vec<Ticket>);
    impl Reader for TicketHolder {
        fn read(&mut self, _: &ToolCall, _: &Event, t: &Ticket) {
            self.0.push(t.clone());
        }
    }
    let q = custom("q", |_, _| async { Ok("x") });
    let r = registry_of(vec![Arc::new(q)]);
    let engine = Engine::builder(r)
        .policy(AllowAll)
        .reader(TicketHolder(vec![]))
        .limits(Limits {
            unreported: 1,
            ..Limits::default()
        })
        .build();
    let turn = engine.turn();
    turn.call(ToolRequest::new("q", json!({}))).await.await;
    turn.cancel();
    assert!(
        tokio::time::timeout(
            Duration::from_secs(1),
            turn.call(ToolRequest::new("q", json!({})))
        )
        .await
        .is_ok(),
        "admission hangs in a cancelled turn"
    );
}

#[tokio::test]
async fn a_store_that_always_panics_ends_the_call_undone() {
    struct PanickingStore;
    impl Store for PanickingStore {
        fn append(&self, r: Record) -> Receipt {
            if !matches!(r.event, Event::Announced(_)) {
                panic!("store")
            }
            Receipt::safe()
        }
        fn load(&self, _: &SessionId) -> Result<Vec<Record>, StoreError> {
            Ok(vec![])
        }
    }
    let q = custom("q", |_, _| async { Ok("x") });
    let r = registry_of(vec![Arc::new(q)]);
    let engine = Engine::builder(r)
        .policy(AllowAll)
        .store(PanickingStore)
        .build();
    let outcome = engine.run(ToolRequest::new("q", json!({}))).await;
    assert!(
        !outcome.call.has_started(),
        "its decision could not be kept"
    );
    assert_eq!(
        outcome.ending(),
        &Ending::failed("the history could not be used: the store panicked")
    );
}
