//! One connection to a server: the handshake, the list of its tools, and its end.
//! Every step has its time; nothing here starts a server again.

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

use super::client::Client;
use super::dial::{Dial, Wire};
use super::listing::Listing;
use super::notifications::Notifications;
use super::process::Process;
use super::settings::ServerSettings;
use super::transport::LineTransport;

const LONGEST_REASON: usize = 600;

/// A server that is there.
pub(super) struct Connection {
    pub(super) peer: Peer<RoleClient>,
    pub(super) client: Arc<Client>,
    /// The version of the protocol that is spoken, and what the server calls itself.
    pub(super) greeting: Greeting,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Greeting {
    pub(super) protocol: String,
    pub(super) server: String,
}

/// How a server is greeted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    /// By the newest version, or as it used to be if the server does not know that.
    Newest,
    /// By the newest version alone.
    Modern,
    /// As it used to be: there are servers that end when they are greeted otherwise.
    Legacy,
}

/// A connection, and what to hold for as long as it lives.
pub(super) struct Opened {
    pub(super) connection: Arc<Connection>,
    pub(super) service: RunningService<RoleClient, Arc<Client>>,
    pub(super) process: Option<Process>,
}

/// Why there is no connection.
pub(super) struct Failure {
    pub(super) why: String,
    pub(super) breakdown: Breakdown,
    pub(super) process: Option<Process>,
}

/// Where a greeting broke off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breakdown {
    /// The server went away on the first word.
    HungUp,
    /// The server answered something else.
    Misunderstood,
    /// The server refused it.
    Refused,
    /// Anywhere else.
    Elsewhere,
}

impl Breakdown {
    fn of(error: &ClientInitializeError) -> Self {
        match error {
            ClientInitializeError::ConnectionClosed(_) => Breakdown::HungUp,
            ClientInitializeError::ExpectedInitResult(_)
            | ClientInitializeError::ExpectedInitResponse(_) => Breakdown::Misunderstood,
            ClientInitializeError::JsonRpcError(_) => Breakdown::Refused,
            _ => Breakdown::Elsewhere,
        }
    }

    /// How the server may be greeted instead. One that answers late has been greeted twice by
    /// then, and refuses the second greeting: it knows the newest.
    pub(super) fn instead(self) -> Option<Handshake> {
        match self {
            Breakdown::HungUp | Breakdown::Misunderstood => Some(Handshake::Legacy),
            Breakdown::Refused => Some(Handshake::Modern),
            Breakdown::Elsewhere => None,
        }
    }
}

/// Connects and greets.
pub(super) async fn open(
    dial: &dyn Dial,
    client: Client,
    handshake: Handshake,
) -> Result<Opened, Failure> {
    let client = Arc::new(client);
    let wire = dial.dial(client.ears().clone()).await;
    let wire = wire.map_err(|why| Failure {
        why,
        breakdown: Breakdown::Elsewhere,
        process: None,
    })?;
    let (served, process) = match wire {
        Wire::Lines {
            reader,
            writer,
            process,
        } => {
            let transport = LineTransport::new(reader, writer, client.ears().clone());
            let serving = client
                .clone()
                .serve_with_lifecycle(transport, mode(handshake));
            (serving.await, process.map(|process| *process))
        }
        Wire::Http(transport) => {
            let serving = client
                .clone()
                .serve_with_lifecycle(transport, mode(handshake));
            (serving.await, None)
        }
    };
    match served {
        Ok(service) => Ok(Opened {
            connection: Arc::new(Connection {
                peer: service.peer().clone(),
                client,
                greeting: greeting(service.peer()),
            }),
            service,
            process,
        }),
        Err(error) => Err(Failure {
            why: why_not(&error),
            breakdown: Breakdown::of(&error),
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

fn greeting(peer: &Peer<RoleClient>) -> Greeting {
    let Some(info) = peer.peer_info() else {
        return Greeting::default();
    };
    let server = info.server_info.as_ref();
    let server = server.map(|own| format!("{} {}", own.name, own.version));
    Greeting {
        protocol: clean_line(info.protocol_version.as_str(), 40),
        server: clean_line(&server.unwrap_or_default(), 120),
    }
}

/// The reason in words, without what a server sent instead of an answer.
fn why_not(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended before it answered".to_owned(),
        ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ExpectedInitResponse(_) => {
            "its answer to the greeting cannot be read".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => why_not(fallback),
        ClientInitializeError::JsonRpcError(error) => {
            let said = clean_line(&error.message, LONGEST_REASON);
            format!("it refused the greeting: {said}")
        }
        error if error.is_authorization_required() => {
            "it wants a sign-in; put a token into `headers`".to_owned()
        }
        error => causes(error),
    }
}

/// An error with all its causes, in one line.
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
    pub(super) fn ears(&self) -> &Arc<Notifications> {
        self.client.ears()
    }

    /// Every tool of the server, page by page.
    pub(super) async fn list(&self, server: &ServerSettings) -> Result<Listing, String> {
        let limit = server.timeouts.list;
        let slow = |_| format!("it did not list its tools within {limit:?}");
        timeout(limit, self.list_all(server)).await.map_err(slow)?
    }

    async fn list_all(&self, server: &ServerSettings) -> Result<Listing, String> {
        let mut listing = Listing::default();
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

    /// Hears of changed tools for as long as it is waited for. Before there were subscriptions,
    /// servers just said so.
    pub(super) async fn subscribe(&self) {
        let has_subscriptions = self
            .peer
            .peer_info()
            .is_some_and(|info| !info.protocol_version.has_initialize());
        if !has_subscriptions {
            return std::future::pending().await;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        // A server that takes no subscription is listed again when it is started again.
        if let Ok(mut subscription) = self.peer.listen(filter).await {
            while let Ok(Some(_)) = subscription.next().await {
                self.ears().hear_change();
            }
        }
        std::future::pending().await
    }
}

/// The answer as it came. Over HTTP it passed a typed reader, which leaves what it cannot read.
pub(super) fn value_of(result: ServerResult) -> Value {
    match result {
        ServerResult::CustomResult(custom) => custom.0,
        typed => serde_json::to_value(typed).unwrap_or(Value::Null),
    }
}
