//! A [`Service`] on the wire of v1: every request of a client, handed on and answered.
//! It translates; nothing is decided here, and nothing holds up the connection.

use std::sync::Arc;

use agent_client_protocol::v1::schema::{
    AuthenticateRequest, AuthenticateResponse, AvailableCommandsUpdate, CancelNotification,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    InitializeRequest, InitializeResponse, ListSessionsRequest, ListSessionsResponse,
    LoadSessionRequest, NewSessionRequest, PromptRequest, PromptResponse, ResumeSessionRequest,
    SessionNotification, SessionUpdate, SetSessionConfigOptionRequest,
    SetSessionConfigOptionResponse, SetSessionModeRequest, SetSessionModeResponse, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Client as ClientRole, Error, JsonRpcResponse, Result, on_receive_notification,
    on_receive_request,
};
use serde_json::json;
use toolcall::SessionId;
use toolcall::text::clean_line;

use super::{Client, Session, offer, wish};
use crate::service::{Opened, Opening, Refusal, Service, SlashCommand, Sort, Stop};
use crate::transport::Transport;

/// Serves a client until it is gone. What still runs then is cancelled, and has ended when this
/// returns.
pub async fn serve_agent(
    client: Client,
    transport: Transport,
    service: Arc<dyn Service>,
) -> Result<()> {
    let desk = Desk {
        client: client.clone(),
        service,
    };
    let served = connect(desk, transport).await;
    client.end().await;
    served
}

/// Where requests arrive.
#[derive(Clone)]
struct Desk {
    client: Client,
    service: Arc<dyn Service>,
}

/// The protocol's code for what is not there.
const NOT_FOUND: i32 = -32002;

type Connection = ConnectionTo<ClientRole>;

type Answer<T> = std::result::Result<T, Refusal>;

