//! The agent of a story: the one that the library serves, or one that runs its commands itself.
//! It adds nothing to what the library says.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    InitializeRequest, NewSessionRequest, NewSessionResponse, PromptRequest, StopReason,
};
use agent_client_protocol::{Agent, Result, on_receive_request};
use toolcall::{BoxFuture, SessionId, Setting};
use toolcall_acp::transport::Transport;
use toolcall_acp::v1::{Client, Commands, Prompt, serve};

use crate::golden::stage::{Model, Open};

/// Serves a client until it is gone.
pub(crate) async fn serve_with(
    client: Client,
    transport: Transport,
    commands: Commands,
    open: Open,
    model: Model,
) -> Result<()> {
    let answer = move |prompt: Arc<Prompt>, _: PromptRequest| -> BoxFuture<'static, StopReason> {
        let played = model(prompt);
        Box::pin(async move {
            played.await;
            StopReason::EndTurn
        })
    };
    match commands {
        Commands::InClient => serve(client, transport, open, answer).await,
        Commands::Here => serve_here(client, transport, open, answer).await,
    }
}

/// As an agent does that has a sandbox on.
async fn serve_here(
    client: Client,
    transport: Transport,
    open: Open,
    answer: impl Fn(Arc<Prompt>, PromptRequest) -> BoxFuture<'static, StopReason>
    + Clone
    + Send
    + Sync
    + 'static,
) -> Result<()> {
    let (greeter, opener, asked) = (client.clone(), client.clone(), client);
    Agent
        .v1()
        .on_receive_request(
            async move |request: InitializeRequest, to, _| to.respond(greeter.initialize(&request)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, to, _| {
                let engine = open(Setting::new(SessionId::random(), request.cwd));
                let session = opener.open_with(engine, Commands::Here);
                to.respond(NewSessionResponse::new(session.id().as_str().to_owned()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, to, _| {
                if let Some(session) = asked.session(&request.session_id.0) {
                    session.answer(request, to, answer.clone());
                }
                Ok(())
            },
            on_receive_request!(),
        )
        .connect_to(transport)
        .await
}
