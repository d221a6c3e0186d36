//! How a server is, for people: what it runs, what it offers, what went wrong.
//! Plain values; no secret is among them.

use std::sync::Arc;

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// Its name.
    pub name: Arc<str>,
    /// Its command line or its address.
    pub provider: Arc<str>,
    /// Whether it can be used.
    pub state: ServerState,
    /// The version of the protocol that it speaks; empty before it was reached.
    pub protocol: String,
    /// What it calls itself; empty before it was reached.
    pub server: String,
    /// The names by which its tools are called.
    pub tools: Vec<Arc<str>>,
    /// What was odd about it, oldest first.
    pub notes: Vec<String>,
    /// The last that it printed or logged, oldest first.
    pub log: Vec<String>,
}

/// Whether a server can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// Its settings say to leave it alone.
    Disabled,
    /// Nobody has started it.
    Idle,
    /// It is being started.
    Starting,
    /// It can be used.
    Ready,
    /// It cannot; the next call starts it again, when some time has passed.
    Failed {
        /// Why.
        reason: Arc<str>,
    },
    /// It was closed.
    Closed,
}
