//! Runs the parts of an understood command, with pipes, `&&`, `||`, `;` and redirects.
//! It uses no shell, and no process of a command outlives the future that runs it.

#[cfg(unix)]
mod group;
#[cfg(unix)]
mod job;
#[cfg(unix)]
mod lookup;
#[cfg(unix)]
mod output;
#[cfg(unix)]
mod streams;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use thiserror::Error;
use toolcall::{Access, Exit, Part};

#[cfg(unix)]
pub use output::OutputPipe;

/// The environment that a command runs in.
#[derive(Clone, Copy)]
pub struct RunEnvironment<'a> {
    /// All environment variables. Programs are looked up in the absolute directories of `PATH`.
    pub env: &'a BTreeMap<OsString, OsString>,
    /// Opens the files of redirects.
    pub files: &'a dyn FileOpener,
    /// How long the command may take to exit after `SIGTERM` before it is killed.
    pub grace: Duration,
}

/// Opens the files of redirects. An implementation may refuse paths, such as those outside a workspace.
pub trait FileOpener: Send + Sync {
    /// Opens a file. It must not block, as opening a FIFO would.
    fn open(&self, path: &Path, access: Access) -> io::Result<File>;
}

/// Opens any regular file that the process may open.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl FileOpener for DiskFiles {
    fn open(&self, path: &Path, access: Access) -> io::Result<File> {
        let file = options(access).open(path)?;
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    }
}

/// Why a command could not be run at all. A missing program is not such an error: it is reported in
/// the output, and the part fails with the exit code that shells use for it.
#[derive(Debug, Error)]
pub enum RunError {
    /// The command has no parts.
    #[error("there is no program to run")]
    Nothing,
    /// The command was stopped before any program started.
    #[error("the command was stopped before it began")]
    Stopped,
    /// The operating system returned an error.
    #[error("the command cannot be run: {0}")]
    System(#[from] io::Error),
    /// Commands cannot run on this operating system yet.
    #[error("commands cannot be run on this system yet")]
    Unsupported,
}

/// Runs the parts of an understood command and passes their output to `print` as it arrives.
///
/// Standard output and standard error arrive as one stream, in the order in which they were
/// written; standard input is empty. Returns the exit status of the last part that ran. When `stop` is
/// ready, the command gets `SIGTERM`, and `SIGKILL` after the grace period; the same happens when the
/// future is dropped. Processes left in the command's process group are killed at its end.
#[cfg(unix)]
pub async fn run(
    parts: &[Part],
    environment: &RunEnvironment<'_>,
    mut print: impl FnMut(&[u8]) + Send,
    stop: impl Future<Output = ()> + Send,
) -> Result<Exit, RunError> {
    let (mut output, writer) = OutputPipe::new()?;
    let work = run_into(parts, environment, writer, stop);
    let exit = output.during(work, &mut print).await?;
    output.rest(&mut print);
    Ok(exit)
}

/// Like [`run()`], but every program inherits `output` and writes to it directly.
#[cfg(unix)]
pub async fn run_into(
    parts: &[Part],
    environment: &RunEnvironment<'_>,
    output: OwnedFd,
    stop: impl Future<Output = ()> + Send,
) -> Result<Exit, RunError> {
    if parts.is_empty() {
        return Err(RunError::Nothing);
    }
    let mut job = job::Job::new(environment, output)?;
    let ended = tokio::select! {
        // A command that is stopped before it begins must not begin.
        biased;
        () = stop => None,
        exit = job.run(parts) => Some(exit),
    };
    let exit = match ended {
        Some(exit) => exit?,
        None => job.stop().await.ok_or(RunError::Stopped)?,
    };
    job.finish();
    Ok(exit)
}

/// The number of `SIGKILL`.
#[cfg(unix)]
const KILLED: i32 = 9;

/// Returns an error: commands cannot run on this operating system yet.
#[cfg(not(unix))]
pub async fn run(
    _parts: &[Part],
    _environment: &RunEnvironment<'_>,
    _print: impl FnMut(&[u8]) + Send,
    _stop: impl Future<Output = ()> + Send,
) -> Result<Exit, RunError> {
    Err(RunError::Unsupported)
}

fn options(access: Access) -> OpenOptions {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Replace => options.write(true).create(true).truncate(true),
        Access::Append => options.append(true).create(true),
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Opening a FIFO without a reader must not block.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

#[cfg(all(test, unix))]
mod tests;
