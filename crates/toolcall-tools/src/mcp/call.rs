//! Calls a tool over a connection, and answers the server's questions about the call in further rounds.
//! It never leaves a server working on an abandoned call: it sends a cancellation and ignores the answer.

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

/// How often a server may ask for more input before it answers.
const MOST_ROUNDS: usize = 10;

/// Why a call has no result.
#[derive(Debug, PartialEq)]
pub(super) enum McpCallError {
    /// The connection is gone.
    ConnectionClosed,
    /// The call failed for this reason.
    Failed(String),
}

/// A call to send to a server.
pub(super) struct ToolCallRequest<'a> {
    /// The name that the server gives the tool.
    pub(super) tool: &'a Arc<str>,
    pub(super) input: Arc<Value>,
    pub(super) scope: &'a RunContext,
}

impl Connection {
    /// Calls a tool and returns the server's result.
    pub(super) async fn call(&self, request: ToolCallRequest<'_>) -> Result<Value, McpCallError> {
        let (mut responses, mut state) = (None, None);
        for _ in 0..MOST_ROUNDS {
            let mut params = CallToolRequestParams::new(request.tool.to_string());
            params.arguments = Some(arguments(&request.input));
            (params.input_responses, params.request_state) = (responses, state);
            params.meta = trace(request.scope);
            let answer = self.round(params, request.scope).await?;
            if answer.get("resultType").and_then(Value::as_str) != Some("input_required") {
                return Ok(answer);
            }
            responses = Some(self.respond(&answer, request.scope).await?);
            state = answer["requestState"].as_str().map(str::to_owned);
        }
        let why = format!("it asked back over {MOST_ROUNDS} times");
        Err(McpCallError::Failed(why))
    }

    async fn round(
        &self,
        params: CallToolRequestParams,
        scope: &RunContext,
    ) -> Result<Value, McpCallError> {
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = self.peer.send_request_with_option(request, options).await;
        let handle = sent.map_err(call_error)?;
        let token = serde_json::to_value(&handle.progress_token).unwrap_or_default();
        let token = token_of(&token).unwrap_or_default();
        let _subscription = self.notifications().subscribe(token, scope);
        let mut guard = CancelOnDrop::new(&handle);
        let answer = tokio::select! {
            answer = handle.await_response() => answer,
            () = scope.cancelled() => return Err(McpCallError::Failed("the call was stopped".to_owned())),
        };
        guard.disarm();
        answer.map(value_of).map_err(call_error)
    }

    /// Answers the input requests in a server's response.
    async fn respond(
        &self,
        answer: &Value,
        scope: &RunContext,
    ) -> Result<BTreeMap<String, Value>, McpCallError> {
        let mut responses = BTreeMap::new();
        let requests = answer.get("inputRequests").and_then(Value::as_object);
        for (key, request) in requests.into_iter().flatten() {
            responses.insert(key.clone(), self.respond_to(request, scope).await?);
        }
        Ok(responses)
    }

    async fn respond_to(&self, request: &Value, scope: &RunContext) -> Result<Value, McpCallError> {
        let failed = |why: &str| McpCallError::Failed(why.to_owned());
        let unread = |_| failed("it asked something that cannot be read");
        match request.get("method").and_then(Value::as_str) {
            Some("elicitation/create") => {
                let params = request.get("params").cloned().unwrap_or_default();
                let params: ElicitRequestParams = serde_json::from_value(params).map_err(unread)?;
                let answer = elicit(&self.client.server, params, scope).await;
                serde_json::to_value(answer).map_err(unread)
            }
            Some("roots/list") => serde_json::to_value(self.client.roots()).map_err(unread),
            Some("sampling/createMessage") => {
                Err(failed("it wanted to use the model, which is refused"))
            }
            Some(_) | None => Err(failed("it asked something that is not known")),
        }
    }
}

/// Returns the turn's trace context as request metadata, so that the server can continue the trace.
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

/// Returns the input as an object. The engine has already validated it against the tool's schema.
fn arguments(input: &Value) -> Map<String, Value> {
    match input {
        Value::Object(map) => map.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

fn call_error(error: ServiceError) -> McpCallError {
    match error {
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
            McpCallError::ConnectionClosed
        }
        ServiceError::McpError(error) => McpCallError::Failed(clean_line(&error.message, 600)),
        other => McpCallError::Failed(causes(&other)),
    }
}

/// Sends a cancellation to the server if it is dropped before [`disarm`](Self::disarm).
struct CancelOnDrop {
    peer: Peer<RoleClient>,
    id: Option<RequestId>,
}

impl CancelOnDrop {
    fn new(handle: &RequestHandle<RoleClient>) -> Self {
        Self {
            peer: handle.peer.clone(),
            id: Some(handle.id.clone()),
        }
    }

    fn disarm(&mut self) {
        self.id = None;
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else {
            return;
        };
        let peer = self.peer.clone();
        let params =
            CancelledNotificationParam::new(Some(id), Some("the call was stopped".to_owned()));
        let cancelled = CancelledNotification::new(params);
        runtime.spawn(async move {
            // If the server is gone there is nothing to cancel.
            peer.send_notification(cancelled.into()).await.ok();
        });
    }
}
