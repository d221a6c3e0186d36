//! The caller's side of a supervised command: it hands over the job, the output and the wish to end.
//! It copies no output but to the one who asked for it, and leaves nothing behind if a supervisor dies.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use toolcall::Exit;
use toolcall::text::clean_line;
use toolcall_shell::OutputPipe;

use super::processes;
use super::protocol::{Job, LONGEST_REPORT, Report};
use super::supervisor::{SUPERVISE, Supervisor};

/// A supervisor that was told to end has, besides two graces, this long before it is given up.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long is tried to kill what a supervisor left behind when it was killed.
const LONGEST_SWEEP: Duration = Duration::from_secs(5);
/// A process that forks and ends, again and again, is not seen by every look.
const LOOKS_IN_VAIN: usize = 50;
/// How much of a reason is told.
const LONGEST_REASON: usize = 600;

/// The variable that every process of a command carries.
const MARK: &str = "TOOLCALL_COMMAND";

/// Whether this very program was started by a command that a call ran. What only people should do
/// is refused then; a command that takes the mark off is not stopped by this.
pub fn is_inside_a_command() -> bool {
    std::env::var_os(MARK).is_some()
}

/// What every process of a command carries in its environment, so that it can be found again even
/// if its supervisor is killed.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) name: OsString,
    pub(crate) value: OsString,
}

impl Mark {
    pub(crate) fn new() -> Self {
        Self {
            name: MARK.into(),
            value: crate::local::fresh_name().trim_start_matches('.').into(),
        }
    }

    fn entry(&self) -> Vec<u8> {
        let parts = [self.name.as_os_str(), "=".as_ref(), &self.value];
        parts.map(|part| part.as_encoded_bytes()).concat()
    }

    /// Kills every process that carries the mark, until nobody does.
    #[cfg(feature = "mcp")]
    pub(crate) fn sweep(&self) {
        let mark = self.entry();
        sweep(|process| process.carries(&mark));
    }
}

/// Runs a job under supervision.
pub(super) async fn run(
    supervisor: &Supervisor,
    job: &Job,
    mark: &Mark,
    mut print: impl FnMut(&[u8]),
    stop: impl Future<Output = ()>,
) -> Result<Exit, String> {
    let in_words = |error: io::Error| error.to_string();
    let line = job.line().map_err(in_words)?;
    let (mut output, writer) = OutputPipe::new().map_err(in_words)?;
    let started = Supervised::start(supervisor, job, mark, writer);
    let mut supervised = started.map_err(|error| cannot_start(supervisor, &error))?;
    let work = supervised.carry(&line, stop);
    let ended = output.during(work, &mut print).await;
    output.rest(&mut print);
    ended
}

fn cannot_start(supervisor: &Supervisor, error: &io::Error) -> String {
    let program = supervisor.program().display();
    format!("the supervisor `{program}` cannot be started: {error}")
}

/// A supervisor that runs. Dropped, it is told to end its command, and watched while it does.
struct Supervised {
    /// Gone once it was reaped.
    process: Option<Process>,
}

struct Process {
    child: Child,
    /// As long as this is open, the command goes on.
    input: Option<ChildStdin>,
    reports: ChildStderr,
    said: Vec<u8>,
    remains: Remains,
    patience: Duration,
}

/// What is left of a command if its supervisor was killed.
#[derive(Clone)]
struct Remains {
    session: i32,
    mark: Vec<u8>,
    folder: Option<PathBuf>,
}

