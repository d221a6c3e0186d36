//! How connections end: by the peer, by us, by a broken pipe, by being dropped.
//! What was said before is heard, and nobody waits for what cannot come.

use agent_client_protocol::{
    ConnectTo, ConnectionTo, Error, Responder, Role, UntypedMessage, UntypedRole,
};
use serde_json::json;
use toolcall_acp::lane::{Closed, Refused};
use toolcall_acp::peer::PeerError;
use toolcall_acp::transport::Limits;

use crate::connection::support::{connected, narrowly_connected, running_alone, settle, with_sdk};

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_go"}"#;
const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#;

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_end_of_input_is_heard() {
    let (peer, transport, mut far) = narrowly_connected(20, Limits::default());
    let (mut requests, connection) = with_sdk(transport);
    far.say(REQUEST).await;
    let request = requests.recv().await.unwrap();
    peer.lane().send(b"an update").await.unwrap();
    request.respond(json!("done")).unwrap();
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
    let answer =
        async |_: UntypedMessage, responder: Responder, _| responder.respond(json!("done"));
    let builder = UntypedRole
        .builder()
        .on_receive_request(answer, agent_client_protocol::on_receive_request!());
    far.say(REQUEST).await;
    far.hang_up();
    builder.connect_to(transport).await.unwrap();
    assert_eq!(far.hear_out().await, [RESPONSE]);
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_we_end_is_heard_though_the_peer_stays() {
    let (peer, transport, mut far) = narrowly_connected(20, Limits::default());
    let speaker = peer.clone();
    let bye = async move |_: ConnectionTo<UntypedRole>| {
        speaker.notify("_bye", &json!({})).await.unwrap();
        Ok(())
    };
    let connection = tokio::spawn(UntypedRole.builder().connect_with(transport, bye));
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
    let (_requests, connection) = with_sdk(transport);
    let asker = peer.clone();
    let asking = tokio::spawn(async move { asker.request("_ask", &json!({})).await });
    far.hear().await;
    connection.abort();
    assert_eq!(asking.await.unwrap(), Err(PeerError::Gone));
    peer.gone().await;
    assert_eq!(peer.lane().try_send(|_| ()), Err(Refused::Closed));
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
    let (_requests, connection) = with_sdk(transport);
    settle().await;
    drop(far);
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
async fn closing_the_lane_under_the_sdk_still_writes_what_was_pending() {
    let (peer, transport, mut far) = connected();
    let (mut requests, connection) = with_sdk(transport);
    far.say(REQUEST).await;
    let request = requests.recv().await.unwrap();
    peer.notify("_tell", &json!([1])).await.unwrap();
    peer.lane().close();
    request.respond(json!("too late")).unwrap();
    connection.await.unwrap().unwrap_err();
    let told = r#"{"jsonrpc":"2.0","method":"_tell","params":[1]}"#;
    assert_eq!(far.hear_out().await, [told]);
}

#[tokio::test(start_paused = true)]
async fn what_serves_a_method_is_let_go_at_the_end() {
    let (peer, far) = running_alone();
    let held = std::sync::Arc::new(());
    let (inside, itself) = (held.clone(), peer.clone());
    peer.serve("_keep", move |_| {
        let _kept = (&inside, &itself);
        Ok(json!(null))
    });
    peer.lane().close();
    drop(far);
    settle().await;
    assert_eq!(std::sync::Arc::strong_count(&held), 1);
}

/// Says good-bye and is done, or answers as long as it is asked.
enum Component {
    Bye,
    Answers,
}

impl ConnectTo<UntypedRole> for Component {
    async fn connect_to(self, peer: impl ConnectTo<UntypedRole>) -> Result<(), Error> {
        let answer =
            async |_: UntypedMessage, responder: Responder, _| responder.respond(json!("done"));
        let builder = UntypedRole
            .builder()
            .on_receive_request(answer, agent_client_protocol::on_receive_request!());
        let bye = async |peer: ConnectionTo<UntypedRole>| {
            peer.send_notification(UntypedMessage::new("_bye", json!({}))?)
        };
        match self {
            Self::Bye => builder.connect_with(peer, bye).await,
            Self::Answers => builder.connect_to(peer).await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_component_that_is_done_ends_the_connection_after_what_it_said() {
    let (_peer, transport, mut far) = narrowly_connected(20, Limits::default());
    let connecting = ConnectTo::<UntypedRole>::connect_to(transport, Component::Bye);
    let connection = tokio::spawn(connecting);
    settle().await;
    assert!(!connection.is_finished(), "the pipe is too narrow for it");
    let bye = r#"{"jsonrpc":"2.0","method":"_bye","params":{}}"#;
    assert_eq!(far.hear_out().await, [bye]);
    connection.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_component_answers_until_the_end_of_input() {
    let (_peer, transport, mut far) = connected();
    let connecting = ConnectTo::<UntypedRole>::connect_to(transport, Component::Answers);
    far.say(REQUEST).await;
    far.hang_up();
    connecting.await.unwrap();
    assert_eq!(far.hear_out().await, [RESPONSE]);
}

/// A connection is good for any role of the SDK, and can be moved to any thread.
#[test]
fn a_transport_is_a_component() {
    fn component<R: Role>(_: impl ConnectTo<R>) {}
    let (_peer, transport, _far) = connected();
    component::<agent_client_protocol::Agent>(transport);
    let (_peer, transport, _far) = connected();
    component::<agent_client_protocol::Client>(transport);
}
