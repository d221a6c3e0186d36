//! How a connection to a server begins: by starting its program, or by its address.
//! It opens a wire and says nothing on it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use toolcall::BoxFuture;

use super::http::{self, HttpTransport};
use super::notifications::Notifications;
use super::process::{self, Process};
use super::settings::{Address, Program};

/// A way to reach a server, again and again.
pub(super) trait Dial: Send + Sync + 'static {
    /// Opens a new wire.
    fn dial(&self, ears: Arc<Notifications>) -> BoxFuture<'_, Result<Wire, String>>;
}

/// A connection on which nothing was said yet.
pub(super) enum Wire {
    Lines {
        reader: Box<dyn AsyncRead + Send + Unpin>,
        writer: Box<dyn AsyncWrite + Send + Unpin>,
        process: Option<Box<Process>>,
    },
    Http(HttpTransport),
}

/// A program and where it runs.
pub(super) struct ProgramDial {
    pub(super) program: Program,
    pub(super) cwd: PathBuf,
    pub(super) env: Arc<BTreeMap<OsString, OsString>>,
}

impl Dial for ProgramDial {
    fn dial(&self, ears: Arc<Notifications>) -> BoxFuture<'_, Result<Wire, String>> {
        let started = process::start(&self.program, &self.cwd, &self.env, ears);
        let wire = started.map(|started| Wire::Lines {
            reader: Box::new(started.output),
            writer: Box::new(started.input),
            process: Some(Box::new(started.process)),
        });
        Box::pin(std::future::ready(wire))
    }
}

impl Dial for Address {
    fn dial(&self, _ears: Arc<Notifications>) -> BoxFuture<'_, Result<Wire, String>> {
        Box::pin(std::future::ready(http::open(self).map(Wire::Http)))
    }
}
