//! The host that acts on this machine: files beneath the roots, supervised commands, spilled output.
//! It decides nothing about permission: the engine does that before it calls a host.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use toolcall::{
    AppliedEdit, BoxFuture, CallId, Command, Console, Exit, FileBody, FileEdit, Host, HostError,
    Spill,
};

use crate::command::Commands;
use crate::local::{Files, Spills};

/// The host that acts on this machine. [`Toolset`](crate::Toolset) builds one; build it yourself to
/// run your own tools on it.
#[derive(Debug)]
pub struct LocalHost {
    files: Arc<Files>,
    spills: Arc<Spills>,
    commands: Commands,
}

impl LocalHost {
    /// A host of these parts. The files should refuse symlinks ([`Files::refusing_symlinks`]), because
    /// the engine has resolved every path before.
    pub fn new(files: Arc<Files>, spills: Arc<Spills>, commands: Commands) -> Self {
        Self {
            files,
            spills,
            commands,
        }
    }

    /// Runs a file operation on a thread that may block.
    fn blocking<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&Files) -> Result<T, HostError> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, HostError>> {
        let files = self.files.clone();
        Box::pin(async move {
            let result = spawn_blocking(move || operation(&files)).await;
            result.unwrap_or_else(|error| Err(HostError::Other(error.to_string().into())))
        })
    }
}

impl Host for LocalHost {
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>> {
        let path = path.to_owned();
        self.blocking(move |files| files.resolve(&path))
    }

    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        let path = path.to_owned();
        self.blocking(move |files| files.read(&path))
    }

    fn inspect<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        let path = path.to_owned();
        self.blocking(move |files| files.inspect(&path))
    }

    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<AppliedEdit, HostError>> {
        let edit = edit.clone();
        self.blocking(move |files| files.apply(&edit))
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>> {
        Box::pin(self.commands.run(command, console))
    }

    fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError> {
        self.spills.keep(call, bytes)
    }
}
