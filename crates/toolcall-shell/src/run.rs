//! Running what was understood: pipes, `&&`, `||`, `;` and redirects, program by program.
//! No shell takes part, and nothing of a command outlives the future that runs it.

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

/// What a command finds around it.
#[derive(Clone, Copy)]
pub struct RunEnvironment<'a> {
    /// Its whole environment. `PATH` says where programs are; only absolute folders in it count.
    pub env: &'a BTreeMap<OsString, OsString>,
    /// What opens the files of its redirects.
    pub files: &'a dyn Files,
    /// How long it may take to end after it was told to.
    pub grace: Duration,
}

/// What opens the files of redirects, within its own bounds.
pub trait Files: Send + Sync {
    /// Opens a file. It must not wait, as opening a FIFO would.
    fn open(&self, path: &Path, access: Access) -> io::Result<File>;
}

/// Regular files wherever the path leads.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskFiles;

impl Files for DiskFiles {
    fn open(&self, path: &Path, access: Access) -> io::Result<File> {
        let file = options(access).open(path)?;
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(io::Error::other("it is not a regular file")),
        }
    }
}

/// Why a command could not be run at all. A program of it that is not there is no such reason: it
/// says so in the output and counts as failed, with the code that shells give it.
#[derive(Debug, Error)]
pub enum RunError {
    /// There is nothing to run.
    #[error("there is no program to run")]
    Nothing,
    /// It was stopped before a program of it ran.
    #[error("the command was stopped before it began")]
    Stopped,
    /// The system did not give what it takes.
    #[error("the command cannot be run: {0}")]
    System(#[from] io::Error),
    /// This system is not supported.
    #[error("commands cannot be run on this system yet")]
    Unsupported,
}

/// Runs the parts of an understood command and hands on what they print, as it comes.
///
/// Standard output and standard error arrive as one stream, in the order in which they were
/// written; standard input is empty. The exit is that of the last part that ran. When `stop` is
/// ready the command is told to end, and killed after the grace; the same happens when the future
/// is dropped. Whatever is left of the command's process group is killed at its end.
#[cfg(unix)]
pub async fn run(
    parts: &[Part],
    surroundings: &RunEnvironment<'_>,
    mut print: impl FnMut(&[u8]) + Send,
    stop: impl Future<Output = ()> + Send,
) -> Result<Exit, RunError> {
    let (mut output, writer) = OutputPipe::new()?;
    let work = run_into(parts, surroundings, writer, stop);
    let exit = output.during(work, &mut print).await?;
    output.rest(&mut print);
    Ok(exit)
}

/// Like [`run`], but what is printed goes straight into `output`, which every program inherits.
#[cfg(unix)]
pub async fn run_into(
    parts: &[Part],
    surroundings: &RunEnvironment<'_>,
    output: OwnedFd,
    stop: impl Future<Output = ()> + Send,
) -> Result<Exit, RunError> {
    if parts.is_empty() {
        return Err(RunError::Nothing);
    }
    let mut job = job::Job::new(surroundings, output)?;
    let ended = tokio::select! {
        // What was stopped before it began must not begin.
        biased;
        () = stop => None,
        exit = job.carry(parts) => Some(exit),
    };
    let exit = match ended {
        Some(exit) => exit?,
        None => job.end().await.ok_or(RunError::Stopped)?,
    };
    job.leave();
    Ok(exit)
}

/// The number of the signal that cannot be refused.
#[cfg(unix)]
const KILLED: i32 = 9;

/// Runs nothing: there is no executor for this system yet.
#[cfg(not(unix))]
pub async fn run(
    _parts: &[Part],
    _surroundings: &RunEnvironment<'_>,
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
        // A FIFO without a reader must not stop the one who opens it.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

#[cfg(all(test, unix))]
mod tests;
