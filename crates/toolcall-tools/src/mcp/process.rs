//! Runs the process of a server in its own process group, logs its stderr, and ends it with its descendants.
//! It knows nothing of the protocol, and a full stderr pipe never blocks the server.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::notifications::Notifications;
use super::settings::Program;
use crate::command::Mark;

/// How long to wait for a server to exit after closing its input, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);
/// A longer line of stderr is logged in pieces.
const LONGEST_LINE: usize = 4 * 1024;

/// A server's process. Dropping it kills the process and its descendants.
pub(super) struct ServerProcess {
    child: Option<Child>,
    mark: Mark,
    /// The task that reads stderr.
    draining: Option<JoinHandle<()>>,
}

/// A process with its standard input and output.
pub(super) struct StartedProcess {
    pub(super) process: ServerProcess,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
}

/// Starts a server in this directory, with these variables and those of its settings.
pub(super) fn start(
    program: &Program,
    cwd: &Path,
    env: &BTreeMap<OsString, OsString>,
    notifications: Arc<Notifications>,
) -> Result<StartedProcess, String> {
    let mark = Mark::new();
    let cwd = program
        .cwd
        .as_ref()
        .map_or(cwd.to_owned(), |own| cwd.join(own));
    let own = program
        .env
        .iter()
        .map(|(name, value)| (name, value.reveal()));
    let spawned = Command::new(path_of(&program.command, &cwd))
        .args(&program.args)
        .current_dir(&cwd)
        .env_clear()
        .envs(env)
        .envs(own)
        .env(&mark.name, &mark.value)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.map_err(|error| cannot_start(&program.command, &cwd, &error))?;
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let mut process = ServerProcess {
        child: Some(child),
        mark,
        draining: None,
    };
    let (Some(input), Some(output), Some(errors)) = streams else {
        return Err("it has no streams".to_owned());
    };
    process.draining = Some(tokio::spawn(drain(errors, notifications)));
    Ok(StartedProcess {
        process,
        input,
        output,
    })
}

/// Resolves a command: a path is relative to the server's directory, a name is looked up on `PATH`.
fn path_of(command: &str, cwd: &Path) -> PathBuf {
    if command.contains('/') {
        cwd.join(command)
    } else {
        command.into()
    }
}

fn cannot_start(command: &str, cwd: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if !cwd.is_dir() => {
            format!(
                "it cannot run in `{}`: there is no such folder",
                cwd.display()
            )
        }
        io::ErrorKind::NotFound => {
            format!("`{command}` is not found; install it, or write its whole path")
        }
        _ => format!("`{command}` cannot be started: {error}"),
    }
}

impl ServerProcess {
    /// Waits until the process exits. Its descendants may go on and keep its streams open.
    pub(super) async fn exited(&mut self) {
        match &mut self.child {
            // If waiting fails, the process does not exist any more.
            Some(child) => drop(child.wait().await),
            None => std::future::pending().await,
        }
    }

    /// Ends the process and its descendants, and returns the exit status. The caller has closed the
    /// process's input by now, which asks a server to exit.
    pub(super) async fn end(mut self) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        let mut status = timeout(GRACE, child.wait()).await.ok();
        if status.is_none() {
            signal(&child, Signal::TERM);
            status = timeout(GRACE, child.wait()).await.ok();
        }
        if status.is_none() {
            signal(&child, Signal::KILL);
            status = Some(child.wait().await);
        }
        let mark = self.mark.clone();
        // This fails only while our own process shuts down.
        drop(spawn_blocking(move || mark.sweep()).await);
        if let Some(draining) = self.draining.take() {
            // No process holds stderr open any more, so the last lines can be read.
            drop(timeout(GRACE, draining).await);
        }
        status.and_then(Result::ok)
    }
}

/// Signals the process group. Its id cannot be reused before the first process is waited for.
fn signal(child: &Child, signal: Signal) {
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(group) = group {
        // This fails only if the group has no process left.
        kill_process_group(group, signal).ok();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        signal(&child, Signal::KILL);
        let mark = self.mark.clone();
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                child.wait().await.ok();
                drop(spawn_blocking(move || mark.sweep()).await);
            });
        }
    }
}

/// Copies a server's stderr to its log until the end of the stream.
async fn drain(mut errors: impl AsyncRead + Unpin, notifications: Arc<Notifications>) {
    let mut piece = vec![0; 16 * 1024];
    let mut line = Vec::new();
    while let Ok(read @ 1..) = errors.read(&mut piece).await {
        for part in piece[..read].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.ends_with(b"\n") || line.len() > LONGEST_LINE {
                notifications.log().push(&String::from_utf8_lossy(&line));
                line.clear();
            }
        }
    }
    notifications.log().push(&String::from_utf8_lossy(&line));
}
