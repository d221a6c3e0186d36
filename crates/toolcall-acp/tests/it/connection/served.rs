//! Extension methods that are answered before the SDK sees them.
//! What serves them cannot hurt the connection.

use std::sync::Arc;
use std::sync::Mutex;

use serde_json::{Value, json};
use toolcall_acp::peer::PeerError;

use crate::connection::support::{connected, running_alone, with_sdk};

async fn check(call: &str, expected: &str) {
    let (peer, mut far) = running_alone();
    peer.serve("_echo", Ok);
    peer.serve("_strict", |_| Err(PeerError::Malformed));
    peer.serve("_gone", |_| Err(PeerError::Gone));
    peer.serve("_panic", |_| panic!("while it serves"));
    peer.serve("_refuse", |_| {
        Err(PeerError::Answered {
            code: 7,
            message: "no".to_owned(),
            data: Some(json!("never")),
        })
    });
    far.say(call).await;
    assert_eq!(far.hear().await, expected);
}

#[tokio::test(start_paused = true)]
async fn a_request_is_answered() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"_echo","params":{"a":[1.5,"\u00e9"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1.5,"é"]}}"#,
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
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"invalid params"}}"#,
    )
    .await;
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"_gone"}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}"#,
    )
    .await;
    let panicked = "internal error: the method panicked";
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"_panic"}"#,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"{panicked}"}}}}"#),
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_notification_is_heard_and_not_answered() {
    let (peer, transport, mut far) = connected();
    let (mut requests, _connection) = with_sdk(transport);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = heard.clone();
    peer.serve("_tell", move |params| {
        hearing.lock().unwrap().push(params);
        Ok(json!("dropped"))
    });
    far.say(r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#)
        .await;
    far.say(r#"{"jsonrpc":"2.0","id":1,"method":"_other"}"#)
        .await;
    let other = requests.recv().await.unwrap();
    other.respond(Value::Null).unwrap();
    assert_eq!(
        far.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#
    );
    assert_eq!(*heard.lock().unwrap(), [json!([1])]);
}

#[tokio::test(start_paused = true)]
async fn an_id_in_use_is_refused_until_it_is_answered() {
    let (peer, transport, mut far) = connected();
    let (mut requests, _connection) = with_sdk(transport);
    peer.serve("_echo", Ok);
    let hold = r#"{"jsonrpc":"2.0","id":"a\u0062","method":"_hold"}"#;
    let echo = r#"{"jsonrpc":"2.0","id":"ab","method":"_echo"}"#;
    let refused = |id: &str| {
        let message = format!("invalid request: `id` {id} is in use until it is answered");
        let message = serde_json::to_string(&message).unwrap();
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-32600,"message":{message}}}}}"#)
    };
    far.say(hold).await;
    let held = requests.recv().await.unwrap();
    far.say(hold).await;
    assert_eq!(far.hear().await, refused(r#""a\u0062""#));
    far.say(echo).await;
    assert_eq!(far.hear().await, refused(r#""ab""#));
    held.respond(json!(1)).unwrap();
    assert_eq!(
        far.hear().await,
        r#"{"jsonrpc":"2.0","id":"ab","result":1}"#
    );
    far.say(echo).await;
    assert_eq!(
        far.hear().await,
        r#"{"jsonrpc":"2.0","id":"ab","result":null}"#
    );
    far.say(hold).await;
    let held = requests.recv().await.unwrap();
    held.respond(json!(2)).unwrap();
    assert_eq!(
        far.hear().await,
        r#"{"jsonrpc":"2.0","id":"ab","result":2}"#
    );
}
