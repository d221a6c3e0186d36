//! Ten thousand calls: with a collector that answers, and with one that never does.
//! The queue stays bounded, no call waits, and every span is counted.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::json;
use toolcall::{AllowAll, Engine, Registry, ToolRequest};
use toolcall_telemetry::{DeliveryError, DeliveryStats, Settings, Telemetry};

use crate::receiver::{Receiver, Reply};
use crate::setup::{LONG, clock};

const CALLS: usize = 10_000;

/// The largest request, in spans.
const BATCH: usize = 512;

/// Makes calls of a missing tool, a span each; returns the stats before and after closing.
async fn many_calls(settings: Settings, limit: Duration) -> [DeliveryStats; 2] {
    let telemetry = Telemetry::start(settings).unwrap();
    let engine = Engine::builder(Registry::new())
        .policy(AllowAll)
        .clock(clock())
        .reader(telemetry.reader())
        .build();
    let turn = engine.turn();
    let mut calls = Vec::new();
    for _ in 0..CALLS {
        let request = ToolRequest::new("missing", json!({}));
        calls.push(turn.call(request).await);
    }
    for call in calls {
        call.await;
    }
    [telemetry.stats(), telemetry.close(limit).await]
}

#[tokio::test]
async fn a_collector_that_keeps_up_gets_every_span_once() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let mut settings = receiver.settings();
    settings.queue_capacity = CALLS;
    let [_, stats] = many_calls(settings, LONG).await;
    assert_eq!((stats.sent, stats.dropped), (CALLS as u64, 0));
    let spans = receiver.spans().into_iter();
    let ids: HashSet<_> = spans.map(|span| span.span_id).collect();
    assert_eq!(ids.len(), CALLS);
    assert!(receiver.received().len() <= CALLS.div_ceil(BATCH) + 1);
}

#[tokio::test]
async fn a_collector_that_never_answers_bounds_what_waits() {
    let receiver = Receiver::answering([Reply::Silence]).await;
    let settings = receiver.settings();
    let most = settings.queue_capacity + BATCH;
    let [before, after] = many_calls(settings, Duration::ZERO).await;
    let held = CALLS as u64 - before.dropped;
    assert!(held <= most as u64, "{held} spans waited or were under way");
    assert_eq!(before.why, Some(DeliveryError::Behind));
    assert_eq!((after.sent, after.dropped), (0, CALLS as u64));
}
