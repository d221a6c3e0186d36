//! What a tool may use of the machine: files, commands, storage for long output.
//! A host does what is requested within its own limits; permission was checked before.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;

use crate::command::Command;
use crate::content::{Content, FileBody, FileChange, FileEdit};
use crate::event::{Decision, Exit};
use crate::ids::CallId;
use crate::intent::Touch;
use crate::output::{Completeness, Spill};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The files and commands that tools use. Implement it to run tools elsewhere; [`MemoryHost`] is
/// one for tests.
pub trait Host: Send + Sync + 'static {
    /// Returns the absolute path with every symlink followed, or an error where the host denies
    /// access. A path that does not exist yet is resolved through its directory.
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>>;

    /// Reads a regular file. The path was returned by [`Host::resolve`]: if it leads through a
    /// symlink now, it has changed since.
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>>;

    /// Returns what a path holds, for a tool that will delete or move it: a file, a directory with
    /// everything in it, or the target of a symlink. Only the directory of the path was resolved.
    fn inspect<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        self.read(path)
    }

    /// Applies one edit if the file is still as the edit says it was. The path was resolved; for a
    /// deletion or a move, only its directory was.
    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<AppliedEdit, HostError>>;

    /// Runs a command and sends its output to the console as it comes. A host that must clean up
    /// awaits [`Console::stopped`]; otherwise the future is dropped.
    fn run<'a>(
        &'a self,
        command: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>>;

    /// Stores more of a call's output where it can be read whole, up to the host's own limit.
    fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError>;
}

/// The result of an edit that was applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AppliedEdit {
    /// Where deleted content is kept, if the edit does not contain it.
    pub kept: Option<PathBuf>,
}

/// Resolves the symlinks in an edit's paths that lead elsewhere. A path that cannot be resolved
/// stays as it is; the host denies it later.
pub(crate) async fn resolve_edit(host: &dyn Host, edit: &FileEdit) -> FileEdit {
    let last = match &edit.change {
        FileChange::Added { .. } | FileChange::Modified { .. } => FinalSymlink::Follow,
        FileChange::Deleted { .. } | FileChange::Moved { .. } => FinalSymlink::Keep,
    };
    let mut resolved = edit.clone();
    resolved.path = resolve_or_keep(host, &edit.path, last).await;
    if let FileChange::Moved { to } = &mut resolved.change {
        *to = resolve_or_keep(host, to, FinalSymlink::Keep).await;
    }
    resolved
}

/// Resolves the symlinks in a touch.
pub(crate) async fn resolve_touch(host: &dyn Host, touch: &Touch) -> Touch {
    match touch {
        Touch::Reads(path) => Touch::Reads(resolve_or_keep(host, path, FinalSymlink::Follow).await),
        Touch::Writes(path) => {
            Touch::Writes(resolve_or_keep(host, path, FinalSymlink::Follow).await)
        }
        Touch::Deletes(path) => {
            Touch::Deletes(resolve_or_keep(host, path, FinalSymlink::Keep).await)
        }
        Touch::Moves { from, to } => Touch::Moves {
            from: resolve_or_keep(host, from, FinalSymlink::Keep).await,
            to: resolve_or_keep(host, to, FinalSymlink::Keep).await,
        },
        Touch::Runs(_) | Touch::Reaches(_) | Touch::Unknown => touch.clone(),
    }
}

/// Whether a symlink at the end of a path is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalSymlink {
    /// The symlink is followed to its target.
    Follow,
    /// The symlink itself is used.
    Keep,
}

/// Resolves a path, or returns it unchanged if that fails.
pub(crate) async fn resolve_or_keep(host: &dyn Host, path: &Path, last: FinalSymlink) -> PathBuf {
    let resolved = resolve_path(host, path, last).await;
    resolved.unwrap_or_else(|_| path.to_owned())
}

/// Resolves the symlinks of a path.
pub(crate) async fn resolve_path(
    host: &dyn Host,
    path: &Path,
    last: FinalSymlink,
) -> Result<PathBuf, HostError> {
    match (last, path.parent(), path.file_name()) {
        (FinalSymlink::Keep, Some(folder), Some(name)) => {
            host.resolve(folder).await.map(|folder| folder.join(name))
        }
        (FinalSymlink::Follow | FinalSymlink::Keep, _, _) => host.resolve(path).await,
    }
}

/// The call on whose behalf a host runs a command; it receives the output.
pub trait Console: Send + Sync {
    /// Adds printed bytes to the call's output.
    fn print(&self, bytes: &[u8]);

    /// Shows content in place of the output, such as a terminal that the command runs in.
    fn show(&self, content: Content);

    /// Returns the decision about the call, and who made it.
    fn decision(&self) -> Option<Arc<Decision>>;