/// In the order in which clients use them.
async fn connect(desk: Desk, transport: Transport) -> Result<()> {
    let at = || desk.clone();
    let (greet, sign_in, new, load, resume) = (at(), at(), at(), at(), at());
    let (list, close, delete, mode, option) = (at(), at(), at(), at(), at());
    let (prompt, cancel) = (at(), at());
    Agent
        .v1()
        .on_receive_request(
            async move |request, to, _| greet.greet(&request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| sign_in.sign_in(request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, to, cx: Connection| {
                let wish = wish::new_session(request, new.client.who());
                new.open(wish, to, cx, offer::new_session)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, to, cx: Connection| {
                let wish = wish::load(request, load.client.who());
                load.open(wish, to, cx, offer::loaded_session)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, to, cx: Connection| {
                let wish = wish::resume(request, resume.client.who());
                resume.open(wish, to, cx, offer::resumed_session)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| list.list(request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| close.close(request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| delete.delete(request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| mode.set_mode(request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| option.set_option(request, to),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request, to, _| prompt.prompt(request, to),
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notice: CancelNotification, _| {
                if let Some(session) = cancel.client.session(&notice.session_id.0) {
                    session.cancel();
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_to(transport)
        .await
}

impl Desk {
    fn greet(&self, request: &InitializeRequest, to: Responder<InitializeResponse>) -> Result<()> {
        let answer = self.client.initialize(request);
        to.respond(offer::introduce(&self.service.about(), answer))
    }

    fn sign_in(
        &self,
        request: AuthenticateRequest,
        to: Responder<AuthenticateResponse>,
    ) -> Result<()> {
        let signed = self
            .service
            .clone()
            .sign_in(request.method_id.0.to_string());
        reply(to, async {
            signed.await.map(|()| AuthenticateResponse::new())
        })
    }

    /// Opens a session in a task of its own. The commands that it knows are told behind the
    /// answer: before it, a client does not know whose they are.
    fn open<R: JsonRpcResponse + Send + 'static>(
        &self,
        wish: Answer<Opening>,
        to: Responder<R>,
        cx: Connection,
        answer: impl FnOnce(&Opened) -> R + Send + 'static,
    ) -> Result<()> {
        let service = self.service.clone();
        tokio::spawn(async move {
            let opened = match wish {
                Ok(wish) => service.open(wish).await,
                Err(refusal) => Err(refusal),
            };
            let opened = match opened {
                Ok(opened) => opened,
                Err(refusal) => return to.respond_with_error(error(refusal)),
            };
            opened.session.replace_choices(opened.choices.clone());
            to.respond(answer(&opened))?;
            cx.send_notification(commands(opened.session.id(), &opened.commands))
        });
        Ok(())
    }

    fn list(
        &self,
        request: ListSessionsRequest,
        to: Responder<ListSessionsResponse>,
    ) -> Result<()> {
        let listed = self.service.clone().list(wish::page(request));
        reply(to, async { listed.await.map(offer::sessions) })
    }

    fn close(
        &self,
        request: CloseSessionRequest,
        to: Responder<CloseSessionResponse>,
    ) -> Result<()> {
        let (desk, id) = (self.clone(), request.session_id.0.to_string());
        reply(to, async move {
            let session = desk.client.close(&id).ok_or(Refusal::NoSession(id))?;
            desk.end(session).await?;
            Ok(CloseSessionResponse::new())
        })
    }

    fn delete(
        &self,
        request: DeleteSessionRequest,
        to: Responder<DeleteSessionResponse>,
    ) -> Result<()> {
        let (desk, id) = (self.clone(), request.session_id.0.to_string());
        reply(to, async move {
            if let Some(session) = desk.client.close(&id) {
                desk.end(session).await?;
            }
            desk.service.clone().delete(SessionId::new(id)).await?;
            Ok(DeleteSessionResponse::new())
        })
    }

    fn set_mode(
        &self,
        request: SetSessionModeRequest,
        to: Responder<SetSessionModeResponse>,
    ) -> Result<()> {
        let desk = self.clone();
        reply(to, async move {
            let session = desk.session(&request.session_id.0)?;
            desk.choose_mode(session, request.mode_id.0.to_string())
                .await?;
            Ok(SetSessionModeResponse::new())
        })
    }

    fn set_option(
        &self,
        request: SetSessionConfigOptionRequest,
        to: Responder<SetSessionConfigOptionResponse>,
    ) -> Result<()> {
        let desk = self.clone();
        reply(to, async move {
            let value = wish::value(&request.value)?;
            let session = desk.session(&request.session_id.0)?;
            let (service, id) = (desk.service.clone(), request.config_id.0.to_string());
            let choices = service.choose(session.clone(), id, value).await?;
            session.tell_mode_of(&choices).await;
            Ok(SetSessionConfigOptionResponse::new(offer::options(
                &choices,
            )))
        })
    }

    fn prompt(&self, request: PromptRequest, to: Responder<PromptResponse>) -> Result<()> {
        let session = match self.session(&request.session_id.0) {
            Ok(session) => session,
            Err(refusal) => return to.respond_with_error(error(refusal)),
        };
        let service = self.service.clone();
        session.answer(request, to, |prompt, request| async move {
            let said = wish::contents(request.prompt).map_err(error)?;
            let stop = service.answer(prompt, said).await.map_err(error)?;
            Ok(stop_reason(stop))
        });
        Ok(())
    }

    fn session(&self, id: &str) -> Answer<Arc<Session>> {
        let session = self.client.session(id);
        session.ok_or_else(|| Refusal::NoSession(id.to_owned()))
    }

    /// The client knows what it chose; it is told if that is not what holds.
    async fn choose_mode(&self, session: Arc<Session>, value: String) -> Answer<()> {
        let mut known = session.choices();
        let mode = known.iter_mut().find(|choice| choice.sort == Sort::Mode);
        let mode = mode.ok_or(Refusal::Unsupported)?;
        mode.current.clone_from(&value);
        let mode = mode.id.clone();
        let service = self.service.clone();
        let choices = service.choose(session.clone(), mode, value).await?;
        session.replace_choices(known);
        session.tell_choices(&choices).await;
        Ok(())
    }

    /// What is answered in a session has ended before the session has.
    async fn end(&self, session: Arc<Session>) -> Answer<()> {
        session.end().await;
        self.service.clone().close(session).await
    }
}

/// Answers in a task of its own, so that the connection goes on.
fn reply<R: JsonRpcResponse + Send + 'static>(
    to: Responder<R>,
    answer: impl Future<Output = Answer<R>> + Send + 'static,
) -> Result<()> {
    tokio::spawn(async move { to.respond_with_result(answer.await.map_err(error)) });
    Ok(())
}

fn commands(session: &SessionId, commands: &[SlashCommand]) -> SessionNotification {
    let known = AvailableCommandsUpdate::new(offer::commands(commands));
    let update = SessionUpdate::AvailableCommandsUpdate(known);
    SessionNotification::new(session.as_str().to_owned(), update)
}

fn stop_reason(stop: Stop) -> StopReason {
    match stop {
        Stop::EndOfTurn => StopReason::EndTurn,
        Stop::TooLong => StopReason::MaxTokens,
        Stop::TooManyRounds => StopReason::MaxTurnRequests,
        Stop::Refused => StopReason::Refusal,
    }
}

fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Wrong(why) => Error::invalid_params().data(json!(why)),
        Refusal::NoSession(id) => {
            let id = clean_line(&id, 80);
            let hint = format!("there is no session `{id}`; session/new opens one");
            Error::new(NOT_FOUND, "Resource not found").data(json!(hint))
        }
        Refusal::Unsupported => Error::method_not_found(),
        Refusal::Failed(why) => Error::internal_error().data(json!(why)),
    }
}
