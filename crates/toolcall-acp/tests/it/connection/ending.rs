//! How connections end: by the peer, by us, by a broken pipe, by being dropped.
//! Lines sent before the end are received, and no request waits for ever.

use serde_json::json;
use toolcall_acp::lane::{Closed, TrySendError};
use toolcall_acp::peer::PeerError;
use toolcall_acp::transport::ConnectionLimits;

use crate::connection::support::{connected, holding, narrowly_connected, settle};

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_go"}"#;
const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#;

#[tokio::test(start_paused = true)]
async fn lines_sent_before_the_end_of_input_are_received() {
    let (peer, transport, mut remote) = narrowly_connected(20, ConnectionLimits::default());
    let (mut requests, connection) = holding(transport);
    remote.send(REQUEST).await;
    let request = requests.recv().await.unwrap();
    peer.lane().send(b"an update").await.unwrap();
    request.respond(Ok(&json!("done"))).await;
    remote.close();
    peer.gone().await;
    settle().await;
    assert!(
        !connection.is_finished(),
        "the pipe is too narrow for all of it"
    );
    assert_eq!(remote.receive_all().await, ["an update", RESPONSE]);
    connection.await.unwrap().unwrap();
    assert!(peer.lane().is_closed());
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_the_last_line_is_received() {
    let (_peer, transport, mut remote) = connected();
    let (mut requests, connection) = holding(transport);
    remote.send(REQUEST).await;
    remote.close();
    let request = requests.recv().await.unwrap();
    settle().await;
    request.respond(Ok(&json!("done"))).await;
    connection.await.unwrap().unwrap();
    assert_eq!(remote.receive_all().await, [RESPONSE]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_answers_does_not_keep_the_connection() {
    let (_peer, transport, mut remote) = connected();
    let (mut requests, connection) = holding(transport);
    remote.send(REQUEST).await;
    remote.close();
    let _held = requests.recv().await.unwrap();
    connection.await.unwrap().unwrap();
    assert_eq!(remote.receive_all().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn lines_sent_before_we_hang_up_are_received_though_the_peer_stays() {
    let (peer, transport, mut remote) = narrowly_connected(20, ConnectionLimits::default());
    let (_requests, connection) = holding(transport);
    peer.notify("_bye", &json!({})).await.unwrap();
    peer.stop_reading();
    settle().await;
    assert!(!connection.is_finished(), "the pipe is too narrow for it");
    let bye = r#"{"jsonrpc":"2.0","method":"_bye","params":{}}"#;
    assert_eq!(remote.receive_all().await, [bye]);
    connection.await.unwrap().unwrap();
    peer.gone().await;
    assert_eq!(peer.lane().send(b"late").await, Err(Closed));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_dropped_leaves_nobody_waiting() {
    let (peer, transport, mut remote) = connected();
    let (_requests, connection) = holding(transport);
    let requester = peer.clone();
    let asking = tokio::spawn(async move { requester.request("_ask", &json!({})).await });
    remote.receive().await;
    connection.abort();
    assert_eq!(asking.await.unwrap(), Err(PeerError::Gone));
    peer.gone().await;
    assert_eq!(peer.lane().try_send(|_| ()), Err(TrySendError::Closed));
    assert_eq!(remote.receive_all().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_never_runs_leaves_nobody_waiting() {
    let (peer, transport, _remote) = connected();
    drop(transport);
    peer.gone().await;
    assert_eq!(peer.request("_ask", &json!({})).await, Err(PeerError::Gone));
    assert_eq!(peer.notify("_tell", &json!({})).await, Err(Closed));
    assert_eq!(peer.request_and_forget("_ask", &json!({})), Err(Closed));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_listen_any_more_ends_the_connection() {
    let (peer, transport, remote) = connected();
    let (_requests, connection) = holding(transport);
    settle().await;
    let _writer = remote.stop_reading();
    let sender = peer.clone();
    tokio::spawn(async move { while sender.notify("_tell", &json!({})).await.is_ok() {} });
    peer.gone().await;
    connection.await.unwrap().unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn closing_the_lane_ends_a_connection_that_runs_alone() {
    let (peer, transport, mut remote) = connected();
    let running = tokio::spawn(transport.run_without_methods());
    remote.close();
    peer.gone().await;
    peer.notify("_tell", &json!([1])).await.unwrap();
    peer.lane().close();
    running.await.unwrap().unwrap();
    let expected = r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#;
    assert_eq!(remote.receive_all().await, [expected]);
}

#[tokio::test(start_paused = true)]
async fn closing_the_lane_still_writes_what_was_pending() {
    let (peer, transport, mut remote) = connected();
    let (mut requests, connection) = holding(transport);
    remote.send(REQUEST).await;
    let request = requests.recv().await.unwrap();
    peer.notify("_tell", &json!([1])).await.unwrap();
    peer.lane().close();
    request.respond(Ok(&json!("too late"))).await;
    connection.await.unwrap().unwrap();
    let expected = r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#;
    assert_eq!(remote.receive_all().await, [expected]);
}
