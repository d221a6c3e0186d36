//! One connection to a server: the handshake, listing the tools, and notifications of changed tools.
//! It never restarts a server.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, PeerRequestOptions,
    RunningService, ServiceError,
};
use serde_json::Value;
use tokio::time::timeout;
use toolcall::text::clean_line;

use super::client::McpClient;
use super::connector::{Connector, RawTransport};
use super::listing::ToolListing;
use super::notifications::Notifications;
use super::process::ServerProcess;
use super::settings::ServerSettings;
use super::transport::LineTransport;

const LONGEST_REASON: usize = 600;

/// A connection to a server after the handshake.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) client: Arc<McpClient>,
    pub(super) server_info: ServerInfo,
}

/// The protocol version of a connection, and the server's own name and version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerInfo {
    pub(super) protocol: String,
    pub(super) server: String,
}

/// Which handshake to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    /// The newest protocol version, with `initialize` as the fallback.
    Newest,
    /// The newest protocol version only.
    Modern,
    /// `initialize` only: some servers exit on anything else.
    Legacy,
}

/// A new connection, with the service and the process that keep it alive.
pub(super) struct OpenConnection {
    pub(super) connection: Arc<Connection>,
    pub(super) service: RunningService<RoleClient, Arc<McpClient>>,
    pub(super) process: Option<ServerProcess>,
}

/// A failed attempt to connect.
pub(super) struct McpConnectionError {
    pub(super) why: String,
    pub(super) failure_kind: HandshakeFailure,
    pub(super) process: Option<ServerProcess>,
}

/// How a handshake failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HandshakeFailure {
    /// The server closed the connection.
    Closed,
    /// The server sent something other than an answer to the handshake.
    UnexpectedResponse,
    /// The server answered with an error.
    Rejected,
    /// Anything else.
    Other,
}

impl HandshakeFailure {
    fn of(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::ConnectionClosed(_) => HandshakeFailure::Closed,
            ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ExpectedInitResponse(_) => {
                HandshakeFailure::UnexpectedResponse
            }
            ClientInitializeError::JsonRpcError(_) => HandshakeFailure::Rejected,
            _ => HandshakeFailure::Other,
        }
    }

    /// Returns the handshake to try next. A slow server has received both handshakes by the time it
    /// answers, and rejects the second one: it supports the newest version.
    pub(super) fn fallback(self) -> Option<Handshake> {
        match self {
            HandshakeFailure::Closed | HandshakeFailure::UnexpectedResponse => {
                Some(Handshake::Legacy)
            }
            HandshakeFailure::Rejected => Some(Handshake::Modern),
            HandshakeFailure::Other => None,
        }
    }
}

/// Connects to a server and performs the handshake.
pub(super) async fn open(
    connector: &dyn Connector,
    client: McpClient,
    handshake: Handshake,
) -> Result<OpenConnection, McpConnectionError> {
    let client = Arc::new(client);
    let transport = connector.connect(client.notifications().clone()).await;
    let transport = transport.map_err(|why| McpConnectionError {
        why,
        failure_kind: HandshakeFailure::Other,
        process: None,
    })?;
    let (served, process) = match transport {
        RawTransport::Lines {
            reader,
            writer,
            process,
        } => {
            let transport = LineTransport::new(reader, writer, client.notifications().clone());
            let serving = client
                .clone()
                .serve_with_lifecycle(transport, mode(handshake));
            (serving.await, process.map(|process| *process))
        }
        RawTransport::Http(transport) => {
            let serving = client
                .clone()
                .serve_with_lifecycle(transport, mode(handshake));
            (serving.await, None)
        }
    };
    match served {
        Ok(service) => Ok(OpenConnection {
            connection: Arc::new(Connection {
                peer: service.peer().clone(),
                client,
                server_info: server_info(service.peer()),
            }),
            service,
            process,
        }),
        Err(error) => Err(McpConnectionError {
            why: why_not(&error),
            failure_kind: HandshakeFailure::of(&error),
            process,
        }),
    }
}

