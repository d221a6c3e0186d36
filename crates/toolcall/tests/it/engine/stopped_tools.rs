//! How calls end whose tools notice that they were stopped.
//! A polite tool must not turn a cancel into a success or a failure.

use serde_json::json;
use toolcall::{
    AllowAll, Canceller, Content, CustomTool, Ending, Engine, Event, Registry, RunContext,
    ToolDefinition, ToolError, ToolRequest,
};

/// Runs a tool that waits for the stop and then returns this; cancels it once it runs.
async fn cancel(returns: Result<&'static str, ToolError>) -> (Ending, Vec<Content>) {
    let definition = ToolDefinition::new("wait", "Waits.", json!({"type": "object"}));
    let run = move |_input, context: RunContext| {
        let returns = returns.clone();
        async move {
            context.cancelled().await;
            returns
        }
    };
    let mut tools = Registry::new();
    let tool = CustomTool::new(definition, run);
    tools.add_any(std::sync::Arc::new(tool)).unwrap();
    let engine = Engine::builder(tools).policy(AllowAll).build();
    let mut events = engine.journal().follow(64);
    let turn = engine.turn();
    let waiting = turn.call(ToolRequest::new("wait", json!({}))).await;
    while !matches!(events.recv().await.unwrap().event, Event::Started) {}
    tokio::task::yield_now().await;
    assert!(engine.cancel(waiting.id()));
    let outcome = waiting.await;
    (outcome.ending().clone(), outcome.result().content.clone())
}

fn by_user() -> Ending {
    Ending::Cancelled {
        by: Canceller::Person,
    }
}

#[tokio::test]
async fn a_tool_that_returns_when_it_is_cancelled_has_not_completed() {
    let content = vec![Content::text("tidied up")];
    assert_eq!(cancel(Ok("tidied up")).await, (by_user(), content));
}

#[tokio::test]
async fn a_tool_that_fails_when_it_is_cancelled_has_not_failed() {
    let error = ToolError::new("I was stopped").with("half a line");
    let content = vec![Content::text("half a line")];
    assert_eq!(cancel(Err(error)).await, (by_user(), content));
}
