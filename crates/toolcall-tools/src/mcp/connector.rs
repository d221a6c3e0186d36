//! Opens transports to servers: starts a program, or prepares an HTTP client for an address.
//! It sends no message; the handshake is done by the connection.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use toolcall::BoxFuture;

use super::http::{self, HttpTransport};
use super::notifications::Notifications;
use super::process::{self, ServerProcess};
use super::settings::{Address, Program};

/// Connects to one server, as often as needed.
pub(super) trait Connector: Send + Sync + 'static {
    /// Opens a new transport. Log lines of a program go to `notifications`.
    fn connect(
        &self,
        notifications: Arc<Notifications>,
    ) -> BoxFuture<'_, Result<RawTransport, String>>;
}

/// A transport over which no message was sent yet.
pub(super) enum RawTransport {
    Lines {
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        process: Option<Box<ServerProcess>>,
    },
    Http(HttpTransport),
}

/// Starts a server's program in a directory, with an environment.
pub(super) struct ProgramConnector {
    pub(super) program: Program,
    pub(super) cwd: PathBuf,
    pub(super) env: Arc<BTreeMap<OsString, OsString>>,
}

impl Connector for ProgramConnector {
    fn connect(
        &self,
        notifications: Arc<Notifications>,
    ) -> BoxFuture<'_, Result<RawTransport, String>> {
        let started = process::start(&self.program, &self.cwd, &self.env, notifications);
        let transport = started.map(|started| RawTransport::Lines {
            reader: Box::new(started.output),
            writer: Box::new(started.input),
            process: Some(Box::new(started.process)),
        });
        Box::pin(std::future::ready(transport))
    }
}

impl Connector for Address {
    fn connect(
        &self,
        _notifications: Arc<Notifications>,
    ) -> BoxFuture<'_, Result<RawTransport, String>> {
        Box::pin(std::future::ready(http::open(self).map(RawTransport::Http)))
    }
}
