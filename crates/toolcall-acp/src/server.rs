//! Serves a [`Service`] to a client: decodes requests, calls the service and sends the responses.
//! It decides nothing and never blocks the connection.

mod connection;
mod simple;

use std::io;
use std::sync::Arc;

use serde_json::value::RawValue;
use toolcall::SessionId;
use toolcall::text::clean_line;

pub use self::connection::ClientConnection;
pub use self::simple::{SimpleAgent, prompt_text};
use crate::codec::{ClientNotification, ClientRequest, Codec, Response};
use crate::dispatch::{Dispatch, Handled, Responder};
use crate::peer::RpcError;
use crate::service::{
    ConfigOptionCategory, OpenSessionRequest, Replay, Service, ServiceError, SessionSelector,
};
use crate::session::Session;
use crate::transport::{self, Transport};
use crate::wire;

/// The protocol's error code for a resource that does not exist.
const NOT_FOUND: i64 = -32002;

/// Connects to the client that started this process, over standard input and output.
pub fn stdio() -> (ClientConnection, Transport) {
    let (peer, transport) = transport::stdio();
    (ClientConnection::new(peer), transport)
}

/// Serves a client until its connection ends. Calls that still run then are cancelled, and have ended
/// when this returns.
pub async fn serve(
    client: ClientConnection,
    transport: Transport,
    service: Arc<dyn Service>,
) -> io::Result<()> {
    let server = Server {
        client: client.clone(),
        service,
    };
    let served = transport.run(server).await;
    client.end().await;
    served
}

/// Handles the client's requests and notifications.
#[derive(Clone)]
struct Server {
    client: ClientConnection,
    service: Arc<dyn Service>,
}

impl Dispatch for Server {
    fn request(&self, method: &str, params: Option<&RawValue>, to: Responder) -> Handled {
        if method == "initialize" {
            return Handled::Now(
                match self.client.initialize(params, &self.service.about()) {
                    Ok(response) => to.reply(&response),
                    Err(error) => to.refuse(&error),
                },
            );
        }
        let Some(codec) = self.client.codec() else {
            let error = RpcError::invalid_request("send `initialize` first");
            return Handled::Now(to.refuse(&error));
        };
        match codec.request(method, params) {
            Err(error) => Handled::Now(to.refuse(&error)),
            Ok(ClientRequest::Prompt {
                session,
                content,
                trace,
            }) => match self.idle_session(&session) {
                Ok(session) => {
                    let service = self.service.clone();
                    session.answer(trace, to, |prompt| service.answer(prompt, content));
                    Handled::Later
                }
                Err(error) => Handled::Now(to.refuse(&error)),
            },
            Ok(request) => {
                tokio::spawn(self.clone().respond(codec, request, to));
                Handled::Later
            }
        }
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let codec = self.client.codec();
        match codec.and_then(|codec| codec.notification(method, params)) {
            Some(ClientNotification::Cancel(session)) => {
                if let Some(session) = self.client.session(session.as_str()) {
                    session.cancel();
                }
            }
            Some(ClientNotification::CancelCall { session, call }) => {
                self.client.cancel_call(&session, &call);
            }
            None => {}
        }
    }
}

impl Server {
    /// Returns the session for a prompt, unless too many prompts wait there.
    fn idle_session(&self, id: &SessionId) -> Result<Arc<Session>, RpcError> {
        let session = self.session(id)?;
        if session.is_busy() {
            return Err(RpcError::invalid_request(
                "too many prompts wait in this session; send the next one when one is answered",
            ));
        }
        Ok(session)
    }

    fn session(&self, id: &SessionId) -> Result<Arc<Session>, ServiceError> {
        let session = self.client.session(id.as_str());
        session.ok_or_else(|| ServiceError::SessionNotFound(id.as_str().to_owned()))
    }

