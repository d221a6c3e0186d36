//! The agent of the golden tests: a `SimpleAgent`, which adds nothing to the library's own lines.

use std::io;
use std::sync::Arc;

use toolcall::{BoxFuture, Content};
use toolcall_acp::service::CommandPlacement;
use toolcall_acp::transport::Transport;
use toolcall_acp::{ClientConnection, Prompt, SimpleAgent, StopReason, serve};

use crate::golden::harness::{Model, OpenEngine};

/// Serves a client until its connection ends.
pub(crate) async fn serve_with(
    client: ClientConnection,
    transport: Transport,
    commands: CommandPlacement,
    open: OpenEngine,
    model: Model,
) -> io::Result<()> {
    let answer = move |prompt: Arc<Prompt>, _: Vec<Content>| -> BoxFuture<'static, StopReason> {
        let played = model(prompt);
        Box::pin(async move {
            played.await;
            StopReason::EndTurn
        })
    };
    let agent = SimpleAgent::new(client.clone(), open, answer).commands(commands);
    serve(client, transport, Arc::new(agent)).await
}
