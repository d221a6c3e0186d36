//! Serves the tools of an engine to another agent, over the Model Context Protocol.
//! Every call goes through the engine's permission check; the client can neither lower a verdict nor avoid it.

mod approver;
mod eof;
mod listing;
mod result;
mod subject;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError, serve_server};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use serde_json::Value;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, broadcast};
use tokio::time::Instant;
use toolcall::{
    CallHandle, Engine, EngineBuilder, Event, JournalEntry, Outcome, ToolRequest, Turn,
};

use approver::FormApprover;
use eof::EofReader;

/// How many calls a client may run at once. The next one fails; the protocol has no other backpressure.
const MOST_CALLS: usize = 64;
/// How many events a client's progress may lag behind before some are skipped.
const MOST_BEHIND: usize = 256;
/// The shortest time between two progress notifications of a call.
const PACE: Duration = Duration::from_millis(100);
/// Later versions do not let a server send requests during a call, which is how it asks for permission.
const LATEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// Why [`serve`] failed.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client did not follow the handshake of the protocol.
    #[error("the MCP client did not begin as it should: {0}")]
    Beginning(String),
    /// The task that served the client failed.
    #[error("serving broke off: {0}")]
    Broken(String),
}

/// Serves the tools of this engine until the client disconnects. Every call has ended when this returns.
///
/// Permission questions go to the client as forms, if it supports them, and not to the approver of the engine. The
/// instructions for the client name the directory in which the tools work.
pub async fn serve<R, W>(engine: EngineBuilder, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let approver = FormApprover::default();
    let engine = Arc::new(engine.approver(approver.clone()).build());
    let turn = Arc::new(engine.turn());
    let server = EngineServer {
        engine: engine.clone(),
        turn: turn.clone(),
        approver,
        permits: Arc::new(Semaphore::new(MOST_CALLS)),
    };
    let (reader, ended) = EofReader::new(reader);
    let served = tokio::select! {
        served = converse(server, reader, writer) => served,
        never = stop_at(ended.wait(), &turn) => match never {},
    };
    turn.close().await;
    served
}

async fn converse<R, W>(server: EngineServer, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match serve_server(server, (reader, writer)).await {
        Ok(running) => running,
        // A client that disconnects before the handshake is no error.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(error.to_string())),
    };
    match running.waiting().await {
        Ok(_hung_up) => Ok(()),
        Err(error) => Err(ServeError::Broken(error.to_string())),
    }
}

/// Cancels all calls once the client has disconnected: nobody waits for their results.
async fn stop_at(ended: impl Future<Output = ()>, turn: &Turn) -> std::convert::Infallible {
    ended.await;
    turn.cancel();
    std::future::pending().await
}

/// Handles the requests of one client.
struct EngineServer {
    engine: Arc<Engine>,
    turn: Arc<Turn>,
    approver: FormApprover,
    permits: Arc<Semaphore>,
}

impl EngineServer {
    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let reporter = context
            .meta
            .get_progress_token()
            .map(|token| ProgressReporter {
                token,
                peer: context.peer.clone(),
                events: self.engine.journal().follow(MOST_BEHIND),
                last_sent: None,
            });
        let input = request.arguments.map_or(Value::Null, Value::Object);
        let request = ToolRequest::new(&*request.name, input).model_id(context.id.to_string());
        let mut call = self.turn.call(request).await;
        let reporting = report_progress(reporter, call.id().clone());
        let stopping = self.stop_with(context, &call);
        tokio::select! {
            outcome = &mut call => outcome,
            never = reporting => match never {},
            never = stopping => match never {},
        }
    }

    /// Cancels the call when the client cancels its request. The call then ends by itself.
    fn stop_with(
        &self,
        context: &RequestContext<RoleServer>,
        call: &CallHandle,
    ) -> impl Future<Output = std::convert::Infallible> + use<> {
        let (engine, id, cancelled) = (self.engine.clone(), call.id().clone(), context.ct.clone());
        async move {
            cancelled.cancelled().await;
            engine.cancel(&id);
            std::future::pending().await
        }
    }
}

impl ServerHandler for EngineServer {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(tools);
        info.protocol_version = LATEST;
        info.server_info = Implementation::new("toolcall", env!("CARGO_PKG_VERSION"));
        info.with_instructions(listing::instructions(self.engine.setting()))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&LATEST))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = listing::tools(&self.engine.registry());
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Ok(_place) = self.permits.clone().try_acquire_owned() else {
            let refused = format!("there are {MOST_CALLS} calls open; wait for one to end");
            return Ok(result::failed(refused).into());
        };
        self.approver.set_client(&context.peer);
        let outcome = self.call(request, &context).await;
        Ok(result::of(&outcome).into())
    }
}

/// Sends the progress of a call to the client.
struct ProgressReporter {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    events: broadcast::Receiver<JournalEntry>,
    last_sent: Option<(f64, Instant)>,
}

/// Reports the progress of one call until it is dropped.
async fn report_progress(
    reporter: Option<ProgressReporter>,
    call: toolcall::CallId,
) -> std::convert::Infallible {
    let Some(mut reporter) = reporter else {
        return std::future::pending().await;
    };
    loop {
        match reporter.events.recv().await {
            Ok(shown) if *shown.call.id() == call => reporter.report(&shown).await,
            // The next event carries the current progress, so a missed one does not matter.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}

impl ProgressReporter {
    async fn report(&mut self, shown: &JournalEntry) {
        let Some(progress) = self.progress(shown) else {
            return;
        };
        let now = Instant::now();
        // The protocol requires the value to increase with every notification.
        let is_news = self
            .last_sent
            .is_none_or(|(value, at)| progress.progress > value && now.duration_since(at) >= PACE);
        if is_news {
            self.last_sent = Some((progress.progress, now));
            let _hung_up = self.peer.notify_progress(progress).await;
        }
    }

    /// Returns the progress that the tool reports; without any, the elapsed seconds of a heartbeat.
    fn progress(&self, shown: &JournalEntry) -> Option<ProgressNotificationParam> {
        let of = |value| ProgressNotificationParam::new(self.token.clone(), value);
        if let Event::Heartbeat(beat) = &shown.event {
            let is_silent = shown.call.progress().is_none();
            return is_silent.then(|| of(beat.elapsed.as_secs_f64()));
        }
        let Event::Progressed(_) = &shown.event else {
            return None;
        };
        let progress = shown.call.progress()?;
        let mut notification = of(progress.current());
        notification.total = progress.total();
        notification.message = progress.message().map(str::to_owned);
        Some(notification)
    }
}
