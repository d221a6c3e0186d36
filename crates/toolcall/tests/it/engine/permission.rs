//! What a tool cannot bypass: denials, its own context, the rule that the user remembered.
//! Each was a vulnerability once.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcall::*;

use crate::engine::support::*;

#[tokio::test]
async fn a_context_does_nothing_after_its_call() {
    let keep: Arc<Mutex<Option<RunContext>>> = Arc::default();
    let k = keep.clone();
    let leaky = custom("leaky", move |_, context: RunContext| {
        *k.lock().unwrap() = Some(context);
        async { Ok("x") }
    });
    let host = Arc::new(MemoryHost::default());
    let engine = Engine::builder(registry_of(vec![leaky]))
        .policy(AllowAll)
        .host(host.clone())
        .build();
    engine.run(ToolRequest::new("leaky", json!({}))).await;
    let context = keep.lock().unwrap().take().unwrap();
    let r = context.apply(&FileEdit::added("/after", "x")).await;
    assert!(r.is_err(), "wrote after the end: {:?}", host.file("/after"));
}

fn no_secret(intent: &Intent, _: &SessionContext) -> Verdict {
    let bad = |t: &Touch| matches!(t, Touch::Reads(p) | Touch::Writes(p) if p.ends_with(".env"));
    if intent.touches.iter().any(bad) {
        Verdict::deny("env", "no .env")
    } else {
        Verdict::allow("ok")
    }
}

#[tokio::test]
async fn a_denied_file_is_not_read_through_its_folder() {
    let t = custom("grep", |_, s: RunContext| async move {
        s.read_text("/w/.env").await
    })
    .preparing(|_| Ok(Intent::new(Kind::Search, "grep").reading("/w")));
    let host = Arc::new(MemoryHost::default().with_file("/w/.env", "SECRET"));
    let engine = Engine::builder(registry_of(vec![Arc::new(t)]))
        .policy(no_secret)
        .host(host)
        .build();
    let o = engine.run(ToolRequest::new("grep", json!({}))).await;
    assert_eq!(o.ending().name(), "denied", "{:?}", o.result());
}

#[tokio::test]
async fn an_unknown_touch_lifts_no_denial() {
    let t = custom("any", |_, s: RunContext| async move {
        s.apply(&FileEdit::added("/w/.env", "x")).await.map(drop)
    });
    let engine = Engine::builder(registry_of(vec![t]))
        .policy(no_secret)
        .build();
    let o = engine.run(ToolRequest::new("any", json!({}))).await;
    assert_eq!(o.ending().name(), "denied");
}

#[tokio::test]
async fn without_a_folder_nothing_lies_inside() {
    let t = custom("read", |_, s: RunContext| async move {
        s.read_text("/home/me/.ssh/id").await
    })
    .preparing(|_| Ok(Intent::new(Kind::Read, "r").reading("/home/me/.ssh/id")));
    let host = Arc::new(MemoryHost::default().with_file("/home/me/.ssh/id", "KEY"));
    let engine = Engine::builder(registry_of(vec![Arc::new(t)]))
        .policy(AskDangerous)
        .host(host)
        .build();
    let o = engine.run(ToolRequest::new("read", json!({}))).await;
    assert_eq!(o.ending().name(), "denied");
}

#[tokio::test]
async fn always_for_nothing_is_not_always_for_anything() {
    let nothing = Intent::new(Kind::Other, "n");
    let unknown = Intent::new(Kind::Other, "u").touching(Touch::Unknown);
    assert_ne!(Rule::exactly(&nothing), Rule::exactly(&unknown));
}

#[tokio::test]
async fn a_failure_reveals_nothing_that_needs_permission() {
    struct FailingEdit;
    impl Tool for FailingEdit {
        const NAME: &'static str = "edit";
        const DESCRIPTION: &'static str = "x";
        type Input = Value;
        type Output = ();
        async fn prepare(&self, _: &Value, context: &PrepareContext) -> Result<Intent, ToolError> {
            let t = context.read_text("/outside/key").await?;
            Err(ToolError::new(format!("not found in: {t}")))
        }
        async fn run(&self, _: Value, _: &RunContext) -> Result<(), ToolError> {
            Ok(())
        }
    }
    let mut r = Registry::new();
    r.add(FailingEdit).unwrap();
    let host = Arc::new(MemoryHost::default().with_file("/outside/key", "SECRET"));
    let engine = Engine::builder(r)
        .policy(AskDangerous)
        .cwd("/w")
        .host(host)
        .build();
    let o = engine.run(ToolRequest::new("edit", json!({}))).await;
    assert!(
        !format!("{:?}", o.for_model()).contains("SECRET"),
        "{:?}",
        o.ending()
    );
}

#[tokio::test]
async fn relative_paths_of_an_intent_are_made_absolute() {
    let t = custom(
        "w",
        |_, s: RunContext| async move { s.read_text("a").await },
    )
    .preparing(|_| Ok(Intent::new(Kind::Read, "r").reading("a")));
    let r = registry_of(vec![Arc::new(t)]);
    let host = Arc::new(MemoryHost::default().with_file("/w/a", "A"));
    let engine = Engine::builder(r)
        .cwd("/w")
        .policy(AskAll)
        .approver(|_| async { Answer::AllowOnce })
        .host(host)
        .build();
    let o = engine.run(ToolRequest::new("w", json!({}))).await;
    assert_eq!(o.ending().name(), "completed", "{:?}", o.ending());
}
