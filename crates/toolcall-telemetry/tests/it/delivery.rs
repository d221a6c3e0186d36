//! Collectors that are gone, slow, busy or reject spans: no call is affected, and every span is counted.
//! It does not look at the spans themselves.

use std::time::Duration;

use toolcall_telemetry::{DeliveryError, DeliveryStats, Settings, StartError, Telemetry};

use crate::receiver::{Receiver, Reply, decoded};
use crate::setup::{LONG, clock, engine, run};

/// Makes two calls of three spans each; returns the stats.
async fn two_calls(settings: Settings) -> DeliveryStats {
    let telemetry = Telemetry::start(settings).unwrap();
    let engine = engine(&telemetry, &clock());
    for _ in 0..2 {
        assert!(run(&engine, "print").await.ending().is_success());
    }
    telemetry.close(LONG).await
}

fn stats(sent: u64, dropped: u64, why: Option<DeliveryError>) -> DeliveryStats {
    DeliveryStats { sent, dropped, why }
}

#[tokio::test]
async fn a_request_is_what_the_protocol_asks_for() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let settings = receiver.settings().header("x-key", "hidden").unwrap();
    assert!(!format!("{settings:?}").contains("hidden"));
    assert_eq!(two_calls(settings).await, stats(6, 0, None));
    let received = receiver.received();
    assert_eq!(received.len(), 1, "one batch");
    let head = received[0].head.to_lowercase();
    for line in [
        "post /v1/traces http/1.1",
        "content-type: application/x-protobuf",
        "x-key: hidden",
    ] {
        assert!(head.lines().any(|said| said == line), "{line} in {head}");
    }
    let request = decoded(&received[0]);
    let resource = request.resource_spans[0].resource.clone().unwrap();
    assert_eq!(resource.attributes[0].key, "service.name");
}

#[tokio::test]
async fn nothing_is_connected_before_there_is_a_span() {
    let receiver = Receiver::answering([Reply::Accepted]).await;
    let telemetry = Telemetry::start(receiver.settings()).unwrap();
    let _engine = engine(&telemetry, &clock());
    assert_eq!(telemetry.close(LONG).await, DeliveryStats::default());
    assert_eq!(receiver.connections(), 0);
}

#[test]
fn without_a_runtime_it_does_not_begin() {
    let settings = Settings::new("http://127.0.0.1:9/v1/traces").unwrap();
    assert_eq!(
        Telemetry::start(settings).err(),
        Some(StartError::NoRuntime)
    );
}

#[tokio::test]
async fn a_collector_that_is_gone_costs_its_spans_only() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = gone.local_addr().unwrap();
    drop(gone);
    let settings = Settings::new(&format!("http://{address}/v1/traces?key=hidden")).unwrap();
    let lost = two_calls(settings).await;
    assert_eq!((lost.sent, lost.dropped), (0, 6));
    let Some(DeliveryError::Unreachable(why)) = lost.why else {
        panic!("{lost:?}");
    };
    assert!(!why.contains("hidden") && !why.is_empty(), "{why}");
}

#[tokio::test]
async fn a_collector_that_never_answers_is_given_up() {
    let receiver = Receiver::answering([Reply::Silence]).await;
    let mut settings = receiver.settings();
    settings.timeout = Duration::from_millis(50);
    let slow = DeliveryError::Slow(settings.timeout);
    assert_eq!(two_calls(settings).await, stats(0, 6, Some(slow)));
}

#[tokio::test]
async fn closing_takes_no_longer_than_it_may() {
    let receiver = Receiver::answering([Reply::Silence]).await;
    let telemetry = Telemetry::start(receiver.settings()).unwrap();
    let engine = engine(&telemetry, &clock());
    run(&engine, "print").await;
    let began = std::time::Instant::now();
    let lost = telemetry.close(Duration::from_millis(50)).await;
    assert_eq!(lost, stats(0, 3, Some(DeliveryError::Closed)));
    assert!(began.elapsed() < Duration::from_secs(5));
    run(&engine, "print").await;
    assert_eq!(telemetry.stats().dropped, 6, "nothing is taken any more");
}

#[tokio::test]
async fn a_busy_collector_is_tried_again() {
    let busy = Reply::Status(503, "retry-after: 0\r\n");
    let receiver = Receiver::answering([busy, Reply::Accepted]).await;
    let mut settings = receiver.settings();
    settings.delay = Duration::from_millis(1);
    let telemetry = Telemetry::start(settings).unwrap();
    let engine = engine(&telemetry, &clock());
    run(&engine, "print").await;
    receiver.wait_for_requests(2).await;
    assert_eq!(telemetry.close(LONG).await, stats(3, 0, None));
}

#[tokio::test]
async fn what_cannot_succeed_is_not_tried_again() {
    for status in [302, 400, 401, 404, 500] {
        let elsewhere = "location: /elsewhere\r\n";
        let receiver = Receiver::answering([Reply::Status(status, elsewhere)]).await;
        let refused = DeliveryError::Refused(status);
        assert_eq!(
            two_calls(receiver.settings()).await,
            stats(0, 6, Some(refused))
        );
        assert_eq!(receiver.received().len(), 1);
    }
}

#[tokio::test]
async fn what_a_collector_rejects_is_counted() {
    let partly = |rejected| Reply::Partial {
        rejected,
        why: "too\u{1b}[31m old",
    };
    for (rejected, counted) in [(2, 2), (99, 6)] {
        let receiver = Receiver::answering([partly(rejected)]).await;
        let got = two_calls(receiver.settings()).await;
        let why = DeliveryError::Rejected(r"too\u{1b}[31m old".to_owned());
        assert_eq!(got, stats(6 - counted, counted, Some(why)));
    }
}
