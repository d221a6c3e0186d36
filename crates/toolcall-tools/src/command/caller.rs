//! The caller's side of a supervised command: starts the supervisor, sends the job, stops it, reads the report.
//! If the supervisor dies, it kills the processes of the command that are left; it reports output to the caller only.

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
use super::protocol::{CommandReport, JobRequest, MAX_REPORT_BYTES};
use super::supervisor::{SUPERVISE, Supervisor};

/// A stopped supervisor gets twice the grace and this long before it is killed.
const SUPERVISOR_TIMEOUT: Duration = Duration::from_secs(8);
/// How long to go on killing the processes that a dead supervisor left behind.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How many scans in a row must find nothing: a process that forks and exits over and over is
/// missed by some.
const EMPTY_SCANS_NEEDED: usize = 50;
/// Longer reasons are cut off.
const MAX_REASON_CHARS: usize = 600;

/// The environment variable that marks every process of a command.
const MARKER_VARIABLE: &str = "TOOLCALL_COMMAND";

/// Whether this program was started by a command of a tool call. Refuse then what only the user
/// should do, such as changing the policy. A command that removes the variable is not detected.
pub fn is_inside_tool_call() -> bool {
    std::env::var_os(MARKER_VARIABLE).is_some()
}

/// An environment variable with a value unique to one command. Its processes inherit it, so they
/// are found even if their supervisor is killed.
#[derive(Clone)]
pub(crate) struct Mark {
    pub(crate) name: OsString,
    pub(crate) value: OsString,
}

impl Mark {
    pub(crate) fn new() -> Self {
        Self {
            name: MARKER_VARIABLE.into(),
            value: crate::local::random_name().trim_start_matches('.').into(),
        }
    }

    fn environment_entry(&self) -> Vec<u8> {
        let parts = [self.name.as_os_str(), "=".as_ref(), &self.value];
        parts.map(|part| part.as_encoded_bytes()).concat()
    }

    /// Kills every process that has the variable, until none is left.
    #[cfg(feature = "mcp")]
    pub(crate) fn sweep(&self) {
        let mark = self.environment_entry();
        kill_until_gone(|process| process.has_variable(&mark));
    }
}

/// Runs a job under a supervisor and passes its output to `print`.
pub(super) async fn run(
    supervisor: &Supervisor,
    job: &JobRequest,
    mark: &Mark,
    mut print: impl FnMut(&[u8]),
    stop: impl Future<Output = ()>,
) -> Result<Exit, String> {
    let to_message = |error: io::Error| error.to_string();
    let line = job.to_line().map_err(to_message)?;
    let (mut output, writer) = OutputPipe::new().map_err(to_message)?;
    let started = SupervisedCommand::start(supervisor, job, mark, writer);
    let mut command = started.map_err(|error| start_error(supervisor, &error))?;
    let work = command.run(&line, stop);
    let ended = output.during(work, &mut print).await;
    output.rest(&mut print);
    ended
}

fn start_error(supervisor: &Supervisor, error: &io::Error) -> String {
    let program = supervisor.program().display();
    format!("the supervisor `{program}` cannot be started: {error}")
}

/// A running supervisor. Dropping it stops the command in the background.
struct SupervisedCommand {
    /// `None` once the process was reaped.
    process: Option<SupervisorProcess>,
}

struct SupervisorProcess {
    child: Child,
    /// Closing this stops the command.
    input: Option<ChildStdin>,
    stderr: ChildStderr,
    report: Vec<u8>,
    leftovers: LeftoverProcesses,
    timeout: Duration,
}

/// How to find the processes of a command whose supervisor was killed.
#[derive(Clone)]
struct LeftoverProcesses {
    session: i32,
    mark: Vec<u8>,
    temp_dir: Option<PathBuf>,
}

