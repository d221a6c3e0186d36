//! This machine as a host: files beneath the roots, supervised commands, spilled output.
//! It does what it is told within these bounds; permission was settled before.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use toolcall::{
    Applied, BoxFuture, CallId, Command, Console, Exit, FileBody, FileEdit, Host, HostError, Spill,
};

use crate::command::Commands;
use crate::local::{Files, Spills};

/// This machine.
#[derive(Debug)]
pub struct LocalHost {
    files: Arc<Files>,
    spills: Arc<Spills>,
    commands: Commands,
}

impl LocalHost {
    /// Puts it together. The files should refuse links: an engine resolves paths before.
    pub fn new(files: Arc<Files>, spills: Arc<Spills>, commands: Commands) -> Self {
        Self {
            files,
            spills,
            commands,
        }
    }

    /// Files may be slow, so they are used where waiting is allowed.
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

    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<Applied, HostError>> {
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
