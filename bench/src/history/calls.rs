//! A whole call with a history, against the same call without one.
//! The tool does nothing, so that the difference is the history.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;
use toolcall::{
    AllowAll, Announced, CallId, CustomTool, Decision, Effect, Ending, Engine, Event, Finish,
    Input, Intent, Journal, Judge, Kind, NoStore, Outline, Output, Prepared, Registry, RuleName,
    RunContext, Store, Ticket, ToolDefinition, ToolError, ToolRequest, ToolResult,
};
use toolcall_history::{Durability, History, HistoryConfig, KeepUndo};

use super::{file, folder};
use crate::{Case, Options, Row};

const CALLS: u32 = 2_000;
const IN_FLIGHT: usize = 64;

pub(crate) fn run(options: &Options) -> Vec<Row> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .expect("a runtime");
    let case = |name: &str, durability, in_flight: usize| {
        Case::new(name, options).operations(CALLS).compare_measured(
            || with_history(&runtime, durability, in_flight),
            || carried(&runtime, NoStore, in_flight),
        )
    };
    vec![
        case(
            "a call with a history, one at a time, against none",
            Durability::Process,
            1,
        ),
        case(
            "a call with a history, 64 in flight, against none",
            Durability::Process,
            IN_FLIGHT,
        ),
        case(
            "the same, safe from a loss of power",
            Durability::Power,
            IN_FLIGHT,
        ),
    ]
}

fn with_history(runtime: &Runtime, durability: Durability, in_flight: usize) -> Duration {
    let folder = folder();
    let settings = HistoryConfig {
        durability,
        undo: KeepUndo::No,
        ..HistoryConfig::default()
    };
    let history = History::open(file(&folder), settings).expect("a history");
    carried(runtime, history, in_flight)
}

fn carried(runtime: &Runtime, store: impl Store, in_flight: usize) -> Duration {
    runtime.block_on(async {
        let engine = Arc::new(engine(store));
        let began = Instant::now();
        let share = CALLS as usize / in_flight;
        let tasks: Vec<_> = (0..in_flight)
            .map(|_| tokio::spawn(make(engine.clone(), share)))
            .collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
        began.elapsed()
    })
}

async fn make(engine: Arc<Engine>, calls: usize) {
    let turn = engine.turn();
    for _ in 0..calls {
        let request = ToolRequest::new("read_nothing", json!({"path": "src/main.rs"}));
        let outcome = turn.call(request).await.await;
        assert!(outcome.ending().is_success(), "{:?}", outcome.ending());
    }
}

fn engine(store: impl Store) -> Engine {
    let mut registry = Registry::new();
    let definition =
        ToolDefinition::new("read_nothing", "Reads nothing", json!({"type": "object"}));
    let tool = CustomTool::new(definition, |_input, _scope: RunContext| async {
        Ok::<_, ToolError>("nothing was read")
    });
    let tool = tool.preparing(|look| {
        let path = look.path(look.input()["path"].as_str().unwrap_or_default());
        Ok(Intent::new(Kind::Read, "Read nothing").reading(path))
    });
    registry.add_any(Arc::new(tool)).expect("the tool is fine");
    Engine::builder(registry)
        .policy(AllowAll)
        .store(store)
        .cwd("/work")
        .build()
}

/// The five events of a call that reads a file, as an engine writes them.
pub(crate) fn live(journal: &Journal, id: &CallId, number: u32) {
    let path = format!("src/module_{}.rs", number % 997);
    let input = Arc::new(json!({ "path": path }));
    let announced = Announced {
        tool: TOOLS[number as usize % TOOLS.len()].into(),
        model_id: None,
        parent: None,
        input: Some(Input::Json(input.clone())),
        outline: Outline::inferred(Kind::Read),
    };
    let begun = journal.announce(id, announced, Ticket::default());
    assert_eq!(begun, Ok(()));
    let intent = Intent::new(Kind::Read, format!("Read {path}")).reading(format!("/work/{path}"));
    let decision = Decision {
        question: None,
        effect: Effect::Allow,
        by: Judge::Rule(RuleName::new("reads-in-the-project")),
    };
    let finish = Finish {
        ending: Ending::Completed,
        result: ToolResult::from(format!("fn main() {{ println!(\"{{}}\", {number}); }}")),
        output: Arc::new(Output::default()),
    };
    for event in [
        Event::Prepared(Arc::new(Prepared { input, intent })),
        Event::Decided(Arc::new(decision)),
        Event::Started,
        Event::Finished(Arc::new(finish)),
    ] {
        journal.write(id, event).expect("it has a place");
    }
}

const TOOLS: [&str; 5] = [
    "read_file",
    "edit_file",
    "search_files",
    "run_command",
    "fetch",
];
