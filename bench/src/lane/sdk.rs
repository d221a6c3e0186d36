//! The SDK's own way: its agent on its own stdio, one notification after the other.
//! As its examples do it; this is what most agents are built like.

use agent_client_protocol::v1::schema::SessionNotification;
use agent_client_protocol::{Agent, Stdio};

use super::{CALLS, floor};

pub(super) fn send() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime can be built");
    let sent = runtime.block_on(Agent.v1().connect_with(Stdio::new(), async |client| {
        for update in (0..CALLS).flat_map(floor::updates) {
            client.send_notification(SessionNotification::new("session", update))?;
        }
        client.incoming_closed().await;
        Ok(())
    }));
    sent.expect("everything is sent");
}