    async fn respond(self, codec: Arc<dyn Codec>, request: ClientRequest, to: Responder) {
        let response = match self.handle(request).await {
            Ok(response) => response,
            Err(error) => return to.respond::<()>(Err(&error.into())).await,
        };
        to.respond(Ok(&codec.response(&response))).await;
        // After the response: before it, the client does not know the session of these commands.
        if let Response::New(opened) | Response::Loaded(opened) | Response::Resumed(opened) =
            response
        {
            opened.session.send_commands(&opened.commands).await;
        }
    }

    async fn handle(&self, request: ClientRequest) -> Result<Response, ServiceError> {
        let service = self.service.clone();
        Ok(match request {
            ClientRequest::Authenticate { method } => {
                service.authenticate(method).await?;
                Response::Authenticated
            }
            ClientRequest::Open(opening) => self.open(opening).await?,
            ClientRequest::List(page) => Response::Sessions(service.list(page).await?),
            ClientRequest::Close(id) => {
                let session = self.client.close(id.as_str());
                let session =
                    session.ok_or_else(|| ServiceError::SessionNotFound(id.as_str().to_owned()))?;
                self.end(session).await?;
                Response::Closed
            }
            ClientRequest::Delete(id) => {
                if let Some(session) = self.client.close(id.as_str()) {
                    self.end(session).await?;
                }
                service.delete(id).await?;
                Response::Deleted
            }
            ClientRequest::SetMode { session, mode } => {
                self.set_mode(self.session(&session)?, mode).await?;
                Response::ModeSet
            }
            ClientRequest::SetOption {
                session,
                option,
                value,
            } => {
                let session = self.session(&session)?;
                let choices = service.choose(session.clone(), option, value).await?;
                session.send_mode_of(&choices).await;
                Response::Options(choices)
            }
            ClientRequest::CancelCall { session, call } => {
                Response::CallCancelled(self.client.cancel_call(&session, &call))
            }
            ClientRequest::Prompt { .. } => return Err(ServiceError::Unsupported),
        })
    }

    async fn open(&self, opening: OpenSessionRequest) -> Result<Response, ServiceError> {
        let which = opening.which.clone();
        let opened = self.service.clone().open(opening).await?;
        opened
            .session
            .replace_config_options(opened.choices.clone());
        Ok(match which {
            SessionSelector::New => Response::New(opened),
            SessionSelector::Stored {
                replay: Replay::Full,
                ..
            } => Response::Loaded(opened),
            SessionSelector::Stored {
                replay: Replay::None,
                ..
            } => Response::Resumed(opened),
        })
    }

    /// Sets the mode. The client knows the mode it chose, so the options are sent only if they differ.
    async fn set_mode(&self, session: Arc<Session>, value: String) -> Result<(), ServiceError> {
        let mut known = session.config_options();
        let mode = known
            .iter_mut()
            .find(|choice| choice.sort == ConfigOptionCategory::Mode);
        let mode = mode.ok_or(ServiceError::Unsupported)?;
        mode.current.clone_from(&value);
        let mode = mode.id.clone();
        let service = self.service.clone();
        let choices = service.choose(session.clone(), mode, value).await?;
        session.replace_config_options(known);
        session.send_config_options(&choices).await;
        Ok(())
    }

    /// Ends a session after its prompts have ended.
    async fn end(&self, session: Arc<Session>) -> Result<(), ServiceError> {
        session.end().await;
        self.service.clone().close(session).await
    }
}

impl From<ServiceError> for RpcError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::InvalidParams(why) => RpcError::invalid_params(why),
            ServiceError::SessionNotFound(id) => {
                let id = clean_line(&id, 80);
                let hint = format!("there is no session `{id}`; session/new opens one");
                RpcError::new(NOT_FOUND, "Resource not found").data(hint)
            }
            ServiceError::Unsupported => RpcError::new(wire::METHOD_NOT_FOUND, "Method not found"),
            ServiceError::Failed(why) => RpcError::internal_error().data(why),
        }
    }
}
