//! Requests to the peer: answered, refused, withdrawn, or left without an answer.
//! Each request has exactly one of these outcomes.

use std::pin::pin;
use std::task::Poll;

use serde_json::{Value, json};
use toolcall_acp::lane::Closed;
use toolcall_acp::peer::{Peer, PeerError, RpcError};
use toolcall_acp::transport::ConnectionLimits;

use crate::connection::support::{
    RemotePeer, narrowly_connected, poll_once, running_alone, settle,
};

fn asked(peer: &Peer) -> tokio::task::JoinHandle<Result<Value, PeerError>> {
    let peer = peer.clone();
    tokio::spawn(async move { peer.request("_ask", &json!({"what": 1})).await })
}

/// Sends a request and answers it with this line. Returns its outcome.
async fn answered(answer: &str) -> Result<Value, PeerError> {
    let (peer, mut remote) = running_alone();
    let asking = asked(&peer);
    let request = r#"{"jsonrpc":"2.0","id":"toolcall-1","method":"_ask","params":{"what":1}}"#;
    assert_eq!(remote.receive().await, request);
    remote.send(answer).await;
    asking.await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn an_answer_comes_back_as_it_is() {
    let answer =
        r#"{"jsonrpc":"2.0","id":"toolcall-1","result":{"kind":"never heard of","n":1.5}}"#;
    let expected = json!({"kind": "never heard of", "n": 1.5});
    assert_eq!(answered(answer).await, Ok(expected));
    let answer = r#"{"result":null,"id":"\u0074oolcall-1","jsonrpc":"2.0","more":0}"#;
    assert_eq!(answered(answer).await, Ok(Value::Null));
}

#[tokio::test(start_paused = true)]
async fn an_error_comes_back_with_everything_it_says() {
    let answer =
        r#"{"jsonrpc":"2.0","id":"toolcall-1","error":{"code":-7,"message":"no","data":[1]}}"#;
    let error = PeerError::Answered(RpcError::new(-7, "no").data(json!([1])));
    assert_eq!(error.to_string(), "the peer answered with error -7: no");
    assert_eq!(answered(answer).await, Err(error));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_none_does_not_leave_anybody_waiting() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":"toolcall-1","error":"no"}"#,
        r#"{"jsonrpc":"2.0","id":"toolcall-1","result":1,"error":null}"#,
        r#"{"jsonrpc":"2.0","id":"toolcall-1","result":"\ud800"}"#,
        r#"{"jsonrpc":"2.0","id":"toolcall-1","result":{broken"#,
        r#"{"id":"toolcall-1","result":1}"#,
    ] {
        assert_eq!(
            answered(answer).await,
            Err(PeerError::Malformed),
            "{answer}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_request_in_any_order() {
    let (peer, mut remote) = running_alone();
    let asking: Vec<_> = (0..10).map(|_| asked(&peer)).collect();
    for _ in 0..10 {
        remote.receive().await;
    }
    for id in (1..=10).rev() {
        let answer = json!({"jsonrpc": "2.0", "id": format!("toolcall-{id}"), "result": id});
        remote.send(answer.to_string()).await;
    }
    for (at, asking) in asking.into_iter().enumerate() {
        assert_eq!(asking.await.unwrap(), Ok(json!(at + 1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_is_withdrawn_and_its_late_answer_dropped() {
    let (peer, mut remote) = running_alone();
    let asking = asked(&peer);
    remote.receive().await;
    asking.abort();
    let withdrawn =
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"toolcall-1"}}"#;
    assert_eq!(remote.receive().await, withdrawn);
    remote
        .send(r#"{"jsonrpc":"2.0","id":"toolcall-1","result":"late"}"#)
        .await;
    assert_alive(&peer, &mut remote).await;
}

async fn assert_alive(peer: &Peer, remote: &mut RemotePeer) {
    peer.notify("_alive", &json!([])).await.unwrap();
    assert_eq!(
        remote.receive().await,
        r#"{"jsonrpc":"2.0","method":"_alive","params":[]}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_answered_is_not_withdrawn() {
    let (peer, mut remote) = running_alone();
    let ask = json!({});
    let mut asking = Box::pin(peer.request("_ask", &ask));
    assert_eq!(poll_once(&mut asking).await, Poll::Pending);
    remote.receive().await;
    remote
        .send(r#"{"jsonrpc":"2.0","id":"toolcall-1","result":1}"#)
        .await;
    settle().await;
    drop(asking);
    assert_alive(&peer, &mut remote).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_before_it_was_sent_sends_nothing() {
    let limits = ConnectionLimits {
        lane: 1,
        ..ConnectionLimits::default()
    };
    let (peer, transport, mut remote) = narrowly_connected(1000, limits);
    peer.lane().send(b"full").await.unwrap();
    let ask = json!({});
    let mut asking = Box::pin(peer.request("_ask", &ask));
    assert_eq!(poll_once(&mut asking).await, Poll::Pending);
    drop(asking);
    tokio::spawn(transport.run_without_methods());
    assert_eq!(remote.receive().await, "full");
    assert_alive(&peer, &mut remote).await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_ends_every_request() {
    let (peer, mut remote) = running_alone();
    let asking = asked(&peer);
    remote.receive().await;
    remote.close();
    assert_eq!(asking.await.unwrap(), Err(PeerError::Gone));
    assert_eq!(peer.request("_ask", &json!({})).await, Err(PeerError::Gone));
    // Lines to the peer are still sent.
    assert_alive(&peer, &mut remote).await;
}

#[tokio::test(start_paused = true)]
async fn more_requests_than_can_wait_wait_for_a_place() {
    let limits = ConnectionLimits {
        requests: 2,
        ..ConnectionLimits::default()
    };
    let (peer, transport, mut remote) = narrowly_connected(1000, limits);
    tokio::spawn(transport.run_without_methods());
    let mut asking: Vec<_> = (0..3).map(|_| asked(&peer)).collect();
    remote.receive().await;
    remote.receive().await;
    settle().await;
    assert_eq!(peer.lane().counters().lines, 2);
    asking.remove(0).abort();
    let received = [remote.receive().await, remote.receive().await];
    assert!(received[0].contains("$/cancel_request"), "{received:?}");
    assert!(received[1].contains(r#""id":"toolcall-3""#), "{received:?}");
}

#[tokio::test(start_paused = true)]
async fn a_request_waiting_for_its_turn_fails_when_the_connection_ends() {
    let limits = ConnectionLimits {
        requests: 1,
        ..ConnectionLimits::default()
    };
    let (peer, transport, mut remote) = narrowly_connected(1000, limits);
    tokio::spawn(transport.run_without_methods());
    let params = json!({});
    // It still counts as unanswered, because its future is not polled.
    let mut first = pin!(peer.request("_ask", &params));
    assert_eq!(poll_once(&mut first).await, Poll::Pending);
    let second = asked(&peer);
    settle().await;
    remote.close();
    assert_eq!(second.await.unwrap(), Err(PeerError::Gone));
}

#[tokio::test(start_paused = true)]
async fn a_request_nobody_waits_for_goes_at_once_and_its_answer_is_dropped() {
    let limits = ConnectionLimits {
        lane: 1,
        ..ConnectionLimits::default()
    };
    let (peer, transport, mut remote) = narrowly_connected(1000, limits);
    peer.lane().send(b"full").await.unwrap();
    assert_eq!(
        peer.request_and_forget("_release", &json!({"id": 1})),
        Ok(())
    );
    tokio::spawn(transport.run_without_methods());
    assert_eq!(remote.receive().await, "full");
    let release = r#"{"jsonrpc":"2.0","id":"toolcall-1","method":"_release","params":{"id":1}}"#;
    assert_eq!(remote.receive().await, release);
    remote
        .send(r#"{"jsonrpc":"2.0","id":"toolcall-1","result":null}"#)
        .await;
    assert_alive(&peer, &mut remote).await;
}

#[tokio::test(start_paused = true)]
async fn parameters_that_cannot_be_written_send_nothing() {
    let (peer, mut remote) = running_alone();
    let bad = std::collections::HashMap::from([(vec![1], "a list is no name")]);
    assert_eq!(peer.request("_ask", &bad).await, Err(PeerError::Malformed));
    assert_eq!(peer.notify("_tell", &bad).await, Ok::<(), Closed>(()));
    assert_eq!(peer.request_and_forget("_ask", &bad), Ok(()));
    assert_alive(&peer, &mut remote).await;
}

#[tokio::test(start_paused = true)]
async fn a_peer_can_be_used_from_any_thread() {
    fn moves<T: Send>(future: T) -> T {
        future
    }
    let (peer, _remote) = running_alone();
    let params = json!({});
    let mut asking = pin!(moves(peer.request("_ask", &params)));
    assert_eq!(poll_once(&mut asking).await, Poll::Pending);
    moves(peer.notify("_tell", &params)).await.unwrap();
    drop(moves(peer.gone()));
}
