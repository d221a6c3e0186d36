//! Dry runs: what a call would do, without running it.
//! Nothing is announced, asked or run, and nothing of a denied path is revealed.

use std::sync::Arc;

use serde_json::json;
use toolcall::*;

use crate::engine::support::*;

fn host() -> Arc<MemoryHost> {
    let host = MemoryHost::default().with_file("/w/a", "old text");
    Arc::new(host.with_file("/w/secret", "s3cr3t"))
}

fn guard(intent: &Intent, _setting: &SessionContext) -> Verdict {
    let secret = |touch: &Touch| matches!(touch, Touch::Reads(path) if path.ends_with("secret"));
    if intent.touches.iter().any(secret) {
        Verdict::deny("secret", "`secret` is protected")
    } else {
        Verdict::ask("rest", intent)
    }
}

#[tokio::test]
async fn a_dry_run_returns_the_intent_and_leaves_nothing() {
    let (log, host) = (Log::default(), host());
    let engine = engine(registry([]), &log)
        .host(host.clone())
        .policy(guard)
        .approver(|_| async { panic!("nobody is asked") })
        .build();
    let edit = json!({"path": "a", "old": "old", "new": "new"});
    let request = ToolRequest::new("edit_file", edit.clone());
    let prepared = engine.dry_run(request).await.unwrap();
    assert_eq!(*prepared.input, edit);
    assert!(
        prepared
            .intent
            .touches
            .contains(&Touch::Writes("/w/a".into()))
    );
    assert_eq!(log.all(), []);
    assert_eq!(host.file("/w/a"), Some(FileBody::Text("old text".into())));
}

#[tokio::test]
async fn a_dry_run_ends_as_the_call_would() {
    let engine = engine(registry([]), &Log::default())
        .host(host())
        .policy(guard)
        .build();
    let dry_run = async |tool: &str, input| engine.dry_run(ToolRequest::new(tool, input)).await;
    let secret = json!({"path": "secret", "old": "s3cr3t", "new": "x"});
    assert_eq!(
        dry_run("edit_file", secret).await,
        Err(Ending::denied("`secret` is protected"))
    );
    for (tool, input) in [("edit_file", json!({"path": 7})), ("edit_files", json!({}))] {
        let ending = dry_run(tool, input).await.unwrap_err();
        assert!(matches!(ending, Ending::Failed { .. }), "{ending:?}");
    }
}
