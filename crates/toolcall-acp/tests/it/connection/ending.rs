//! How connections end: by the peer, by us, by a broken pipe, by being dropped.
//! What was said before is heard, and nobody waits for what cannot come.

use serde_json::json;
use toolcall_acp::lane::{Closed, TrySendError};
use toolcall_acp::peer::PeerError;
use toolcall_acp::transport::Limits;

use crate::connection::support::{connected, holding, narrowly_connected, settle};

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_go"}"#;
const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#;

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_end_of_input_is_heard() {
    let (peer, transport, mut far) = narrowly_connected(20, Limits::default());
    let (mut requests, connection) = holding(transport);
    far.say(REQUEST).await;
    let request = requests.recv().await.unwrap();
    peer.lane().send(b"an update").await.unwrap();
    request.respond(Ok(&json!("done"))).await;
    far.hang_up();
    peer.gone().await;
    settle().await;
    assert!(
        !connection.is_finished(),
        "the pipe is too narrow for all of it"
    );
    assert_eq!(far.hear_out().await, ["an update", RESPONSE]);
    connection.await.unwrap().unwrap();
    assert!(peer.lane().is_closed());
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_the_last_line_is_heard() {
    let (_peer, transport, mut far) = connected();
    let (mut requests, connection) = holding(transport);
    far.say(REQUEST).await;
    far.hang_up();
    let request = requests.recv().await.unwrap();
    settle().await;
    request.respond(Ok(&json!("done"))).await;
    connection.await.unwrap().unwrap();
    assert_eq!(far.hear_out().await, [RESPONSE]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_nobody_answers_does_not_keep_the_connection() {
    let (_peer, transport, mut far) = connected();
    let (mut requests, connection) = holding(transport);
    far.say(REQUEST).await;
    far.hang_up();
    let _held = requests.recv().await.unwrap();
    connection.await.unwrap().unwrap();
    assert_eq!(far.hear_out().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_we_hang_up_is_heard_though_the_peer_stays() {
    let (peer, transport, mut far) = narrowly_connected(20, Limits::default());
    let (_requests, connection) = holding(transport);
    peer.notify("_bye", &json!({})).await.unwrap();
    peer.hang_up();
    settle().await;
    assert!(!connection.is_finished(), "the pipe is too narrow for it");
    let bye = r#"{"jsonrpc":"2.0","method":"_bye","params":{}}"#;
    assert_eq!(far.hear_out().await, [bye]);
    connection.await.unwrap().unwrap();
    peer.gone().await;
    assert_eq!(peer.lane().send(b"late").await, Err(Closed));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_dropped_leaves_nobody_waiting() {
    let (peer, transport, mut far) = connected();
    let (_requests, connection) = holding(transport);
    let asker = peer.clone();
    let asking = tokio::spawn(async move { asker.request("_ask", &json!({})).await });
    far.hear().await;
    connection.abort();
    assert_eq!(asking.await.unwrap(), Err(PeerError::Gone));
    peer.gone().await;
    assert_eq!(peer.lane().try_send(|_| ()), Err(TrySendError::Closed));
    assert_eq!(far.hear_out().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_never_runs_leaves_nobody_waiting() {
    let (peer, transport, _far) = connected();
    drop(transport);
    peer.gone().await;
    assert_eq!(peer.request("_ask", &json!({})).await, Err(PeerError::Gone));
    assert_eq!(peer.notify("_tell", &json!({})).await, Err(Closed));
    assert_eq!(peer.request_and_forget("_ask", &json!({})), Err(Closed));
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_does_not_listen_any_more_ends_the_connection() {
    let (peer, transport, far) = connected();
    let (_requests, connection) = holding(transport);
    settle().await;
    let _mouth = far.stop_listening();
    let speaker = peer.clone();
    tokio::spawn(async move { while speaker.notify("_tell", &json!({})).await.is_ok() {} });
    peer.gone().await;
    connection.await.unwrap().unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn closing_the_lane_ends_a_connection_that_runs_alone() {
    let (peer, transport, mut far) = connected();
    let running = tokio::spawn(transport.run_alone());
    far.hang_up();
    peer.gone().await;
    peer.notify("_tell", &json!([1])).await.unwrap();
    peer.lane().close();
    running.await.unwrap().unwrap();
    let told = r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#;
    assert_eq!(far.hear_out().await, [told]);
}

#[tokio::test(start_paused = true)]
async fn closing_the_lane_still_writes_what_was_pending() {
    let (peer, transport, mut far) = connected();
    let (mut requests, connection) = holding(transport);
    far.say(REQUEST).await;
    let request = requests.recv().await.unwrap();
    peer.notify("_tell", &json!([1])).await.unwrap();
    peer.lane().close();
    request.respond(Ok(&json!("too late"))).await;
    connection.await.unwrap().unwrap();
    let told = r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#;
    assert_eq!(far.hear_out().await, [told]);
}
