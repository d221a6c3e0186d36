//! What a tool may use of the machine: files, commands, a place for long output.
//! A host does what it is told within its own bounds; permission was resolved before.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;

use crate::command::Command;
use crate::content::{Change, Content, FileBody, FileEdit};
use crate::event::{Decision, Exit};
use crate::ids::CallId;
use crate::intent::Touch;
use crate::output::{Completeness, Spill};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The machine, as tools see it.
pub trait Host: Send + Sync + 'static {
    /// Where a path leads: absolute, with every link followed. It fails where the host would not
    /// go; what is not there yet lies where its folder leads.
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>>;

    /// Reads a regular file. The path is one that [`Host::resolve`] gave: where it leads through a
    /// link by now, it changed.
    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>>;

    /// What there is at a path, for whoever takes it away: a file, a folder with everything in it,
    /// or the text of a link. Only the folder of the path was resolved.
    fn inspect<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        self.read(path)
    }

    /// Makes one change, if the file still is as the edit says it was. Its path was resolved, that
    /// of what goes away up to its last name.
    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<Applied, HostError>>;

    /// Runs a command and hands on what it prints, as it comes. A host that must clean up watches
    /// [`Console::stopped`]; one that does not is dropped.
    fn run<'a>(
        &'a self,
        command: &'a Command,
        console: &'a dyn Console,
    ) -> BoxFuture<'a, Result<Exit, HostError>>;

    /// Keeps more of a call's output where it can be read whole. Bounded by the host.
    fn keep(&self, call: &CallId, bytes: &[u8]) -> Result<Spill, HostError>;
}

/// What is left of a change that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Where that is kept which went away and is not in the edit itself.
    pub kept: Option<PathBuf>,
}

/// Where an edit is made: its paths with every link followed that stands for something else. What
/// cannot be resolved stays as it is; the host refuses it later.
pub(crate) async fn resolve_edit(host: &dyn Host, edit: &FileEdit) -> FileEdit {
    let last = match &edit.change {
        Change::Added { .. } | Change::Modified { .. } => FinalSymlink::Follow,
        Change::Deleted { .. } | Change::Moved { .. } => FinalSymlink::Keep,
    };
    let mut resolved = edit.clone();
    resolved.path = resolve_or_keep(host, &edit.path, last).await;
    if let Change::Moved { to } = &mut resolved.change {
        *to = resolve_or_keep(host, to, FinalSymlink::Keep).await;
    }
    resolved
}

/// What a touch really touches.
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

/// What to do with a link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinalSymlink {
    /// It stands for what it leads to.
    Follow,
    /// It is meant itself.
    Keep,
}

/// Where a path leads; what cannot be resolved stays as it is.
pub(crate) async fn resolve_or_keep(host: &dyn Host, path: &Path, last: FinalSymlink) -> PathBuf {
    let resolved = resolve_path(host, path, last).await;
    resolved.unwrap_or_else(|_| path.to_owned())
}

/// Where a path leads.
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

/// The call on whose behalf a host runs a command.
pub trait Console: Send + Sync {
    /// The command printed.
    fn print(&self, bytes: &[u8]);

    /// Shows something in place of what the command prints, such as a terminal that it runs in.
    fn show(&self, content: Content);

    /// What was decided about the call, and by whom.
    fn decision(&self) -> Option<Arc<Decision>>;

    /// Waits until the command should stop: the call was cancelled or its time is up.
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

/// Keeps output, whatever the host does: one that panics has not kept it.
pub(crate) fn keep_catching_panics(
    host: &dyn Host,
    call: &CallId,
    bytes: &[u8],
) -> Result<Spill, HostError> {
    catch_unwind(AssertUnwindSafe(|| host.keep(call, bytes)))
        .unwrap_or_else(|_| Err(HostError::Other("the host panicked".into())))
}

/// What a host could not do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum HostError {
    /// No such file.
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    /// The file is not what the edit says it was.
    #[error("`{}` changed since it was shown; read it again", .0.display())]
    Changed(PathBuf),
    /// There is something already.
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
    /// Anything else.
    #[error("{0}")]
    Other(Arc<str>),
}

/// A machine in memory, for tests and demonstrations.
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

    /// Adds a command: what it prints and how it ends.
    pub fn with_command(mut self, text: &str, prints: &str, exit: Exit) -> Self {
        self.commands
            .insert(text.into(), (prints.as_bytes().into(), exit));
        self
    }

    /// Keeps at most this many bytes of one call's output.
    pub fn with_keep_limit(mut self, bytes: usize) -> Self {
        self.keep_limit = bytes;
        self
    }

    /// A file's content, if it is there.
    pub fn file(&self, path: impl AsRef<Path>) -> Option<FileBody> {
        self.files.lock().get(path.as_ref()).cloned()
    }

    /// What was kept of a call's output.
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
            Change::Added { after } => {
                absent(&edit.path)?;
                files.insert(edit.path.clone(), after.clone());
            }
            Change::Modified { before, after } => {
                unchanged(before)?;
                files.insert(edit.path.clone(), after.clone());
            }
            Change::Deleted { before } => {
                unchanged(before)?;
                files.remove(&edit.path);
            }
            Change::Moved { to } => {
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
    /// There are no links in memory.
    fn resolve<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<PathBuf, HostError>> {
        Box::pin(std::future::ready(Ok(path.to_owned())))
    }

    fn read<'a>(&'a self, path: &'a Path) -> BoxFuture<'a, Result<FileBody, HostError>> {
        let body = self
            .file(path)
            .ok_or_else(|| HostError::Missing(path.into()));
        Box::pin(std::future::ready(body))
    }

    fn apply<'a>(&'a self, edit: &'a FileEdit) -> BoxFuture<'a, Result<Applied, HostError>> {
        let changed = self.change(edit);
        Box::pin(std::future::ready(changed.map(|()| Applied::default())))
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
