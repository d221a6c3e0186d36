//! Servers that crash, hang, or send garbage: the call fails with a reason, and other calls go on.
//! Time is paused in all tests of a time limit.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;
use toolcall::ToolRequest;

use super::super::lines::LONGEST_LINE;
use super::fake::{FakeServer, result_text, session, settings, tool, unstarted};

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up() {
    let mut patient = settings("fake");
    patient.timeouts.start = Duration::from_secs(30);
    let fake = FakeServer::new(|_, connection| async move {
        let _held = connection;
        std::future::pending().await
    });
    let session = unstarted(vec![(patient, fake)]);
    session.servers.start();
    session.servers.settled().await;
    assert_eq!(session.failure(), "it was not ready within 30s");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_lists_is_given_up() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.handshake("2025-06-18").await;
        let _held = connection;
        std::future::pending().await
    });
    let session = session(&fake).await;
    assert_eq!(session.failure(), "it did not list its tools within 30s");
}

/// Half a line and then silence: the call times out, and the server does not count as failed.
#[tokio::test(start_paused = true)]
async fn half_a_line_is_no_answer() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        let call = connection.call().await;
        connection
            .send_bytes(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"resu", call["id"]).as_bytes())
            .await;
        connection.expect("notifications/cancelled").await;
        connection.send_bytes(b"lt\":{}}\n").await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(
        session.result_text("work").await,
        "timed_out: timed out after 300s"
    );
    assert_eq!(session.result_text("work").await, "work");
    assert_eq!(fake.connection_count(), 1);
}

#[tokio::test]
async fn garbage_is_skipped_and_logged() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection
            .send_bytes(b"Starting up...\n\n\xef\xbb\xbf\n")
            .await;
        connection.begin(json!([tool("work")])).await;
        let call = connection.call().await;
        connection
            .send_bytes(b"{\"almost\": json\n\xff\xfe\n[1,2]\n\"text\"\nnull\n")
            .await;
        connection.answer_text(&call, "done").await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("work").await, "done");
    assert_eq!(session.result_text("work").await, "work");
    let log = session.status().log.join("\n");
    assert!(
        log.contains("a line that is no message: Starting up..."),
        "{log}"
    );
}

#[tokio::test]
async fn nothing_but_babble_is_no_server() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        connection.call().await;
        for _ in 0..2_000 {
            connection.send_bytes(b"la la la\n").await;
        }
        std::future::pending().await
    });
    let session = session(&fake).await;
    let reason = session.result_text("work").await;
    assert!(
        reason.starts_with("failed: the server `fake` is gone: the connection ended"),
        "{reason}"
    );
    assert!(
        reason.ends_with("it prints what is no message again and again"),
        "{reason}"
    );
    assert!(session.status().log.len() < 50);
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_call_and_no_other() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        let long = connection.call().await;
        let short = connection.call().await;
        connection
            .send_bytes(
                b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"",
            )
            .await;
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..=LONGEST_LINE / piece.len() {
            connection.send_bytes(&piece).await;
        }
        connection
            .send_bytes(format!("\"}}]}},\"id\":{}}}\n", long["id"]).as_bytes())
            .await;
        connection.answer_text(&short, "short").await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    let turn = session.engine.turn();
    let long = turn.call(ToolRequest::new("work", json!({"n": 1}))).await;
    let short = turn.call(ToolRequest::new("work", json!({"n": 2}))).await;
    assert_eq!(
        result_text(&long.await),
        "failed: its answer is a line of over 16777216 bytes"
    );
    assert_eq!(result_text(&short.await), "short");
}

#[tokio::test]
async fn answers_that_are_no_json_or_no_text_fail_or_are_repaired() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        let deep = connection.call().await;
        let nested = "[".repeat(5_000);
        connection
            .send_bytes(format!("{{\"id\":{},\"result\":{nested}\n", deep["id"]).as_bytes())
            .await;
        let twice = connection.call().await;
        connection
            .send_bytes(
                format!(
                    "{{\"id\":{0},\"result\":{{}},\"result\":{{}}}}\n",
                    twice["id"]
                )
                .as_bytes(),
            )
            .await;
        let odd = connection.call().await;
        let head = format!(
            "{{\"id\":{},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"a",
            odd["id"]
        );
        connection.send_bytes(head.as_bytes()).await;
        connection.send_bytes(b"\xffb\"}]}}\n").await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    let deep = session.result_text("work").await;
    assert!(
        deep.starts_with("failed: its answer is no valid JSON: "),
        "{deep}"
    );
    let twice = session.result_text("work").await;
    assert!(twice.contains("duplicate field"), "{twice}");
    assert_eq!(session.result_text("work").await, "a\u{fffd}b");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_crashes_is_started_again_less_and_less_often() {
    let fake = FakeServer::new(|_, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        connection.call().await;
    });
    let session = session(&fake).await;
    let begun = Instant::now();
    let (mut started, mut number) = (Vec::new(), 0);
    while started.len() < 9 {
        let before = fake.connection_count();
        // An engine does not repeat the same failing call forever.
        number += 1;
        session
            .engine
            .run(ToolRequest::new("work", json!({"n": number})))
            .await;
        if fake.connection_count() > before {
            started.push(begun.elapsed().as_secs());
        } else {
            tokio::time::advance(Duration::from_millis(100)).await;
        }
    }
    // The first call found it running; each crash doubles the delay before the next start.
    let waits: Vec<u64> = started.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
    let reason = session.result_text("work").await;
    assert!(reason.contains("it is tried again after"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_goes_well_forgives_the_crashes_before() {
    let fake = FakeServer::new(|number, mut connection| async move {
        connection.begin(json!([tool("work")])).await;
        let call = connection.call().await;
        if number >= 3 {
            connection.answer_text(&call, "fine").await;
            connection.call().await;
        }
    });
    let session = session(&fake).await;
    let until_fine = async || {
        while session.result_text("work").await != "fine" {
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    };
    until_fine().await;
    assert!(
        session
            .result_text("work")
            .await
            .starts_with("failed: the server `fake` is gone")
    );
    assert_eq!(session.result_text("work").await, "fine");
}

/// A server's tools stay registered while it is down, and are not registered before its start.
#[tokio::test]
async fn no_server_is_connected_before_it_is_started_or_if_it_is_disabled() {
    let (fake, disabled) = (
        FakeServer::echoing(json!([tool("work")])),
        FakeServer::echoing(json!([tool("never")])),
    );
    let mut off = settings("off");
    off.is_disabled = true;
    let session = unstarted(vec![
        (settings("fake"), fake.clone()),
        (off, disabled.clone()),
    ]);
    tokio::task::yield_now().await;
    assert_eq!(fake.connection_count(), 0);
    session.servers.start();
    session.servers.settled().await;
    assert_eq!(
        (fake.connection_count(), disabled.connection_count()),
        (1, 0)
    );
    assert_eq!(session.names(), ["read_file", "work"]);
}