fn mode(handshake: Handshake) -> ClientLifecycleMode {
    let known = ProtocolVersion::KNOWN_VERSIONS.iter().rev();
    let preferred_versions = known.cloned().collect();
    match handshake {
        Handshake::Newest => ClientLifecycleMode::Auto {
            preferred_versions,
            legacy_version: None,
        },
        Handshake::Modern => ClientLifecycleMode::Discover { preferred_versions },
        Handshake::Legacy => ClientLifecycleMode::Initialize,
    }
}

fn server_info(peer: &Peer<RoleClient>) -> ServerInfo {
    let Some(info) = peer.peer_info() else {
        return ServerInfo::default();
    };
    let server = info.server_info.as_ref();
    let server = server.map(|own| format!("{} {}", own.name, own.version));
    ServerInfo {
        protocol: clean_line(info.protocol_version.as_str(), 40),
        server: clean_line(&server.unwrap_or_default(), 120),
    }
}

/// Returns the reason as text, without the unexpected message of the server.
fn why_not(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ExpectedInitResponse(_) => {
            "its answer to the handshake cannot be read".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => why_not(fallback),
        ClientInitializeError::JsonRpcError(error) => {
            let said = clean_line(&error.message, LONGEST_REASON);
            format!("it refused the handshake: {said}")
        }
        error if error.is_authorization_required() => {
            "it wants a sign-in; put a token into `headers`".to_owned()
        }
        error => causes(error),
    }
}

/// Returns an error and all its sources as one line.
pub(super) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        let source_text = source.to_string();
        if !text.contains(&source_text) {
            text = format!("{text}: {source_text}");
        }
        cause = source.source();
    }
    clean_line(&text, LONGEST_REASON)
}

impl Connection {
    pub(super) fn notifications(&self) -> &Arc<Notifications> {
        self.client.notifications()
    }

    /// Lists all tools of the server, page by page, within the time limit for listing.
    pub(super) async fn list(&self, server: &ServerSettings) -> Result<ToolListing, String> {
        let limit = server.timeouts.list;
        let slow = |_| format!("it did not list its tools within {limit:?}");
        timeout(limit, self.list_all(server)).await.map_err(slow)?
    }

    async fn list_all(&self, server: &ServerSettings) -> Result<ToolListing, String> {
        let mut listing = ToolListing::default();
        let mut cursor = None;
        loop {
            let page = match self.page(cursor).await {
                Ok(page) => page,
                Err(ServiceError::McpError(error)) if error.code.0 == -32601 => {
                    listing.notes.push("it offers no tools".to_owned());
                    return Ok(listing);
                }
                Err(error) => return Err(format!("it did not list its tools: {}", causes(&error))),
            };
            cursor = listing.add(page, server);
            if cursor.is_none() {
                return Ok(listing);
            }
        }
    }

    async fn page(&self, cursor: Option<String>) -> Result<Value, ServiceError> {
        let params = PaginatedRequestParams::default().with_cursor(cursor);
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params));
        let options = PeerRequestOptions::no_options();
        let handle = self.peer.send_request_with_option(request, options).await?;
        handle.await_response().await.map(value_of)
    }

    /// Receives notifications of changed tools until it is dropped. Protocol versions without
    /// subscriptions send them unasked, so there it only waits.
    pub(super) async fn subscribe(&self) {
        let has_subscriptions = self
            .peer
            .peer_info()
            .is_some_and(|info| !info.protocol_version.has_initialize());
        if !has_subscriptions {
            return std::future::pending().await;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        // If the server refuses the subscription, its tools are listed again at its next start.
        if let Ok(mut subscription) = self.peer.listen(filter).await {
            while let Ok(Some(_)) = subscription.next().await {
                self.notifications().notify_tools_changed();
            }
        }
        std::future::pending().await
    }
}

/// Returns a result as JSON: as received over stdio, decoded and encoded again over HTTP.
pub(super) fn value_of(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(custom) => custom.0,
        typed => serde_json::to_value(typed).unwrap_or(Value::Null),
    }
}
