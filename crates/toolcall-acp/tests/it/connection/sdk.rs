//! A client and an agent of the SDK, each on a connection of ours, with bad lines in between.
//! Neither notices anything but the other.

use std::sync::{Arc, Mutex};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse,
    PromptRequest, PromptResponse, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionNotification, SessionUpdate,
    StopReason, TextContent,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error};
use serde_json::json;
use toolcall_acp::peer::Peer;
use toolcall_acp::transport::{Limits, Transport, connect};

const BAD_LINES: [&[u8]; 8] = [
    b"not JSON",
    b"\xff\xfe",
    b"[]",
    b"{}",
    b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":1,\"error\":1}",
    b"{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":5}",
    b"\r",
];

/// Both ends of one wire.
fn pair() -> ((Peer, Transport), (Peer, Transport)) {
    let (to_agent, from_client) = tokio::io::duplex(1000);
    let (to_client, from_agent) = tokio::io::duplex(1000);
    let client = connect(from_agent, to_agent, Limits::default());
    let agent = connect(from_client, to_client, Limits::default());
    (client, agent)
}

async fn say_bad_lines(peer: &Peer) {
    for line in BAD_LINES {
        peer.lane().send(line).await.unwrap();
    }
}

fn spawn_agent(peer: Peer, transport: Transport) -> tokio::task::JoinHandle<Result<(), Error>> {
    let agent = Agent
        .v1()
        .on_receive_request(
            async |request: InitializeRequest, responder, _| {
                responder.respond(InitializeResponse::new(request.protocol_version))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async |_: NewSessionRequest, responder, _| {
                responder.respond(NewSessionResponse::new("s"))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder: Responder<PromptResponse>, _| {
                tokio::spawn(turn(peer.clone(), request, responder));
                Ok(())
            },
            agent_client_protocol::on_receive_request!(),
        );
    tokio::spawn(agent.connect_to(transport))
}

/// Reports, asks, and ends the turn; or waits until it is cancelled.
async fn turn(peer: Peer, request: PromptRequest, responder: Responder<PromptResponse>) {
    if text_of(&request.prompt[0]) == "wait" {
        update(&peer, "waiting").await;
        responder.cancellation().cancelled().await;
        let cancelled = PromptResponse::new(StopReason::Cancelled);
        return responder.respond(cancelled).unwrap();
    }
    for number in 0..20 {
        update(&peer, &number.to_string()).await;
        say_bad_lines(&peer).await;
    }
    let question = json!({
        "sessionId": "s",
        "toolCall": {"toolCallId": "c"},
        "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
    });
    let answer = peer.request("session/request_permission", &question).await;
    let answer = answer.unwrap();
    update(&peer, answer["outcome"]["optionId"].as_str().unwrap()).await;
    let done = PromptResponse::new(StopReason::EndTurn);
    responder.respond(done).unwrap();
}

async fn update(peer: &Peer, text: &str) {
    let content = json!({"type": "text", "text": text});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    let params = json!({"sessionId": "s", "update": update});
    peer.notify("session/update", &params).await.unwrap();
}

fn text_of(content: &ContentBlock) -> String {
    match content {
        ContentBlock::Text(text) => text.text.clone(),
        other => panic!("{other:?} is no text"),
    }
}

/// Runs a client that says bad lines at every opportunity. Returns the updates it saw.
async fn with_client(
    peer: Peer,
    transport: Transport,
    main: impl AsyncFnOnce(ConnectionTo<Agent>, Arc<Mutex<Vec<String>>>) -> Result<(), Error>,
) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let seeing = seen.clone();
    let client = Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _| {
                if let SessionUpdate::AgentMessageChunk(chunk) = notification.update {
                    seeing.lock().unwrap().push(text_of(&chunk.content));
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async |request: RequestPermissionRequest, responder, _| {
                let option = request.options[0].option_id.clone();
                let selected = SelectedPermissionOutcome::new(option);
                responder.respond(RequestPermissionResponse::new(
                    RequestPermissionOutcome::Selected(selected),
                ))
            },
            agent_client_protocol::on_receive_request!(),
        );
    let talk = async move |agent: ConnectionTo<Agent>| {
        say_bad_lines(&peer).await;
        let hello = InitializeRequest::new(ProtocolVersion::V1);
        agent.send_request(hello).block_task().await?;
        say_bad_lines(&peer).await;
        let session = NewSessionRequest::new("/w");
        agent.send_request(session).block_task().await?;
        say_bad_lines(&peer).await;
        main(agent, seen).await
    };
    client.connect_with(transport, talk).await.unwrap();
}

fn prompt(text: &str) -> PromptRequest {
    PromptRequest::new("s", vec![ContentBlock::Text(TextContent::new(text))])
}

#[tokio::test(start_paused = true)]
async fn a_turn_with_updates_and_a_question() {
    let ((client_peer, client), (agent_peer, agent)) = pair();
    let agent = spawn_agent(agent_peer, agent);
    with_client(client_peer, client, async |agent, seen| {
        let answer = agent.send_request(prompt("go")).block_task().await?;
        assert_eq!(answer.stop_reason, StopReason::EndTurn);
        let mut expected: Vec<_> = (0..20).map(|number| number.to_string()).collect();
        expected.push("yes".to_owned());
        assert_eq!(*seen.lock().unwrap(), expected);
        Ok(())
    })
    .await;
    agent.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_cancelled_by_its_request() {
    let ((client_peer, client), (agent_peer, agent)) = pair();
    let agent = spawn_agent(agent_peer, agent);
    let bad = client_peer.clone();
    with_client(client_peer, client, async |agent, _| {
        let waiting = agent.send_request(prompt("wait"));
        say_bad_lines(&bad).await;
        waiting.cancel()?;
        let answer = waiting.block_task().await?;
        assert_eq!(answer.stop_reason, StopReason::Cancelled);
        Ok(())
    })
    .await;
    agent.await.unwrap().unwrap();
}