    /// Waits until the command must stop: the call was cancelled or its time is up.
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

/// Stores output. A host that panics has failed to store it.
pub(crate) fn keep_catching_panics(
    host: &dyn Host,
    call: &CallId,
    bytes: &[u8],
) -> Result<Spill, HostError> {
    catch_unwind(AssertUnwindSafe(|| host.keep(call, bytes)))
        .unwrap_or_else(|_| Err(HostError::Other("the host panicked".into())))
}

/// An error of a host.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HostError {
    /// No such file.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// The file is not what the edit says it was.
    #[error("`{}` changed since it was shown; read it again", .0.display())]
    Changed(PathBuf),
    /// The path exists already.
    #[error("`{}` exists already", .0.display())]
    Exists(PathBuf),
    /// The command could not be run.
    #[error("`{command}` cannot be run: {reason}")]
    NotRunnable {
        /// The command.
        command: Arc<str>,
        /// Why.
        reason: Arc<str>,
    },
    /// Any other error.
    #[error("{0}")]
    Other(Arc<str>),
}

/// A host in memory, for tests and demonstrations.
///
/// ```
/// use toolcall::{Exit, FileBody, MemoryHost};
///
/// let host = MemoryHost::default()
///     .with_file("/project/notes.md", "buy milk")
///     .with_command("make test", "ok\n", Exit::Code(0));
/// assert_eq!(host.file("/project/notes.md"), Some(FileBody::Text("buy milk".into())));
/// ```
#[derive(Debug)]
pub struct MemoryHost {
    files: Mutex<BTreeMap<PathBuf, FileBody>>,
    commands: HashMap<Box<str>, (Box<[u8]>, Exit)>,
    kept: Mutex<HashMap<CallId, (Vec<u8>, Completeness)>>,
    keep_limit: usize,
}

impl Default for MemoryHost {
    fn default() -> Self {
        Self {
            files: Mutex::default(),
            commands: HashMap::new(),
            kept: Mutex::default(),
            keep_limit: 1024 * 1024,
        }
    }
}

impl MemoryHost {
    /// Adds a file.
    pub fn with_file(self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>) -> Self {
        self.files
            .lock()
            .insert(path.into(), FileBody::Text(text.into()));
        self
    }

    /// Adds a command, its output and its exit status.
    pub fn with_command(mut self, text: &str, prints: &str, exit: Exit) -> Self {
        self.commands
            .insert(text.into(), (prints.as_bytes().into(), exit));
        self
    }

    /// Limits how many bytes of one call's output are stored.
    pub fn with_keep_limit(mut self, bytes: usize) -> Self {
        self.keep_limit = bytes;
        self
    }

    /// Returns the content of a file, if it exists.
    pub fn file(&self, path: impl AsRef<Path>) -> Option<FileBody> {
        self.files.lock().get(path.as_ref()).cloned()
    }

    /// Returns the stored output of a call.
    pub fn kept(&self, call: &CallId) -> Option<Vec<u8>> {
        self.kept.lock().get(call).map(|(all, _)| all.clone())
    }

    fn change(&self, edit: &FileEdit) -> Result<(), HostError> {
        let mut files = self.files.lock();
        let unchanged = |before: &FileBody| match files.get(&edit.path) {
            None => Err(HostError::Missing(edit.path.clone())),
            Some(now) if now != before => Err(HostError::Changed(edit.path.clone())),
            Some(_) => Ok(()),
        };
        let absent = |path: &PathBuf| {
            if files.contains_key(path) {
                Err(HostError::Exists(path.clone()))
            } else {
                Ok(())
            }
        };
        match &edit.change {
            FileChange::Added { after } => {
                absent(&edit.path)?;
                files.insert(edit.path.clone(), after.clone());
            }
            FileChange::Modified { before, after } => {
                unchanged(before)?;
                files.insert(edit.path.clone(), after.clone());
            }
            FileChange::Deleted { before } => {
                unchanged(before)?;
                files.remove(&edit.path);
            }
            FileChange::Moved { to } => {
                absent(to)?;
                let missing = || HostError::Missing(edit.path.clone());
                let body = files.remove(&edit.path).ok_or_else(missing)?;
                files.insert(to.clone(), body);
            }
        }
        Ok(())
    }
}

impl Host for MemoryHost {
    /// Returns the path: there are no symlinks in memory.
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>> {
        Box::pin(std::future::ready(Ok(path.to_owned())))
    }

    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        let body = self
            .file(path)
            .ok_or_else(|| HostError::Missing(path.into()));
        Box::pin(std::future::ready(body))
    }

    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<AppliedEdit, HostError>> {
        let changed = self.change(edit);
        Box::pin(std::future::ready(changed.map(|()| AppliedEdit::default())))
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>> {
        Box::pin(async move {
            let Some((prints, exit)) = self.commands.get(&*command.text) else {
                return Err(HostError::NotRunnable {
                    command: command.text.clone(),
                    reason: "this host knows no such command".into(),
                });
            };
            for line in prints.split_inclusive(|byte| *byte == b'\n') {
                console.print(line);
                tokio::task::yield_now().await;
            }
            Ok(*exit)
        })
    }

    fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError> {
        let mut kept = self.kept.lock();
        let fresh = || (Vec::new(), Completeness::Whole);
        let (all, completeness) = kept.entry(call.clone()).or_insert_with(fresh);
        let room = self.keep_limit.saturating_sub(all.len());
        all.extend_from_slice(&bytes[..room.min(bytes.len())]);
        if room < bytes.len() {
            *completeness = Completeness::Capped;
        }
        Ok(Spill {
            uri: format!("memory:{call}").into(),
            bytes: all.len() as u64,
            completeness: *completeness,
        })
    }
}
