//! The process of a server: started in a group of its own, drained, and ended with all it started.
//! It reads nothing of the protocol and never lets a server's chatter block it.

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

/// How long a server has to end once it was told to, and again once it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// A line of its errors that is longer is told in pieces.
const LONGEST_LINE: usize = 4 * 1024;

/// A server's process. Dropped, it is killed with all it started.
pub(super) struct Process {
    child: Option<Child>,
    mark: Mark,
    /// What reads its errors.
    draining: Option<JoinHandle<()>>,
}

/// A process and both ends of its wire.
pub(super) struct Started {
    pub(super) process: Process,
    pub(super) input: ChildStdin,
    pub(super) output: ChildStdout,
}

/// Starts a server in this folder, with these variables and its own.
pub(super) fn start(
    program: &Program,
    cwd: &Path,
    env: &BTreeMap<OsString, OsString>,
    ears: Arc<Notifications>,
) -> Result<Started, String> {
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
    let mut process = Process {
        child: Some(child),
        mark,
        draining: None,
    };
    let (Some(input), Some(output), Some(errors)) = streams else {
        return Err("it has no streams".to_owned());
    };
    process.draining = Some(tokio::spawn(drain(errors, ears)));
    Ok(Started {
        process,
        input,
        output,
    })
}

/// A path is relative to the folder that the server runs in; a name is looked for on `PATH`.
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

impl Process {
    /// Waits until the process itself ended. What it started may go on, and hold its streams open.
    pub(super) async fn exited(&mut self) {
        match &mut self.child {
            // If it cannot be waited for, it is not there either.
            Some(child) => drop(child.wait().await),
            None => std::future::pending().await,
        }
    }

    /// Ends the process and all it started, and says how it ended. Its input is closed by now, which
    /// tells a server to end.
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
        // It only fails while the program ends, and the processes with it.
        drop(spawn_blocking(move || mark.sweep()).await);
        if let Some(draining) = self.draining.take() {
            // Nobody holds its errors open any more; what it said last is heard.
            drop(timeout(GRACE, draining).await);
        }
        status.and_then(Result::ok)
    }
}

/// Signals the group. Until its first process is waited for, no other group can have its number.
fn signal(child: &Child, signal: Signal) {
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    if let Some(group) = group {
        // It fails only if nobody is in it any more.
        kill_process_group(group, signal).ok();
    }
}

impl Drop for Process {
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

/// Reads what a server prints as errors for as long as it does, and keeps the last of it.
async fn drain(mut errors: impl AsyncRead + Unpin, ears: Arc<Notifications>) {
    let mut piece = vec![0; 16 * 1024];
    let mut line = Vec::new();
    while let Ok(read @ 1..) = errors.read(&mut piece).await {
        for part in piece[..read].split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if part.ends_with(b"\n") || line.len() > LONGEST_LINE {
                ears.log().push(&String::from_utf8_lossy(&line));
                line.clear();
            }
        }
    }
    ears.log().push(&String::from_utf8_lossy(&line));
}
