//! One run of a command: decides which part runs when, and with which streams.
//! It reads no output and waits only for its own child processes.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;
use tokio::runtime::Handle;
use toolcall::{Exit, Join, Part};

use super::group::{ChildIndex, ProcessGroup};
use super::lookup::{LookupError, lookup};
use super::streams::{Streams, null};
use super::{RunEnvironment, RunError};

const NOT_ENTERED: Exit = Exit::Code(1);
const NOT_OPENED: Exit = Exit::Code(1);
const NOT_EXECUTABLE: Exit = Exit::Code(126);
const NOT_FOUND: Exit = Exit::Code(127);

/// A running command.
pub(super) struct Job<'a> {
    environment: &'a RunEnvironment<'a>,
    output: OwnedFd,
    /// `None` once the command has finished.
    group: Option<ProcessGroup>,
}

/// The result of starting a part.
enum StartOutcome {
    Running(ChildIndex),
    /// It did not start and counts as having this exit status.
    Failed(Exit),
}

impl<'a> Job<'a> {
    pub(super) fn new(environment: &'a RunEnvironment<'a>, output: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            environment,
            output,
            group: Some(ProcessGroup::new()?),
        })
    }

    /// Runs the parts, except those that `&&` and `||` skip. Returns the last exit status.
    pub(super) async fn run(&mut self, parts: &[Part]) -> Result<Exit, RunError> {
        let mut last = Exit::Code(0);
        for (index, pipeline) in pipelines(parts).enumerate() {
            let is_due = match pipeline[0].join {
                Join::And => last == Exit::Code(0),
                Join::Or => last != Exit::Code(0),
                Join::Then | Join::Pipe => true,
            };
            if is_due || index == 0 {
                last = self.run_pipeline(pipeline).await?;
            }
        }
        Ok(last)
    }

    /// Stops every process. Returns the exit status of the part that started last, if any did.
    pub(super) async fn stop(&mut self) -> Option<Exit> {
        let group = self.group.as_mut().filter(|group| !group.is_empty())?;
        let ended = group.end(self.environment.grace).await;
        Some(ended.unwrap_or(Exit::Signal(super::KILLED)))
    }

    /// Kills what is left of the process group.
    pub(super) fn finish(mut self) {
        drop(self.group.take());
    }

    async fn run_pipeline(&mut self, parts: &[Part]) -> Result<Exit, RunError> {
        let cwd = &parts[0].cwd;
        if !cwd.is_dir() {
            let error = self.output.try_clone()?;
            report_failure(error, format!("`{}` cannot be entered", cwd.display())).await;
            return Ok(NOT_ENTERED);
        }
        let started = self.start_all(parts).await?;
        let mut last = Exit::Code(0);
        for started in started {
            last = match started {
                StartOutcome::Running(member) => self.wait(member).await?,
                StartOutcome::Failed(exit) => exit,
            };
        }
        Ok(last)
    }

    async fn start_all(&mut self, parts: &[Part]) -> io::Result<Vec<StartOutcome>> {
        let mut started = Vec::with_capacity(parts.len());
        let mut input = null()?;
        for (index, part) in parts.iter().enumerate() {
            let (next, output) = if index + 1 == parts.len() {
                (null()?, self.output.try_clone()?)
            } else {
                pipe()?
            };
            let streams = Streams {
                input: std::mem::replace(&mut input, next),
                output,
                error: self.output.try_clone()?,
            };
            started.push(self.start(part, streams).await?);
        }
        Ok(started)
    }

    async fn start(&mut self, part: &Part, mut streams: Streams) -> io::Result<StartOutcome> {
        if let Err(why) = streams.redirect(&part.redirects, self.environment.files) {
            report_failure(streams.error, why).await;
            return Ok(StartOutcome::Failed(NOT_OPENED));
        }
        let error = streams.error.try_clone()?;
        let (why, exit) = match self.spawn(part, streams) {
            Ok(member) => return Ok(StartOutcome::Running(member)),
            Err(refused) => refused,
        };
        let name = part.argv.first().map_or("", String::as_str);
        report_failure(error, format!("`{name}` cannot be started: {why}")).await;
        Ok(StartOutcome::Failed(exit))
    }

    fn spawn(&mut self, part: &Part, streams: Streams) -> Result<ChildIndex, (String, Exit)> {
        let mut command = self.command(part).map_err(|absent| match absent {
            LookupError::NotFound => ("there is no such program".to_owned(), NOT_FOUND),
            LookupError::NotExecutable => ("it is not executable".to_owned(), NOT_EXECUTABLE),
        })?;
        streams.attach_to(&mut command);
        let gone = || io::Error::other("the command is over");
        let group = self.group.as_mut().ok_or_else(gone);
        let member = group.and_then(|group| group.spawn(&mut command));
        member.map_err(|error| (error.to_string(), NOT_EXECUTABLE))
    }

    fn command(&self, part: &Part) -> Result<Command, LookupError> {
        let (name, arguments) = part.argv.split_first().ok_or(LookupError::NotFound)?;
        let program: PathBuf = lookup(name, &part.cwd, self.environment.env)?;
        let mut command = Command::new(program);
        command
            .arg0(name)
            .args(arguments)
            .current_dir(&part.cwd)
            .env_clear()
            .envs(self.environment.env)
            // Programs trust `PWD`, so it must not be the directory of this process.
            .env("PWD", &part.cwd);
        Ok(command)
    }

    async fn wait(&mut self, member: ChildIndex) -> io::Result<Exit> {
        match &mut self.group {
            Some(group) => group.wait(member).await,
            None => Ok(Exit::Signal(super::KILLED)),
        }
    }
}

impl Drop for Job<'_> {
    /// A command that is dropped before its end still gets its grace period, if a runtime is left to
    /// enforce it.
    fn drop(&mut self) {
        let grace: Duration = self.environment.grace;
        if let (Some(mut group), Ok(runtime)) = (self.group.take(), Handle::try_current()) {
            runtime.spawn(async move { group.end(grace).await });
        }
    }
}

/// Groups the parts into pipelines.
fn pipelines(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    parts.chunk_by(|_, next| next.join == Join::Pipe)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// Writes to a part's standard error why it does not run. A blocking thread does it: the pipe may be
/// full, and the task that empties it is the one that awaits this.
async fn report_failure(error: OwnedFd, why: String) {
    // In one write, because other programs may write at the same time.
    let write = move || File::from(error).write_all(format!("{why}\n").as_bytes());
    // If writing fails, the exit code still reports it.
    drop(tokio::task::spawn_blocking(write).await);
}
