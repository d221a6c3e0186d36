//! Handshakes with servers of every protocol version, including those that know only their own.
//! What a version offers beyond the handshake is tested elsewhere.

use std::time::Duration;

use serde_json::json;

use super::fake::{FakeServer, NEWEST_LEGACY, session, tool};

#[tokio::test]
async fn every_version_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_LEGACY] {
        let fake = FakeServer::new(move |_, mut connection| async move {
            connection.handshake(version).await;
            connection.list(json!([tool("do_it")])).await;
            connection.echo().await;
        });
        let session = session(&fake).await;
        assert_eq!(session.result_text("do_it").await, "do_it");
        let status = session.status();
        assert_eq!(
            (status.protocol.as_str(), status.server.as_str()),
            (version, "fake 1")
        );
        assert_eq!(fake.connection_count(), 1);
    }
}

#[tokio::test]
async fn the_newest_version_needs_no_initialize() {
    let fake = FakeServer::new(|_, mut connection| async move {
        let discover = connection.expect("server/discover").await;
        let result = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "new", "version": "2"},
        });
        connection.answer(&discover, result).await;
        connection.list(json!([tool("do_it")])).await;
        let listen = connection.expect("subscriptions/listen").await;
        let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
        let filter = json!({"toolsListChanged": true});
        connection
            .notify(
                "notifications/subscriptions/acknowledged",
                json!({"_meta": meta, "notifications": filter}),
            )
            .await;
        connection
            .notify("notifications/tools/list_changed", json!({"_meta": meta}))
            .await;
        connection.list(json!([tool("do_that")])).await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    let mut changes = session.registry.changes();
    while !session.names().contains(&"do_that".to_owned()) {
        changes.changed().await.unwrap();
    }
    assert_eq!(session.result_text("do_that").await, "do_that");
    assert_eq!(session.status().protocol, "2026-07-28");
}

/// Servers built on early libraries exit when the first message is not `initialize`.
#[tokio::test]
async fn a_server_that_exits_on_an_unknown_method_gets_initialize() {
    let fake = FakeServer::new(|_, mut connection| async move {
        let Some(first) = connection.receive().await else {
            return;
        };
        if first["method"] == "initialize" {
            connection.initialized(&first, "2025-03-26").await;
            connection.list(json!([tool("do_it")])).await;
            connection.echo().await;
        }
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("do_it").await, "do_it");
    assert_eq!(fake.connection_count(), 2);
}

/// Some servers answer an unknown method with an empty result.
#[tokio::test]
async fn a_server_that_answers_an_unknown_method_with_nothing_gets_initialize() {
    let fake = FakeServer::new(|number, mut connection| async move {
        if number == 0 {
            let discover = connection.expect("server/discover").await;
            connection.answer(&discover, json!({})).await;
        }
        let initialize = connection.expect("initialize").await;
        connection.initialized(&initialize, "2025-03-26").await;
        connection.list(json!([tool("do_it")])).await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("do_it").await, "do_it");
    assert_eq!(fake.connection_count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_an_unknown_method_gets_initialize() {
    let fake = FakeServer::new(|_, mut connection| async move {
        let initialize = connection.expect("initialize").await;
        connection.initialized(&initialize, "2024-11-05").await;
        connection.list(json!([tool("do_it")])).await;
        connection.echo().await;
    });
    let begun = tokio::time::Instant::now();
    let session = session(&fake).await;
    assert_eq!(session.result_text("do_it").await, "do_it");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// A cold start takes longer than the client waits for the answer to the newer handshake.
#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_answers_both_handshakes() {
    let fake = FakeServer::new(|_, mut connection| async move {
        tokio::time::sleep(Duration::from_secs(25)).await;
        connection.handshake("2025-06-18").await;
        connection.list(json!([tool("do_it")])).await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("do_it").await, "do_it");
    assert_eq!(fake.connection_count(), 1);
}

/// When the server is ready at last, it reads both handshakes, answers the first and refuses the second.
#[tokio::test(start_paused = true)]
async fn a_slow_server_of_the_newest_version_gets_another_handshake() {
    let fake = FakeServer::new(|number, mut connection| async move {
        let discover = connection.expect("server/discover").await;
        if number == 0 {
            let initialize = connection.expect("initialize").await;
            connection
                .refuse(&initialize, -32600, "it was discovered already")
                .await;
            return;
        }
        let result = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "new", "version": "2"},
        });
        connection.answer(&discover, result).await;
        connection.list(json!([tool("do_it")])).await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.result_text("do_it").await, "do_it");
    assert_eq!(session.status().protocol, "2026-07-28");
    assert_eq!(fake.connection_count(), 2);
}

#[tokio::test]
async fn an_unreadable_handshake_is_reported() {
    let fake = FakeServer::new(|number, mut connection| async move {
        if number == 0 {
            let discover = connection.expect("server/discover").await;
            connection.refuse(&discover, -32601, "no").await;
        }
        let initialize = connection.expect("initialize").await;
        connection
            .answer(&initialize, json!({"hello": "there"}))
            .await;
        connection.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(
        session.failure(),
        "its answer to the handshake cannot be read"
    );
}
