//! Nested calls: recorded under their parent, within its permits, ended with it.
//! A nested call is judged like any other.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use toolcall::*;

use crate::engine::support::*;

/// A tool that calls another and returns how that ended.
fn delegating(name: &str, to: &'static str) -> Arc<CustomTool> {
    tool(name, move |input, context| async move {
        let outcome = context.call(ToolRequest::new(to, (*input).clone())).await;
        Ok(format!(
            "{}: {}",
            outcome.ending().name(),
            text_of(&outcome.result().content)
        ))
    })
}

#[tokio::test]
async fn a_nested_call_is_a_call_of_its_own() {
    let log = Log::default();
    let host = MemoryHost::default().with_file("/w/a", "content");
    let engine = engine(registry([delegating("delegate", "read_file")]), &log)
        .host(Arc::new(host))
        .policy(AllowAll)
        .build();
    let outcome = engine
        .run(ToolRequest::new("delegate", json!({"path": "a"})))
        .await;
    assert_eq!(text_of(&outcome.result().content), "completed: content");
    assert_eq!(
        log.order(),
        [
            "c-1 announced",
            "c-1 prepared",
            "c-1 decided",
            "c-1 started",
            "c-2 announced",
            "c-2 prepared",
            "c-2 decided",
            "c-2 started",
            "c-2 finished",
            "c-1 finished",
        ]
    );
    let Event::Announced(child) = &log
        .all()
        .into_iter()
        .find(|(call, _)| *call == id(2))
        .unwrap()
        .1
    else {
        panic!("a call begins with its announcement");
    };
    assert_eq!(child.parent, Some(id(1)));
}

#[tokio::test]
async fn parents_cannot_starve_their_children() {
    let log = Log::default();
    let limits = Limits {
        running: 1,
        unreported: 1,
        ..Limits::default()
    };
    let inner = tool("inner", |_, _| async { Ok("deep") });
    let engine = engine(
        registry([
            inner,
            delegating("middle", "inner"),
            delegating("outer", "middle"),
        ]),
        &log,
    )
    .policy(AllowAll)
    .limits(limits)
    .build();
    let outcome = engine.run(ToolRequest::new("outer", json!({}))).await;
    assert_eq!(
        text_of(&outcome.result().content),
        "completed: completed: deep"
    );
}

#[tokio::test]
async fn a_child_never_waits_for_its_own_parent() {
    let log = Log::default();
    let host = MemoryHost::default().with_file("/w/a", "one");
    let refactor = custom("refactor", |_, context| async move {
        let edit = json!({"path": "a", "old": "one", "new": "1"});
        let outcome = context.call(ToolRequest::new("edit_file", edit)).await;
        Ok(outcome.ending().name())
    });
    let refactor = refactor.preparing(|context| {
        Ok(Intent::new(Kind::Edit, "Refactor").touching(Touch::Writes(context.path("a"))))
    });
    let engine = engine(registry([Arc::new(refactor)]), &log)
        .host(Arc::new(host))
        .policy(AllowAll)
        .build();
    let turn = engine.turn();
    let parent = turn.call(ToolRequest::new("refactor", json!({}))).await;
    let read = turn
        .call(ToolRequest::new("read_file", json!({"path": "a"})))
        .await;
    assert_eq!(text_of(&parent.await.result().content), "completed");
    assert_eq!(
        text_of(&read.await.result().content),
        "1",
        "what waited for the parent sees the child's work"
    );
}

#[tokio::test]
async fn children_are_cancelled_with_their_parent() {
    let (log, bell) = (Log::default(), Arc::new(Notify::new()));
    let engine = engine(
        registry([waiting("wait", &bell), delegating("outer", "wait")]),
        &log,
    )
    .policy(AllowAll)
    .build();
    let turn = engine.turn();
    let call = turn.call(ToolRequest::new("outer", json!({}))).await;
    settle().await;
    assert!(engine.cancel(call.id()));
    let outcome = call.await;
    assert_eq!(
        outcome.ending(),
        &Ending::Cancelled {
            by: Canceller::Person
        }
    );
    let endings = log
        .all()
        .into_iter()
        .filter_map(|(call, event)| match event {
            Event::Finished(finish) => Some((call, finish.ending.clone())),
            _ => None,
        });
    assert_eq!(
        endings.collect::<Vec<_>>(),
        [
            (
                id(2),
                Ending::Cancelled {
                    by: Canceller::Parent
                }
            ),
            (
                id(1),
                Ending::Cancelled {
                    by: Canceller::Person
                }
            ),
        ]
    );
}

#[tokio::test]
async fn nesting_has_an_end() {
    let log = Log::default();
    let engine = engine(registry([delegating("again", "again")]), &log)
        .policy(AllowAll)
        .build();
    let outcome = engine.run(ToolRequest::new("again", json!({}))).await;
    assert_eq!(outcome.ending(), &Ending::Completed);
    let announced = log
        .all()
        .iter()
        .filter(|(_, event)| event.name() == "announced")
        .count();
    assert_eq!(
        announced,
        Limits::default().depth + 2,
        "the deepest is refused"
    );
}
