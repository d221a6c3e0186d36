//! The least that makes an agent of v1: initialize, sessions, prompts, cancel.
//! An agent that does more builds on [`Client`] and [`Session`](super::Session) itself, as this does.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, InitializeRequest, NewSessionRequest, NewSessionResponse,
    PromptRequest, StopReason,
};
use agent_client_protocol::{Agent, Error, Result, on_receive_notification, on_receive_request};
use serde_json::json;
use toolcall::{BoxFuture, EngineBuilder, SessionId, Setting};

use super::{Client, IntoStop, Prompt};
use crate::transport::{self, Transport};

/// The client that started this process, by standard input and output.
pub fn stdio() -> (Client, Transport) {
    let (peer, transport) = transport::stdio();
    (Client::new(peer), transport)
}

type Open = dyn Fn(Setting) -> EngineBuilder + Send + Sync;
type Answer =
    dyn Fn(Arc<Prompt>, PromptRequest) -> BoxFuture<'static, Result<StopReason>> + Send + Sync;

/// Serves a client until it is gone: `open` makes the engine of a new session, `answer` answers a
/// prompt. Everything about tool calls happens by itself. When the client is gone, what still runs
/// is cancelled and has ended when this returns.
pub async fn serve<O, A, F>(client: Client, transport: Transport, open: O, answer: A) -> Result<()>
where
    O: Fn(Setting) -> EngineBuilder + Send + Sync + 'static,
    A: Fn(Arc<Prompt>, PromptRequest) -> F + Send + Sync + 'static,
    F: Future + Send + 'static,
    F::Output: IntoStop,
{
    // Called inside the task that answers, so that a panic of it is that prompt's alone.
    let answer = Arc::new(answer);
    let answer = move |prompt, request| -> BoxFuture<'static, _> {
        let answer = answer.clone();
        Box::pin(async move { answer(prompt, request).await.into_stop() })
    };
    let served = connect(client.clone(), transport, Box::new(open), Arc::new(answer)).await;
    client.end().await;
    served
}

/// Not generic: the SDK's builder is compiled once, not for every agent and test.
async fn connect(
    client: Client,
    transport: Transport,
    open: Box<Open>,
    answer: Arc<Answer>,
) -> Result<()> {
    let (greeter, opener, asked, canceller) =
        (client.clone(), client.clone(), client.clone(), client);
    Agent
        .v1()
        .on_receive_request(
            async move |request: InitializeRequest, to, _| to.respond(greeter.initialize(&request)),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, to, _| {
                let session = opener.open(open(setting(&request)));
                to.respond(NewSessionResponse::new(session.id().as_str().to_owned()))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, to, _| {
                match asked.session(&request.session_id.0) {
                    Some(session) => {
                        let answer = answer.clone();
                        session.answer(request, to, move |prompt, request| answer(prompt, request));
                    }
                    None => to.respond_with_error(no_session(&request.session_id.0))?,
                }
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _| {
                if let Some(session) = canceller.session(&cancel.session_id.0) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

/// The text of a prompt.
pub fn prompt_text(request: &PromptRequest) -> String {
    let texts = request.prompt.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        // Blocks are the protocol's, and it may add some.
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn setting(request: &NewSessionRequest) -> Setting {
    let mut setting = Setting::new(SessionId::random(), request.cwd.clone());
    setting
        .roots
        .extend(request.additional_directories.iter().cloned());
    setting
}

fn no_session(id: &str) -> Error {
    let id = toolcall::text::clean_line(id, 80);
    let hint = format!("there is no session `{id}`; open one with session/new");
    Error::invalid_params().data(json!(hint))
}
