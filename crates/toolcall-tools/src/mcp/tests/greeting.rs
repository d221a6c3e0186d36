//! Servers of every version of the protocol, and those that know only their own.
//! What a version offers beyond the greeting is tested elsewhere.

use std::time::Duration;

use serde_json::json;

use super::fake::{Fake, NEWEST_LEGACY, session, tool};

#[tokio::test]
async fn every_version_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST_LEGACY] {
        let fake = Fake::new(move |_, mut talk| async move {
            talk.greet(version).await;
            talk.list(json!([tool("do_it")])).await;
            talk.echo().await;
        });
        let session = session(&fake).await;
        assert_eq!(session.said("do_it").await, "do_it");
        let status = session.status();
        assert_eq!(
            (status.protocol.as_str(), status.server.as_str()),
            (version, "fake 1")
        );
        assert_eq!(fake.dialled(), 1);
    }
}

#[tokio::test]
async fn the_newest_version_is_spoken_without_a_greeting() {
    let fake = Fake::new(|_, mut talk| async move {
        let discover = talk.expect("server/discover").await;
        let result = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}},
            "serverInfo": {"name": "new", "version": "2"},
        });
        talk.answer(&discover, result).await;
        talk.list(json!([tool("do_it")])).await;
        let listen = talk.expect("subscriptions/listen").await;
        let meta = json!({"io.modelcontextprotocol/subscriptionId": listen["id"]});
        let filter = json!({"toolsListChanged": true});
        talk.notify(
            "notifications/subscriptions/acknowledged",
            json!({"_meta": meta, "notifications": filter}),
        )
        .await;
        talk.notify("notifications/tools/list_changed", json!({"_meta": meta}))
            .await;
        talk.list(json!([tool("do_that")])).await;
        talk.echo().await;
    });
    let session = session(&fake).await;
    let mut changes = session.registry.changes();
    while !session.names().contains(&"do_that".to_owned()) {
        changes.changed().await.unwrap();
    }
    assert_eq!(session.said("do_that").await, "do_that");
    assert_eq!(session.status().protocol, "2026-07-28");
}

/// Servers made with early libraries end when the first word is not `initialize`.
#[tokio::test]
async fn a_server_that_ends_on_an_unknown_word_is_greeted_as_it_used_to_be() {
    let fake = Fake::new(|_, mut talk| async move {
        let Some(first) = talk.hear().await else {
            return;
        };
        if first["method"] == "initialize" {
            talk.initialized(&first, "2025-03-26").await;
            talk.list(json!([tool("do_it")])).await;
            talk.echo().await;
        }
    });
    let session = session(&fake).await;
    assert_eq!(session.said("do_it").await, "do_it");
    assert_eq!(fake.dialled(), 2);
}

/// Some servers answer anything with nothing.
#[tokio::test]
async fn a_server_that_answers_an_unknown_word_with_nothing_is_greeted_as_it_used_to_be() {
    let fake = Fake::new(|number, mut talk| async move {
        if number == 0 {
            let discover = talk.expect("server/discover").await;
            talk.answer(&discover, json!({})).await;
        }
        let initialize = talk.expect("initialize").await;
        talk.initialized(&initialize, "2025-03-26").await;
        talk.list(json!([tool("do_it")])).await;
        talk.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.said("do_it").await, "do_it");
    assert_eq!(fake.dialled(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ignores_an_unknown_word_is_greeted_as_it_used_to_be() {
    let fake = Fake::new(|_, mut talk| async move {
        let initialize = talk.expect("initialize").await;
        talk.initialized(&initialize, "2024-11-05").await;
        talk.list(json!([tool("do_it")])).await;
        talk.echo().await;
    });
    let begun = tokio::time::Instant::now();
    let session = session(&fake).await;
    assert_eq!(session.said("do_it").await, "do_it");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

/// A cold start takes longer than anybody waits for the answer to the newer greeting.
#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_answers_both_greetings() {
    let fake = Fake::new(|_, mut talk| async move {
        tokio::time::sleep(Duration::from_secs(25)).await;
        talk.greet("2025-06-18").await;
        talk.list(json!([tool("do_it")])).await;
        talk.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.said("do_it").await, "do_it");
    assert_eq!(fake.dialled(), 1);
}

/// It hears both greetings when it is ready at last, answers the first and refuses the second.
#[tokio::test(start_paused = true)]
async fn a_slow_server_of_the_newest_version_is_greeted_once_more() {
    let fake = Fake::new(|connection, mut talk| async move {
        let discover = talk.expect("server/discover").await;
        if connection == 0 {
            let greeting = talk.expect("initialize").await;
            talk.refuse(&greeting, -32600, "it was discovered already")
                .await;
            return;
        }
        let result = json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "new", "version": "2"},
        });
        talk.answer(&discover, result).await;
        talk.list(json!([tool("do_it")])).await;
        talk.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(session.said("do_it").await, "do_it");
    assert_eq!(session.status().protocol, "2026-07-28");
    assert_eq!(fake.dialled(), 2);
}

#[tokio::test]
async fn a_greeting_that_cannot_be_read_is_told_in_words() {
    let fake = Fake::new(|number, mut talk| async move {
        if number == 0 {
            let discover = talk.expect("server/discover").await;
            talk.refuse(&discover, -32601, "no").await;
        }
        let initialize = talk.expect("initialize").await;
        talk.answer(&initialize, json!({"hello": "there"})).await;
        talk.echo().await;
    });
    let session = session(&fake).await;
    assert_eq!(
        session.failure(),
        "its answer to the greeting cannot be read"
    );
}
