//! An agent in this process that makes the given calls, and a client that prompts it once.
//! It decides nothing: the test supplies policy and answers.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{duplex, split};
use toolcall::{EngineBuilder, SessionContext, ToolRequest};
use toolcall_acp::transport::{ConnectionLimits, connect};
use toolcall_acp::{ClientConnection, Prompt, SimpleAgent, StopReason, serve};
use toolcall_testkit::client::{Client, Side, asks_permission, updates};

/// The id of the only session.
pub(crate) const SESSION: &str = "session-1";

/// Every message, in the order of the wire.
pub(crate) struct Wire(pub(crate) Vec<(Side, Value)>);

impl Wire {
    /// Makes the calls one after the other in one prompt. `replies` returns the client's messages.
    pub(crate) async fn record(
        engine: EngineBuilder,
        calls: impl IntoIterator<Item = ToolRequest>,
        cwd: &Path,
        capabilities: Value,
        replies: impl FnMut(&Value) -> Vec<Value> + Send + 'static,
    ) -> Self {
        let engine = Mutex::new(Some(engine));
        let open =
            move |_: SessionContext| engine.lock().unwrap().take().expect("there is one session");
        let calls: Arc<[ToolRequest]> = calls.into_iter().collect();
        let answer = move |prompt: Arc<Prompt>, _| one_after_the_other(prompt, calls.clone());
        let (near, far) = duplex(64 * 1024);
        let (reader, writer) = split(near);
        let (peer, transport) = connect(reader, writer, ConnectionLimits::default());
        let connection = ClientConnection::new(peer);
        let agent = Arc::new(SimpleAgent::new(connection.clone(), open, answer));
        let agent = tokio::spawn(serve(connection, transport, agent));
        let mut client = Client::new(far, replies);
        client.prompt_once(cwd, capabilities).await;
        let wire = std::mem::take(&mut client.wire);
        drop(client);
        agent.await.unwrap().unwrap();
        Self(wire)
    }

    fn messages(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|(_, message)| message)
    }

    /// Returns the updates of one call, counted from 1.
    pub(crate) fn of_call(&self, number: usize) -> Vec<Value> {
        let id = format!("call-{number}");
        let updates = updates(self.messages()).filter(|update| update["toolCallId"] == *id);
        updates.cloned().collect()
    }

    /// Returns every status, in order.
    pub(crate) fn statuses(&self) -> Vec<&str> {
        let statuses = updates(self.messages()).filter_map(|update| update["status"].as_str());
        statuses.collect()
    }

    pub(crate) fn stop_reason(&self) -> &str {
        let last = self.messages().last();
        let reason = last.and_then(|message| message["result"]["stopReason"].as_str());
        reason.expect("an answer to the prompt")
    }

    /// Returns the permission request.
    pub(crate) fn question(&self) -> &Value {
        let question = self.messages().find(|message| asks_permission(message));
        question.expect("a question")
    }
}

async fn one_after_the_other(prompt: Arc<Prompt>, calls: Arc<[ToolRequest]>) -> StopReason {
    for call in calls.iter() {
        prompt.turn().call(call.clone()).await.await;
    }
    StopReason::EndTurn
}
