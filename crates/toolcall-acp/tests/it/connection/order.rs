//! One queue, one order: no response overtakes an earlier line.
//! That holds whether the peer reads or not.

use serde_json::json;
use toolcall_acp::transport::ConnectionLimits;

use crate::connection::support::{connected, holding, narrowly_connected, settle};

fn request(id: usize) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "_go"}).to_string()
}

fn response(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#)
}

#[tokio::test(start_paused = true)]
async fn an_answer_does_not_overtake_updates_sent_before_it() {
    let (peer, transport, mut remote) = connected();
    let (mut requests, _connection) = holding(transport);
    remote.send(request(1)).await;
    let request = requests.recv().await.unwrap();
    let updates: Vec<_> = (0..100).map(|number| format!("update {number}")).collect();
    for update in &updates {
        let write = |line: &mut Vec<u8>| line.extend_from_slice(update.as_bytes());
        peer.lane().try_send(write).unwrap();
    }
    request.respond(Ok(&json!(null))).await;
    for update in &updates {
        assert_eq!(remote.receive().await, *update);
    }
    assert_eq!(remote.receive().await, response(1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_behind_updates_that_wait_for_room() {
    let limits = ConnectionLimits {
        lane: 50,
        ..ConnectionLimits::default()
    };
    let (peer, transport, mut remote) = narrowly_connected(200, limits);
    let (mut requests, _connection) = holding(transport);
    remote.send(request(1)).await;
    let request = requests.recv().await.unwrap();
    let reporter = peer.clone();
    tokio::spawn(async move {
        for number in 0..100 {
            let params = json!({"number": number});
            reporter.notify("_update", &params).await.unwrap();
        }
        request.respond(Ok(&json!(null))).await;
    });
    settle().await;
    assert!(
        peer.lane().counters().lines < 10,
        "the peer does not listen"
    );
    for number in 0..100 {
        let update = json!({"jsonrpc": "2.0", "method": "_update", "params": {"number": number}});
        let received: serde_json::Value = serde_json::from_str(&remote.receive().await).unwrap();
        assert_eq!(received, update);
    }
    assert_eq!(remote.receive().await, response(1));
    assert!(peer.lane().counters().max_pending < 50 + 100);
}

#[tokio::test(start_paused = true)]
async fn every_answer_comes_after_what_was_said_before_it_and_in_order() {
    let (peer, transport, mut remote) = connected();
    let (mut requests, _connection) = holding(transport);
    for id in 0..50 {
        remote.send(request(id)).await;
    }
    for id in 0..50 {
        let request = requests.recv().await.unwrap();
        peer.lane()
            .send(format!("before {id}").as_bytes())
            .await
            .unwrap();
        request.respond(Ok(&json!(null))).await;
    }
    let mut received = Vec::new();
    for _ in 0..100 {
        received.push(remote.receive().await);
    }
    let place = |line: &str| {
        received
            .iter()
            .position(|received| received == line)
            .unwrap()
    };
    let answers: Vec<_> = (0..50).map(|id| place(&response(id))).collect();
    assert!(answers.is_sorted());
    for (id, answer) in answers.into_iter().enumerate() {
        assert!(place(&format!("before {id}")) < answer, "{received:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_waits_for_room_without_being_lost() {
    let limits = ConnectionLimits {
        lane: 10,
        ..ConnectionLimits::default()
    };
    let (peer, transport, mut remote) = narrowly_connected(100, limits);
    let (mut requests, _connection) = holding(transport);
    remote.send(request(1)).await;
    let request = requests.recv().await.unwrap();
    let filler = "x".repeat(300);
    for _ in 0..2 {
        peer.lane().send(filler.as_bytes()).await.unwrap();
        settle().await;
    }
    tokio::spawn(async move { request.respond(Ok(&json!(null))).await });
    settle().await;
    assert_eq!(peer.lane().counters().lines, 2);
    assert_eq!(remote.receive().await, filler);
    assert_eq!(remote.receive().await, filler);
    assert_eq!(remote.receive().await, response(1));
}
