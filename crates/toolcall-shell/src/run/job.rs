//! One run of a command: which part runs when, and with which streams.
//! It reads no output and waits for nothing but its own children.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use tokio::process::Command;
use tokio::runtime::Handle;
use toolcall::{Exit, Join, Part};

use super::group::{Group, Member};
use super::lookup::{Absent, lookup};
use super::streams::{Streams, null};
use super::{RunEnvironment, RunError};

const NOT_ENTERED: Exit = Exit::Code(1);
const NOT_OPENED: Exit = Exit::Code(1);
const NOT_EXECUTABLE: Exit = Exit::Code(126);
const NOT_FOUND: Exit = Exit::Code(127);

/// A command while it runs.
pub(super) struct Job<'a> {
    surroundings: &'a RunEnvironment<'a>,
    output: OwnedFd,
    /// Gone once the command is over.
    group: Option<Group>,
}

/// What became of the attempt to start a part.
enum Started {
    Runs(Member),
    /// It did not start, and counts as ended like this.
    Not(Exit),
}

impl<'a> Job<'a> {
    pub(super) fn new(surroundings: &'a RunEnvironment<'a>, output: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            surroundings,
            output,
            group: Some(Group::new()?),
        })
    }

    /// Runs every part whose turn comes.
    pub(super) async fn carry(&mut self, parts: &[Part]) -> Result<Exit, RunError> {
        let mut last = Exit::Code(0);
        for (place, pipeline) in pipelines(parts).enumerate() {
            let is_due = match pipeline[0].join {
                Join::And => last == Exit::Code(0),
                Join::Or => last != Exit::Code(0),
                Join::Then | Join::Pipe => true,
            };
            if is_due || place == 0 {
                last = self.pipeline(pipeline).await?;
            }
        }
        Ok(last)
    }

    /// Tells everything to end, and says how the part that was started last ended, if any was.
    pub(super) async fn end(&mut self) -> Option<Exit> {
        let group = self.group.as_mut().filter(|group| !group.is_empty())?;
        let ended = group.end(self.surroundings.grace).await;
        Some(ended.unwrap_or(Exit::Signal(super::KILLED)))
    }

    /// The command is over; what is left of its group goes with it.
    pub(super) fn leave(mut self) {
        drop(self.group.take());
    }

    async fn pipeline(&mut self, parts: &[Part]) -> Result<Exit, RunError> {
        let cwd = &parts[0].cwd;
        if !cwd.is_dir() {
            let error = self.output.try_clone()?;
            say(error, format!("`{}` cannot be entered", cwd.display())).await;
            return Ok(NOT_ENTERED);
        }
        let started = self.start_all(parts).await?;
        let mut last = Exit::Code(0);
        for started in started {
            last = match started {
                Started::Runs(member) => self.wait(member).await?,
                Started::Not(exit) => exit,
            };
        }
        Ok(last)
    }

    async fn start_all(&mut self, parts: &[Part]) -> io::Result<Vec<Started>> {
        let mut started = Vec::with_capacity(parts.len());
        let mut input = null()?;
        for (place, part) in parts.iter().enumerate() {
            let (next, output) = match place + 1 == parts.len() {
                true => (null()?, self.output.try_clone()?),
                false => pipe()?,
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

    async fn start(&mut self, part: &Part, mut streams: Streams) -> io::Result<Started> {
        if let Err(why) = streams.redirect(&part.redirects, self.surroundings.files) {
            say(streams.error, why).await;
            return Ok(Started::Not(NOT_OPENED));
        }
        let error = streams.error.try_clone()?;
        let (why, exit) = match self.spawn(part, streams) {
            Ok(member) => return Ok(Started::Runs(member)),
            Err(refused) => refused,
        };
        let name = part.argv.first().map_or("", String::as_str);
        say(error, format!("`{name}` cannot be started: {why}")).await;
        Ok(Started::Not(exit))
    }

    fn spawn(&mut self, part: &Part, streams: Streams) -> Result<Member, (String, Exit)> {
        let mut command = self.command(part).map_err(|absent| match absent {
            Absent::NotFound => ("there is no such program".to_owned(), NOT_FOUND),
            Absent::NotExecutable => ("it is not executable".to_owned(), NOT_EXECUTABLE),
        })?;
        streams.hand_to(&mut command);
        let gone = || io::Error::other("the command is over");
        let group = self.group.as_mut().ok_or_else(gone);
        let member = group.and_then(|group| group.spawn(&mut command));
        member.map_err(|error| (error.to_string(), NOT_EXECUTABLE))
    }

    fn command(&self, part: &Part) -> Result<Command, Absent> {
        let (name, arguments) = part.argv.split_first().ok_or(Absent::NotFound)?;
        let program: PathBuf = lookup(name, &part.cwd, self.surroundings.env)?;
        let mut command = Command::new(program);
        command
            .arg0(name)
            .args(arguments)
            .current_dir(&part.cwd)
            .env_clear()
            .envs(self.surroundings.env)
            // Programs believe it, so it must not be the folder of somebody else.
            .env("PWD", &part.cwd);
        Ok(command)
    }

    async fn wait(&mut self, member: Member) -> io::Result<Exit> {
        match &mut self.group {
            Some(group) => group.wait(member).await,
            None => Ok(Exit::Signal(super::KILLED)),
        }
    }
}

impl Drop for Job<'_> {
    /// Dropped before its end: it still gets its grace, as long as there is somebody to watch it.
    fn drop(&mut self) {
        let grace: Duration = self.surroundings.grace;
        if let (Some(mut group), Ok(runtime)) = (self.group.take(), Handle::try_current()) {
            runtime.spawn(async move { group.end(grace).await });
        }
    }
}

/// The parts in runs that are joined by pipes.
fn pipelines(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    parts.chunk_by(|_, next| next.join == Join::Pipe)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// Says on a part's standard error why it does not run. On a thread that may wait: the pipe may be
/// full, and the one who empties it is the one who awaits this.
async fn say(error: OwnedFd, why: String) {
    // In one piece: others may write in between.
    let write = move || File::from(error).write_all(format!("{why}\n").as_bytes());
    // Where it cannot be said, the exit code still tells.
    drop(tokio::task::spawn_blocking(write).await);
}
