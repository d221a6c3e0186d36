//! How the peer's requests and notifications are handled and answered.
//! A handler cannot break the connection, and each request is answered exactly once.

use std::sync::{Arc, Mutex};

use serde_json::json;
use serde_json::value::RawValue;
use toolcall_acp::dispatch::{Dispatch, Handled, Responder};
use toolcall_acp::peer::RpcError;

use crate::connection::support::{connected, holding};

/// A handler that answers in every possible way and records notifications.
struct RecordingMethods(Arc<Mutex<Vec<String>>>);

impl Dispatch for RecordingMethods {
    fn request(&self, method: &str, params: Option<&RawValue>, to: Responder) -> Handled {
        match method {
            "_echo" => Handled::Now(to.reply(&params)),
            "_refuse" => Handled::Now(to.refuse(&RpcError::new(7, "no").data("never"))),
            "_strict" => Handled::Now(to.refuse(&RpcError::invalid_params("too few"))),
            "_drop" => Handled::Later,
            _ => panic!("while it handles"),
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map_or("nothing", RawValue::get);
        self.0.lock().unwrap().push(format!("{method} {params}"));
        assert_ne!(method, "_panic");
    }
}

async fn check(call: &str, expected: &str) {
    let (_peer, transport, mut remote) = connected();
    tokio::spawn(transport.run(RecordingMethods(Arc::default())));
    remote.send(call).await;
    assert_eq!(remote.receive().await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_request_is_answered() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"_echo","params":{"a":[1.5,"\u00e9"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1.5,"\u00e9"]}}"#,
    )
    .await;
    check(
        r#"{"jsonrpc":"2.0","id":"\u0031","method":"_\u0065cho"}"#,
        r#"{"jsonrpc":"2.0","id":"\u0031","result":null}"#,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_request_is_refused() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"_refuse"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no","data":"never"}}"#,
    )
    .await;
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"_strict"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params","data":"too few"}}"#,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_handler_panics_or_drops_it_is_answered_all_the_same() {
    for method in ["_panic", "_drop"] {
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error"}}"#,
        )
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_notification_is_handled_and_not_answered() {
    let (_peer, transport, mut remote) = connected();
    let received = Arc::new(Mutex::new(Vec::new()));
    tokio::spawn(transport.run(RecordingMethods(received.clone())));
    remote
        .send(r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#)
        .await;
    remote.send(r#"{"jsonrpc":"2.0","method":"_panic"}"#).await;
    remote
        .send(r#"{"jsonrpc":"2.0","id":1,"method":"_echo"}"#)
        .await;
    assert_eq!(
        remote.receive().await,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#
    );
    assert_eq!(*received.lock().unwrap(), ["_tell [1]", "_panic nothing"]);
}

#[tokio::test(start_paused = true)]
async fn a_withdrawn_request_is_cancelled_and_still_answered() {
    let (_peer, transport, mut remote) = connected();
    let (mut requests, _connection) = holding(transport);
    remote
        .send(r#"{"jsonrpc":"2.0","id":"a","method":"_hold"}"#)
        .await;
    let held = requests.recv().await.unwrap();
    remote
        .send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"b"}}"#)
        .await;
    remote
        .send(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"a"}}"#)
        .await;
    held.cancelled().await;
    held.respond::<()>(Err(&RpcError::request_cancelled()))
        .await;
    assert_eq!(
        remote.receive().await,
        r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32800,"message":"Request cancelled"}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_in_use_is_refused_until_it_is_answered() {
    let (_peer, transport, mut remote) = connected();
    let (mut requests, _connection) = holding(transport);
    let hold = r#"{"jsonrpc":"2.0","id":"a\u0062","method":"_hold"}"#;
    let refused = |id: &str| {
        let message = format!("invalid request: `id` {id} is in use until it is answered");
        let message = serde_json::to_string(&message).unwrap();
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":{message}}}}}"#)
    };
    remote.send(hold).await;
    let mut held = requests.recv().await.unwrap();
    remote.send(hold).await;
    assert_eq!(remote.receive().await, refused(r#""a\u0062""#));
    remote
        .send(r#"{"jsonrpc":"2.0","id":"ab","method":"_other"}"#)
        .await;
    assert_eq!(remote.receive().await, refused(r#""ab""#));
    for result in [1, 2] {
        held.respond(Ok(&json!(result))).await;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":"a\u0062","result":{result}}}"#);
        assert_eq!(remote.receive().await, answer);
        remote.send(hold).await;
        held = requests.recv().await.unwrap();
    }
}