impl SupervisedCommand {
    fn start(
        supervisor: &Supervisor,
        job: &JobRequest,
        mark: &Mark,
        output: OwnedFd,
    ) -> io::Result<Self> {
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
        let temp_dir = job
            .isolation
            .as_ref()
            .map(|isolation| (&isolation.temp_dir).into());
        let process = SupervisorProcess {
            input: Some(child.stdin.take().ok_or_else(gone)?),
            stderr: child.stderr.take().ok_or_else(gone)?,
            report: Vec::new(),
            leftovers: LeftoverProcesses {
                session: session.ok_or_else(gone)?,
                mark: mark.environment_entry(),
                temp_dir,
            },
            timeout: job.grace * 2 + SUPERVISOR_TIMEOUT,
            child,
        };
        Ok(Self {
            process: Some(process),
        })
    }

    /// Sends the job and waits for the report. A stopped command gets its grace.
    async fn run(&mut self, line: &[u8], stop: impl Future<Output = ()>) -> Result<Exit, String> {
        let Some(process) = &mut self.process else {
            return Err("the supervisor is gone".to_owned());
        };
        tokio::select! {
            biased;
            () = stop => {
                process.input = None;
                process.read_report_with_timeout().await;
            }
            () = process.send_job(line) => {}
        }
        let report = process.finish().await;
        self.process = None;
        report
    }
}

impl SupervisorProcess {
    async fn send_job(&mut self, line: &[u8]) {
        if let Some(input) = &mut self.input {
            // If the supervisor does not read the job, its report or its absence says why.
            input.write_all(line).await.ok();
        }
        self.read_report().await;
    }

    /// Reads the report until every writer has closed it.
    async fn read_report(&mut self) {
        let mut piece = [0; 1024];
        while let Ok(read @ 1..) = self.stderr.read(&mut piece).await {
            let room = (MAX_REPORT_BYTES as usize).saturating_sub(self.report.len());
            self.report.extend_from_slice(&piece[..read.min(room)]);
        }
    }

    async fn read_report_with_timeout(&mut self) {
        // Without a report in time, `finish` treats the supervisor as dead.
        drop(timeout(self.timeout, self.read_report()).await);
    }

    /// Returns how the command ended. If the supervisor died without a report, kills what it left
    /// behind first. The supervisor is reaped last, so that no other process can get its id, which
    /// is also the id of its session.
    async fn finish(&mut self) -> Result<Exit, String> {
        let report = CommandReport::parse(&self.report);
        if report.is_none() {
            self.child.start_kill().ok();
            let leftovers = self.leftovers.clone();
            drop(spawn_blocking(move || leftovers.kill()).await);
        }
        let status = self.child.wait().await;
        let ended = report.map_or_else(|| Err(self.death_reason(&status)), Result::from);
        // A command can make its executor report any text.
        ended.map_err(|why| clean_line(&why, MAX_REASON_CHARS))
    }

    fn death_reason(&self, status: &io::Result<std::process::ExitStatus>) -> String {
        let how = match status {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let report = String::from_utf8_lossy(&self.report);
        let report = report.trim();
        format!(
            "the command's supervisor ended before it ({how}); what could be found of it was ended. {report}"
        )
    }
}

impl Drop for SupervisedCommand {
    fn drop(&mut self) {
        let Some(mut process) = self.process.take() else {
            return;
        };
        // This alone stops the command; the rest handles a supervisor that was killed or suspended.
        process.input = None;
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move {
                process.read_report_with_timeout().await;
                process.finish().await.ok();
            });
        }
    }
}

impl LeftoverProcesses {
    /// Kills every process of the command's session or with its variable, until none is left.
    fn kill(&self) {
        kill_until_gone(|process| self.contains(process));
        if let Some(temp_dir) = &self.temp_dir {
            // The supervisor created it and may have removed it.
            std::fs::remove_dir_all(temp_dir).ok();
        }
    }

    fn contains(&self, process: &processes::ProcessInfo) -> bool {
        process.session == self.session || process.has_variable(&self.mark)
    }
}

/// Kills every matching process until several scans in a row find none.
fn kill_until_gone(is_target: impl Fn(&processes::ProcessInfo) -> bool) {
    let until = Instant::now() + KILL_TIMEOUT;
    let mut empty_scans = 0;
    while empty_scans < EMPTY_SCANS_NEEDED && Instant::now() < until {
        empty_scans = match processes::kill_matching(&is_target) {
            0 => empty_scans + 1,
            _ => 0,
        };
    }
}
