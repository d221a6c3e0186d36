//! Serves the tools of an engine to another agent, over the Model Context Protocol.
//! Every call goes through the engine's gate; whoever connects can neither lower a verdict nor pass it.

mod ask;
mod listing;
mod reading;
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

use ask::Asker;
use reading::Watched;

/// Calls of one client at once. The protocol knows no other way to say that it is too much.
const MOST_CALLS: usize = 64;
/// How far a client's progress may fall behind before some is left out.
const MOST_BEHIND: usize = 256;
/// Progress is not told more often.
const PACE: Duration = Duration::from_millis(100);
/// Later versions let no server ask anything while a call is open, and permission is asked so.
const LATEST: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// Why nothing could be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client did not begin as the protocol says.
    #[error("the MCP client did not begin as it should: {0}")]
    Beginning(String),
    /// What served it broke down.
    #[error("serving broke off: {0}")]
    Broken(String),
}

/// Serves the tools of this engine until the client hangs up; then every call has ended.
///
/// The client is asked for permission, if it can be; the approver of the engine is not. It is told
/// to use the tools for this folder.
pub async fn serve<R, W>(engine: EngineBuilder, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let asker = Asker::default();
    let engine = Arc::new(engine.approver(asker.clone()).build());
    let turn = Arc::new(engine.turn());
    let desk = Desk {
        engine: engine.clone(),
        turn: turn.clone(),
        asker,
        places: Arc::new(Semaphore::new(MOST_CALLS)),
    };
    let (reader, ended) = Watched::new(reader);
    let served = tokio::select! {
        served = converse(desk, reader, writer) => served,
        never = stop_at(ended.wait(), &turn) => match never {},
    };
    turn.close().await;
    served
}

async fn converse<R, W>(desk: Desk, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let running = match serve_server(desk, (reader, writer)).await {
        Ok(running) => running,
        // Whoever hangs up before it began wanted nothing.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Beginning(error.to_string())),
    };
    match running.waiting().await {
        Ok(_hung_up) => Ok(()),
        Err(error) => Err(ServeError::Broken(error.to_string())),
    }
}

/// A client that hangs up takes its calls along, and does not wait for what they would say.
async fn stop_at(ended: impl Future<Output = ()>, turn: &Turn) -> std::convert::Infallible {
    ended.await;
    turn.cancel();
    std::future::pending().await
}

/// What answers one client.
struct Desk {
    engine: Arc<Engine>,
    turn: Arc<Turn>,
    asker: Asker,
    places: Arc<Semaphore>,
}

impl Desk {
    async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Outcome {
        let following = context.meta.get_progress_token().map(|token| Following {
            token,
            peer: context.peer.clone(),
            events: self.engine.journal().follow(MOST_BEHIND),
            told: None,
        });
        let input = request.arguments.map_or(Value::Null, Value::Object);
        let request = ToolRequest::new(&*request.name, input).model_id(context.id.to_string());
        let mut call = self.turn.call(request).await;
        let telling = tell(following, call.id().clone());
        let stopping = self.stop_with(context, &call);
        tokio::select! {
            outcome = &mut call => outcome,
            never = telling => match never {},
            never = stopping => match never {},
        }
    }

    /// Stops the call when the client says so. It ends in its own way.
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

impl ServerHandler for Desk {
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
        let Ok(_place) = self.places.clone().try_acquire_owned() else {
            let refused = format!("there are {MOST_CALLS} calls open; wait for one to end");
            return Ok(result::failed(refused).into());
        };
        self.asker.meet(&context.peer);
        let outcome = self.call(request, &context).await;
        Ok(result::of(&outcome).into())
    }
}

/// Who is told how far a call is.
struct Following {
    token: ProgressToken,
    peer: Peer<RoleServer>,
    events: broadcast::Receiver<JournalEntry>,
    told: Option<(f64, Instant)>,
}

/// Tells of one call for as long as it is awaited.
async fn tell(following: Option<Following>, call: toolcall::CallId) -> std::convert::Infallible {
    let Some(mut following) = following else {
        return std::future::pending().await;
    };
    loop {
        match following.events.recv().await {
            Ok(shown) if *shown.call.id() == call => following.tell(&shown).await,
            // What was missed is told by what comes next.
            Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
        }
    }
}

impl Following {
    async fn tell(&mut self, shown: &JournalEntry) {
        let Some(progress) = self.progress(shown) else {
            return;
        };
        let now = Instant::now();
        // The protocol wants it to grow with every word.
        let is_news = self
            .told
            .is_none_or(|(value, at)| progress.progress > value && now.duration_since(at) >= PACE);
        if is_news {
            self.told = Some((progress.progress, now));
            let _hung_up = self.peer.notify_progress(progress).await;
        }
    }

    /// How far the tool says it is; else, that it is alive, in seconds.
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
        let mut told = of(progress.current());
        told.total = progress.total();
        told.message = progress.message().map(str::to_owned);
        Some(told)
    }
}
