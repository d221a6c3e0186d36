//! The status of a server, for the user: its state, its tools, its log.
//! It contains no secret.

use std::sync::Arc;

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// The name of the server in the settings.
    pub name: Arc<str>,
    /// The command line or the address.
    pub provider: Arc<str>,
    /// The state.
    pub state: ServerState,
    /// The negotiated protocol version; empty before the first connection.
    pub protocol: String,
    /// The server's own name and version; empty before the first connection.
    pub server: String,
    /// The names of its tools in the registry.
    pub tools: Vec<Arc<str>>,
    /// Remarks about the server, oldest first.
    pub notes: Vec<String>,
    /// The last lines that it printed or logged, oldest first.
    pub log: Vec<String>,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Disabled in the settings.
    Disabled,
    /// Not started yet.
    Idle,
    /// Starting.
    Starting,
    /// Ready for calls.
    Ready,
    /// Failed. A later call starts it again, after a delay.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// Closed.
    Closed,
}
