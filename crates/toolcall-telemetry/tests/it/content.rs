//! Inputs, outputs and reasons: in a span only if that was switched on, and then redacted.
//! `turns.rs` tests the other attributes.

use toolcall_telemetry::{ContentCapture, Redact, Settings, Telemetry};

use crate::receiver::{Receiver, Reply};
use crate::setup::{LONG, SECRET, clock, engine, run};
use crate::tree::attribute;

/// Runs a few tools that print the secret.
async fn run_tools(settings: Settings) {
    let telemetry = Telemetry::start(settings).unwrap();
    let engine = engine(&telemetry, &clock());
    for tool in ["ask_first", "fail", "nest", "missing"] {
        run(&engine, tool).await;
    }
    telemetry.close(LONG).await;
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}

#[tokio::test]
async fn no_content_leaves_unless_it_is_switched_on() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    run_tools(receiver.settings()).await;
    let received = receiver.received();
    assert!(!received.is_empty());
    for request in received {
        assert!(!contains(&request.body, SECRET));
        assert!(!contains(&request.body, "it broke"));
        assert!(!contains(&request.body, "rule-allows"));
    }
}

#[tokio::test]
async fn switched_on_it_is_there_and_redacted() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let mut settings = receiver.settings();
    settings.content = ContentCapture::On(Redact::with(|text| text.replace(SECRET, "***")));
    run_tools(settings).await;
    assert!(
        receiver
            .received()
            .iter()
            .all(|request| !contains(&request.body, SECRET))
    );
    let spans = receiver.spans();
    let value = |name: &str, key: &str| {
        let span = spans.iter().find(|span| span.name == name).unwrap();
        attribute(span, key)
    };
    let asked = "execute_tool ask_first";
    let arguments = value(asked, "gen_ai.tool.call.arguments");
    assert_eq!(arguments.as_deref(), Some(r#"{"text":"***"}"#));
    let result = value(asked, "gen_ai.tool.call.result");
    assert_eq!(result.as_deref(), Some("***done: ***"));
    let failed = spans
        .iter()
        .find(|span| span.name == "execute_tool fail")
        .unwrap();
    assert_eq!(failed.status.as_ref().unwrap().message, "it broke: ***");
    let rule = attribute(failed, "toolcall.decision.rule");
    assert_eq!(rule.as_deref(), Some("rule-allows"));
    assert_eq!(attribute(failed, "error.type").as_deref(), Some("failed"));
}
