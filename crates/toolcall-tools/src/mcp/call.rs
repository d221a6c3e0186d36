//! One call of a tool on a connection: asked, answered in rounds if the server has questions, cancelled.
//! A call that nobody waits for is told to the server, and its answer is dropped.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam,
    ClientRequest, ElicitRequestParams, RequestId, RequestMetaObject,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use toolcall::RunContext;
use toolcall::text::clean_line;

use super::connection::{Connection, causes, value_of};
use super::form::elicit;
use super::notifications::token_of;

/// A server may ask back so often before it answers.
const MOST_ROUNDS: usize = 10;

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum CallFault {
    /// The connection is gone.
    Gone,
    /// The server says why.
    Said(String),
}

/// What is asked.
pub(super) struct Asked<'a> {
    /// The tool, as its server calls it.
    pub(super) tool: &'a Arc<str>,
    pub(super) input: Arc<Value>,
    pub(super) scope: &'a RunContext,
}

impl Connection {
    /// Calls a tool and waits for its answer.
    pub(super) async fn call(&self, asked: Asked<'_>) -> Result<Value, CallFault> {
        let (mut responses, mut state) = (None, None);
        for _ in 0..MOST_ROUNDS {
            let mut params = CallToolRequestParams::new(asked.tool.to_string());
            params.arguments = Some(arguments(&asked.input));
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = trace(asked.scope);
            let answer = self.round(params, asked.scope).await?;
            if answer.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(answer);
            }
            responses = Some(self.respond(&answer, asked.scope).await?);
            state = answer["requestState"].as_str().map(str::to_owned);
        }
        let why = format!("it asked back over {MOST_ROUNDS} times");
        Err(CallFault::Said(why))
    }

    async fn round(
        &self,
        params: CallToolRequestParams,
        scope: &RunContext,
    ) -> Result<Value, CallFault> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(fault)?;
        let token = serde_json::to_value(&handle.progress_token).unwrap_or_default();
        let token = token_of(&token).unwrap_or_default();
        let _listening = self.ears().listen(token, scope);
        let mut waiting = Waiting::new(&handle);
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            () = scope.cancelled() => return Err(CallFault::Said("the call was stopped".to_owned())),
        };
        waiting.is_over();
        answer.map(value_of).map_err(fault)
    }

    /// Answers what a server wants to know first.
    async fn respond(
        &self,
        answer: &Value,
        scope: &RunContext,
    ) -> Result<BTreeMap<String, Value>, CallFault> {
        let mut responses = BTreeMap::new();
        let requests = answer.get("inputRequests").and_then(Value::as_object);
        for (key, request) in requests.into_iter().flatten() {
            responses.insert(key.clone(), self.respond_to(request, scope).await?);
        }
        Ok(responses)
    }

    async fn respond_to(&self, request: &Value, scope: &RunContext) -> Result<Value, CallFault> {
        let said = |why: &str| CallFault::Said(why.to_owned());
        let unread = |_| said("it asked something that cannot be read");
        match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => {
                let params = request.get("params").cloned().unwrap_or_default();
                let params: ElicitRequestParams = serde_json::from_value(params).map_err(unread)?;
                let answer = elicit(&self.client.server, params, scope).await;
                serde_json::to_value(answer).map_err(unread)
            }
            Some("roots/list") => serde_json::to_value(self.client.roots()).map_err(unread),
            Some("sampling/createMessage") => {
                Err(said("it wanted to use the model, which is refused"))
            }
            Some(_) | None => Err(said("it asked something that is not known")),
        }
    }
}

/// The trace context of the turn, for the server to go on with.
fn trace(scope: &RunContext) -> Option<RequestMetaObject> {
    let entries = scope.trace().iter();
    let entries: Map<String, Value> = entries
        .map(|(name, value)| (name.to_string(), Value::from(&**value)))
        .collect();
    if entries.is_empty() {
        None
    } else {
        serde_json::from_value(Value::Object(entries)).ok()
    }
}

/// Arguments of tools are objects; an engine has checked them against the tool's schema.
fn arguments(input: &Value) -> Map<String, Value> {
    match input {
        Value::Object(map) => map.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

fn fault(error: ServiceError) -> CallFault {
    match error {
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => CallFault::Gone,
        ServiceError::McpError(error) => CallFault::Said(clean_line(&error.message, 600)),
        other => CallFault::Said(causes(&other)),
    }
}

/// A request that is waited for. Dropped before it is over, the server is told.
struct Waiting {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Waiting {
    fn new(handle: &RequestHandle<RoleClient>) -> Self {
        Self {
            peer: handle.peer.clone(),
            id: Some(handle.id.clone()),
        }
    }

    fn is_over(&mut self) {
        self.id = None;
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        let params =
            CancelledNotificationParam::new(Some(id), Some("the call was stopped".to_owned()));
        let cancelled = CancelledNotification::new(params);
        runtime.spawn(async move {
            // A server that is gone need not be told.
            peer.send_notification(cancelled.into()).await.ok();
        });
    }
}
