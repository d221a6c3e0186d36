//! A host that uses the client's files and terminal where it offers them, and the local host for the rest.
//! Everything it sends was allowed before, and its paths lead where the local host would go.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use toolcall::text::clean_line;
use toolcall::{
    AppliedEdit, BoxFuture, CallId, Command, Console, Exit, FileBody, FileChange, FileEdit, Host,
    HostError, Reading, SessionId, Spill,
};

use super::Capabilities;
use super::terminal::{Terminal, TerminalCommand};
use crate::peer::{Peer, PeerError};
use crate::service::CommandPlacement;

/// The protocol's error code for a missing file.
const NOT_FOUND: i64 = -32002;

/// A host that uses the client first.
pub(crate) struct ClientHost {
    pub(crate) session: SessionId,
    pub(crate) peer: Peer,
    pub(crate) offers: Capabilities,
    pub(crate) commands: CommandPlacement,
    pub(crate) local: Arc<dyn Host>,
}

impl ClientHost {
    /// Reads a file through the client, which returns the unsaved buffer if there is one.
    async fn read_from_client(&self, path: &Path) -> Result<Arc<str>, PeerError> {
        let params = json!({"sessionId": self.session.as_str(), "path": path.to_string_lossy()});
        let answer = self.peer.request("fs/read_text_file", &params).await?;
        let text = answer["content"].as_str();
        text.map(Arc::from).ok_or(PeerError::Malformed)
    }

    /// Writes a file through the client. The path was resolved before; if it leads elsewhere now, a
    /// directory or symlink was swapped.
    async fn write_to_client(&self, path: &Path, text: &str) -> Result<AppliedEdit, HostError> {
        if self.local.resolve(path).await? != path {
            return Err(HostError::Changed(path.to_owned()));
        }
        let params = json!({
            "sessionId": self.session.as_str(),
            "path": path.to_string_lossy(),
            "content": text,
        });
        let answer = self.peer.request("fs/write_text_file", &params).await;
        match answer {
            Ok(_) => Ok(AppliedEdit::default()),
            Err(error) => Err(from_client(path, &error)),
        }
    }

    /// Reads a file. Only the local host knows binary files, only the client knows unsaved text. A file
    /// that the client refuses is not read locally.
    async fn read_text_or_binary(&self, path: &Path) -> Result<FileBody, HostError> {
        let path = &self.local.resolve(path).await?;
        let saved = self.local.read(path).await;
        match saved {
            Ok(FileBody::Text(_)) | Err(HostError::Missing(_)) => {}
            Ok(FileBody::Binary { .. } | FileBody::Folder { .. }) | Err(_) => return saved,
        }
        match self.read_from_client(path).await {
            Ok(text) => Ok(FileBody::Text(text)),
            // Many clients have no special error code for a missing file.
            Err(PeerError::Answered(_)) if saved.is_err() => saved,
            Err(error) => Err(from_client(path, &error)),
        }
    }

    /// Reads the file again just before the edit, so that only what the user saw is changed.
    async fn check_unchanged(&self, path: &Path, before: &FileBody) -> Result<(), HostError> {
        if self.read(path).await? != *before {
            return Err(HostError::Changed(path.to_owned()));
        }
        Ok(())
    }

    async fn check_absent(&self, path: &Path) -> Result<(), HostError> {
        match self.read(path).await {
            Err(HostError::Missing(_)) => Ok(()),
            Err(error) => Err(error),
            Ok(_) => Err(HostError::Exists(path.to_owned())),
        }
    }

    /// Applies an edit. The client writes texts; it has no method for other edits.
    async fn apply_through_client(&self, edit: &FileEdit) -> Result<AppliedEdit, HostError> {
        let path = edit.path.as_path();
        match &edit.change {
            FileChange::Added {
                after: FileBody::Text(after),
            } => {
                self.check_absent(path).await?;
                self.write_to_client(path, after).await
            }
            FileChange::Modified {
                before,
                after: FileBody::Text(after),
            } => {
                self.check_unchanged(path, before).await?;
                self.write_to_client(path, after).await
            }
            // An unsaved buffer must not be lost with its file.
            FileChange::Deleted {
                before: before @ FileBody::Text(_),
            } if self.offers.read_text => {
                // An editor has no buffer for a symlink.
                if self.local.resolve(path).await? == path {
                    self.check_unchanged(path, before).await?;
                }
                self.local.apply(edit).await
            }
            FileChange::Added { .. }
            | FileChange::Modified { .. }
            | FileChange::Deleted { .. }
            | FileChange::Moved { .. } => self.local.apply(edit).await,
        }
    }

    /// Returns the command for the client's terminal, if it may run there.
    fn client_command(&self, command: &Command, console: &dyn Console) -> Option<TerminalCommand> {
        if !self.offers.terminal || self.commands == CommandPlacement::InAgent {
            return None;
        }
        let decision = console.decision();
        let was_approved = decision.is_some_and(|decision| decision.is_approval_by_user());
        match &command.reading {
            // A client accepts one program with its arguments, and no redirects.
            Reading::Understood(parts) => match parts.as_slice() {
                [only] if only.redirects.is_empty() => TerminalCommand::argv(&only.argv, &only.cwd)
                    .map(|run| run.with_env(&command.env)),
                [] | [_, ..] => None,
            },
            Reading::Unclear(_) if was_approved => {
                Some(TerminalCommand::shell(&command.text, &command.cwd).with_env(&command.env))
            }
            Reading::Unclear(_) => None,
        }
    }
}

/// Converts a client's error about a file.
fn from_client(path: &Path, error: &PeerError) -> HostError {
    match error {
        PeerError::Answered(error) if error.code == NOT_FOUND => HostError::Missing(path.into()),
        PeerError::Answered(_) | PeerError::Gone | PeerError::Malformed => {
            let error = clean_line(&error.to_string(), 300);
            let path = path.display();
            HostError::Other(format!("the client could not handle `{path}`: {error}").into())
        }
    }
}

impl Host for ClientHost {
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>> {
        self.local.resolve(path)
    }

    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        if !self.offers.read_text {
            return self.local.read(path);
        }
        Box::pin(self.read_text_or_binary(path))
    }

    /// Only the local host knows directories and symlinks.
    fn inspect<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        self.local.inspect(path)
    }

    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<AppliedEdit, HostError>> {
        if !self.offers.write_text {
            return self.local.apply(edit);
        }
        Box::pin(self.apply_through_client(edit))
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>> {
        let Some(run) = self.client_command(command, console) else {
            return self.local.run(command, console);
        };
        let (peer, session) = (self.peer.clone(), self.session.clone());
        Box::pin(async move {
            let not_runnable = |error: PeerError| HostError::NotRunnable {
                command: command.text.clone(),
                reason: clean_line(&error.to_string(), 300).into(),
            };
            // If the call is stopped before the client created the terminal, the terminal is killed and released as soon as
            // it exists, so before the turn is answered. The engine waits only so long; a later terminal is released then.
            let terminal = Terminal::open(peer, session, run).await;
            let terminal = terminal.map_err(not_runnable)?;
            let exit = terminal.wait(console).await.map_err(not_runnable)?;
            let unsaid =
                || HostError::Other("the client does not say how the command ended".into());
            exit.ok_or_else(unsaid)
        })
    }

    fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError> {
        self.local.keep(call, bytes)
    }
}