impl Supervised {
    fn start(supervisor: &Supervisor, job: &Job, mark: &Mark, output: OwnedFd) -> io::Result<Self> {
        let mut child = Command::new(supervisor.program())
            .arg0("toolcall-supervisor")
            .arg(SUPERVISE)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::from(output))
            .stderr(Stdio::piped())
            .spawn()?;
        let gone = || io::Error::other("it has no streams");
        let session = child.id().and_then(|id| i32::try_from(id).ok());
        let folder = job.walls.as_ref().map(|walls| (&walls.folder).into());
        let process = Process {
            input: Some(child.stdin.take().ok_or_else(gone)?),
            reports: child.stderr.take().ok_or_else(gone)?,
            said: Vec::new(),
            remains: Remains {
                session: session.ok_or_else(gone)?,
                mark: mark.entry(),
                folder,
            },
            patience: job.grace * 2 + PATIENCE,
            child,
        };
        Ok(Self {
            process: Some(process),
        })
    }

    /// Hands over the job and waits for the report; what is stopped gets its time to end.
    async fn carry(&mut self, line: &[u8], stop: impl Future<Output = ()>) -> Result<Exit, String> {
        let Some(process) = &mut self.process else {
            return Err("the supervisor is gone".to_owned());
        };
        tokio::select! {
            biased;
            () = stop => {
                process.input = None;
                process.hear_out_in_time().await;
            }
            () = process.hand_over(line) => {}
        }
        let report = process.finish().await;
        self.process = None;
        report
    }
}

impl Process {
    async fn hand_over(&mut self, line: &[u8]) {
        if let Some(input) = &mut self.input {
            // One that does not read it says why, or nothing, which is found then.
            input.write_all(line).await.ok();
        }
        self.hear_out().await;
    }

    /// Reads the report, until nobody can add to it.
    async fn hear_out(&mut self) {
        let mut piece = [0; 1024];
        while let Ok(read @ 1..) = self.reports.read(&mut piece).await {
            let room = (LONGEST_REPORT as usize).saturating_sub(self.said.len());
            self.said.extend_from_slice(&piece[..read.min(room)]);
        }
    }

    async fn hear_out_in_time(&mut self) {
        // Without a report in time, what follows treats it as killed.
        drop(timeout(self.patience, self.hear_out()).await);
    }

    /// The report; or, if the supervisor died without one, an end for all that it left behind.
    /// It is reaped last: until then its id, which is that of its session, means no other.
    async fn finish(&mut self) -> Result<Exit, String> {
        let report = Report::read(&self.said);
        if report.is_none() {
            self.child.start_kill().ok();
            let remains = self.remains.clone();
            drop(spawn_blocking(move || remains.end()).await);
        }
        let status = self.child.wait().await;
        let ended = report.map_or_else(|| Err(self.why_it_died(&status)), Result::from);
        // The command has ways to put words into its executor's mouth.
        ended.map_err(|why| clean_line(&why, LONGEST_REASON))
    }

    fn why_it_died(&self, status: &io::Result<std::process::ExitStatus>) -> String {
        let how = match status {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let said = String::from_utf8_lossy(&self.said);
        let said = said.trim();
        format!(
            "the command's supervisor ended before it ({how}); what could be found of it was ended. {said}"
        )
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        // This alone ends the command; the rest is for a supervisor that was killed or halted.
        process.input = None;
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                process.hear_out_in_time().await;
                process.finish().await.ok();
            });
        }
    }
}

impl Remains {
    /// Kills what still carries the command's mark or is in its session, until nothing does.
    fn end(&self) {
        sweep(|process| self.includes(process));
        if let Some(folder) = &self.folder {
            // It was made by the supervisor, which may have got to removing it.
            std::fs::remove_dir_all(folder).ok();
        }
    }

    fn includes(&self, process: &processes::Process) -> bool {
        process.session == self.session || process.carries(&self.mark)
    }
}

/// Kills what is meant until it is seen no more.
fn sweep(is_meant: impl Fn(&processes::Process) -> bool) {
    let until = Instant::now() + LONGEST_SWEEP;
    let mut in_vain = 0;
    while in_vain < LOOKS_IN_VAIN && Instant::now() < until {
        in_vain = match processes::kill_each(&is_meant) {
            0 => in_vain + 1,
            _ => 0,
        };
    }
}
