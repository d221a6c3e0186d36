//! A registry that changes while an engine uses it, and what makes a tool another tool.
//! How servers change it is tested with the servers.

use std::sync::Arc;

use serde_json::json;
use tokio::sync::Notify;
use toolcall::{
    AllowAll, Annotations, CustomTool, Ending, Engine, Registry, SharedRegistry, ToolDefinition,
    ToolRequest,
};

fn definition(name: &str) -> ToolDefinition {
    ToolDefinition::new(name, format!("Does {name}."), json!({"type": "object"}))
}

fn saying(name: &str, words: &'static str) -> Arc<CustomTool> {
    let run = move |_, _| async move { Ok(words) };
    Arc::new(CustomTool::new(definition(name), run))
}

fn names(registry: &Registry) -> Vec<&str> {
    registry.definitions().map(|tool| &*tool.name).collect()
}

#[test]
fn a_tool_that_is_removed_leaves_the_others_as_they_are() {
    let mut registry = Registry::new();
    for name in ["a", "b", "c"] {
        let mut definition = definition(name);
        definition.aliases = vec![format!("{name}_too").into()];
        let tool = CustomTool::new(definition, |_, _| async { Ok(()) });
        registry.add_any(Arc::new(tool)).unwrap();
    }
    assert!(registry.remove("b_too"));
    assert!(!registry.remove("b"));
    assert_eq!(names(&registry), ["a", "c"]);
    let found = |name: &str| registry.definition(name).map(|tool| tool.name.to_string());
    assert_eq!(found("a_too").as_deref(), Some("a"));
    assert_eq!(found("c_too").as_deref(), Some("c"));
    assert_eq!((found("b"), found("b_too")), (None, None));
    registry.add_any(saying("b", "again")).unwrap();
    assert_eq!(names(&registry), ["a", "c", "b"]);
}

#[tokio::test]
async fn an_engine_sees_a_change_at_its_next_call() {
    let registry = SharedRegistry::new(Registry::new());
    let engine = Engine::builder(registry.clone()).policy(AllowAll).build();
    let mut changes = registry.changes();
    let before = registry.snapshot();
    registry
        .change(|tools| tools.add_any(saying("work", "one")).map(drop))
        .unwrap();
    changes.changed().await.unwrap();
    assert_eq!(*changes.borrow(), 1);
    assert_eq!(
        (names(&before).len(), names(&engine.registry()).len()),
        (0, 1)
    );
    let outcome = engine.run(ToolRequest::new("work", json!({}))).await;
    assert_eq!(outcome.result().content, ["one".into()]);
    registry.change(|tools| tools.remove("work"));
    let outcome = engine.run(ToolRequest::new("work", json!({}))).await;
    let expected = Ending::failed("there is no tool `work`: no tools are registered");
    assert_eq!(*outcome.ending(), expected);
}

#[tokio::test]
async fn a_call_keeps_the_tool_that_it_found() {
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begins, goes_on) = (begun.clone(), go_on.clone());
    let slow = CustomTool::new(definition("work"), move |_, _| {
        let (begins, goes_on) = (begins.clone(), goes_on.clone());
        async move {
            begins.notify_one();
            goes_on.notified().await;
            Ok("old")
        }
    });
    let registry = SharedRegistry::new(Registry::new());
    registry
        .change(|tools| tools.add_any(Arc::new(slow)).map(drop))
        .unwrap();
    let engine = Engine::builder(registry.clone()).policy(AllowAll).build();
    let turn = engine.turn();
    let running = turn.call(ToolRequest::new("work", json!({}))).await;
    begun.notified().await;
    registry.change(|tools| {
        tools.remove("work");
        tools.add_any(saying("work", "new")).map(drop).unwrap();
    });
    let other = engine.run(ToolRequest::new("work", json!({}))).await;
    go_on.notify_one();
    assert_eq!(running.await.result().content, ["old".into()]);
    assert_eq!(other.result().content, ["new".into()]);
}

#[test]
fn what_a_provider_is_and_claims_makes_another_tool_and_a_registered_name_does_not() {
    let plain = definition("work");
    let digest = |change: fn(&mut ToolDefinition)| {
        let mut changed = definition("work");
        change(&mut changed);
        changed.identity()
    };
    let served = digest(|tool| tool.provider = "npx server".into());
    assert_ne!(served.digest, plain.identity().digest);
    assert_ne!(
        served.digest,
        digest(|tool| tool.provider = "npx other".into()).digest
    );
    let claiming = digest(|tool| {
        tool.annotations = Annotations {
            read_only: Some(true),
            ..Annotations::default()
        };
    });
    assert_ne!(claiming.digest, plain.identity().digest);
    let renamed = digest(|tool| {
        tool.name = "server__work".into();
        tool.native_name = Some("work".into());
    });
    assert_eq!(renamed, plain.identity());
}
