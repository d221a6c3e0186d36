//! The process that supervises one command: it adopts every process of the command and ends them all.
//! It reports only when no descendant is left, and never runs a program of the command itself.

use std::fs::DirBuilder;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, Command, Stdio, exit};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, setsid, wait};

use super::processes::{ProcessInfo, adopt_orphans, children_of, descendants, kill};
use super::protocol::{CommandReport, JobRequest, MAX_REPORT_BYTES};
use super::supervisor::{EXECUTE, own_program};

/// How long processes that a command left behind have to end after it ended by itself.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);
/// The pause between two attempts to kill what is left.
const KILL_INTERVAL: Duration = Duration::from_millis(2);
/// A process that cannot be killed in this time is blocked in the kernel, perhaps for ever.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads the job, has it executed, ends what is left, sends the report, and exits.
pub(super) fn supervise() -> ! {
    let report = run_job().unwrap_or_else(|error| CommandReport::Failed(error.to_string()));
    report.send();
    exit(0)
}

fn run_job() -> io::Result<CommandReport> {
    // The agent may have inherited open files; the command must not.
    close_fds::set_fds_cloexec(3, &[]);
    // No terminal, and a session that identifies the processes of the command.
    setsid()?;
    adopt_orphans()?;
    let (line, job) = JobRequest::read(&mut io::stdin().lock())?;
    let temp_dir = job
        .isolation
        .as_ref()
        .map(|isolation| Path::new(&isolation.temp_dir));
    if let Some(temp_dir) = temp_dir {
        let made = DirBuilder::new().mode(0o700).create(temp_dir);
        made.map_err(|error| temp_dir_error(temp_dir, &error))?;
    }
    let report = Supervision::start(&line, job.grace).and_then(Supervision::run);
    if let Some(temp_dir) = temp_dir {
        // No process is left that could use it; a failure to remove it does not fail the command.
        std::fs::remove_dir_all(temp_dir).ok();
    }
    report
}

/// An event that the supervisor waits for.
enum SupervisorEvent {
    /// The caller wants the command to stop, or is gone.
    Stop,
    /// The complete report of the executor.
    Report(Vec<u8>),
    /// The executor exited.
    ExecutorExited(WaitStatus),
    /// No descendant is left.
    NoDescendants,
}

/// Whether the command was stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunState {
    Running,
    Stopping { since: Instant },
}

/// A command under supervision.
struct Supervision {
    events: Receiver<SupervisorEvent>,
    executor: Pid,
    /// Closing this stops the executor.
    input: Option<ChildStdin>,
    grace: Duration,
    state: RunState,
    report_bytes: Option<Vec<u8>>,
    status: Option<WaitStatus>,
    has_no_descendants: bool,
}

impl Supervision {
    /// Starts the executor and sends it the job.
    fn start(job: &[u8], grace: Duration) -> io::Result<Self> {
        let mut child = Command::new(own_program()?)
            .arg0("toolcall-executor")
            .arg(EXECUTE)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let executor = id.ok_or(Errno::CHILD)?;
        let (sender, events) = sync_channel(4);
        watch_children(executor, sender.clone());
        if let Some(output) = child.stderr.take() {
            watch_executor(output, sender.clone());
        }
        watch_caller(sender);
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            // If the executor is gone already, its exit status shows it.
            input.write_all(job).ok();
        }
        Ok(Self {
            events,
            executor,
            input,
            grace,
            state: RunState::Running,
            report_bytes: None,
            status: None,
            has_no_descendants: false,
        })
    }

    fn run(mut self) -> io::Result<CommandReport> {
        while self.status.is_none() {
            match self.next_event(self.time_left()) {
                Some(SupervisorEvent::Stop) => self.stop(),
                Some(
                    SupervisorEvent::Report(_)
                    | SupervisorEvent::ExecutorExited(_)
                    | SupervisorEvent::NoDescendants,
                ) => {}
                // It had more than its time.
                None => drop(kill_process(self.executor, Signal::KILL)),
            }
        }
        self.end_descendants()?;
        Ok(self.report())
    }

    /// Waits for the next event and records it.
    fn next_event(&mut self, within: Duration) -> Option<SupervisorEvent> {
        let event = self.events.recv_timeout(within).ok()?;
        match &event {
            SupervisorEvent::Stop => {}
            SupervisorEvent::Report(report_bytes) => self.report_bytes = Some(report_bytes.clone()),
            SupervisorEvent::ExecutorExited(status) => self.status = Some(*status),
            SupervisorEvent::NoDescendants => self.has_no_descendants = true,
        }
        Some(event)
    }

    /// Returns how long to wait for the executor, which gives its programs the grace twice.
    fn time_left(&self) -> Duration {
        match self.state {
            RunState::Running => Duration::MAX,
            RunState::Stopping { since } => {
                let limit = self.grace * 2 + LEFTOVER_GRACE;
                limit.saturating_sub(since.elapsed()).max(KILL_INTERVAL)
            }
        }
    }

    /// Stops the command. The executor signals its own process group; processes that left the group
    /// are signalled here.
    fn stop(&mut self) {
        self.input = None;
        self.state = RunState::Stopping {
            since: Instant::now(),
        };
        let all = descendants();
        let groups: Vec<_> = children_of(self.executor, &all).map(|p| p.group).collect();
        let strays = all
            .iter()
            .filter(|process| process.pid != self.executor && !groups.contains(&process.group));
        strays.for_each(|stray| stray.signal(Signal::TERM));
    }

    /// Ends every descendant after the executor exited. After a stop they have the rest of the grace;
    /// processes that the command left behind are signalled now and have a short grace.
    fn end_descendants(&mut self) -> io::Result<()> {
        let grace = match self.state {
            RunState::Stopping { since } => self.grace.saturating_sub(since.elapsed()),
            RunState::Running => LEFTOVER_GRACE.min(self.grace),
        };
        if self.state == RunState::Running && !self.ends_within(KILL_INTERVAL) {
            let left = descendants();
            left.iter().for_each(|process| process.signal(Signal::TERM));
        }
        self.ends_within(grace);
        let since = Instant::now();
        while !self.ends_within(KILL_INTERVAL) {
            let left = descendants();
            kill(&left);
            if since.elapsed() > KILL_TIMEOUT {
                return Err(unkillable_error(&left));
            }
        }
        Ok(())
    }

    fn ends_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.has_no_descendants {
            let left = until.saturating_duration_since(Instant::now());
            if self.next_event(left).is_none() {
                break;
            }
        }
        self.has_no_descendants
    }

    fn report(mut self) -> CommandReport {
        while self.report_bytes.is_none() && self.next_event(KILL_TIMEOUT).is_some() {}
        let report_bytes = self.report_bytes.unwrap_or_default();
        CommandReport::parse(&report_bytes).unwrap_or_else(|| {
            let signal = self.status.and_then(|status| status.terminating_signal());
            CommandReport::Failed(match signal {
                Some(signal) => format!(
                    "the process that ran the command was ended from outside by signal {signal}"
                ),
                None => format!(
                    "the process that ran the command broke off: {}",
                    String::from_utf8_lossy(&report_bytes).trim()
                ),
            })
        })
    }
}

fn temp_dir_error(temp_dir: &Path, error: &io::Error) -> io::Error {
    let temp_dir = temp_dir.display();
    io::Error::other(format!(
        "the sandbox cannot be built: `{temp_dir}`: {error}"
    ))
}

fn unkillable_error(left: &[ProcessInfo]) -> io::Error {
    let ids: Vec<_> = left.iter().map(|process| process.pid.to_string()).collect();
    io::Error::other(format!(
        "processes of the command cannot be ended: {}",
        ids.join(", ")
    ))
}

/// Reaps every child that exits, until there are none, so that no zombie holds an id.
fn watch_children(executor: Pid, sender: SyncSender<SupervisorEvent>) {
    std::thread::spawn(move || {
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == executor => {
                    drop(sender.send(SupervisorEvent::ExecutorExited(status)))
                }
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => break drop(sender.send(SupervisorEvent::NoDescendants)),
            }
        }
    });
}

fn watch_executor(output: ChildStderr, sender: SyncSender<SupervisorEvent>) {
    std::thread::spawn(move || {
        let mut report_bytes = Vec::new();
        output
            .take(MAX_REPORT_BYTES)
            .read_to_end(&mut report_bytes)
            .ok();
        sender.send(SupervisorEvent::Report(report_bytes)).ok();
    });
}

/// Reports a stop when standard input is closed. The caller closes it to stop the command, and the
/// system closes it when the caller dies.
fn watch_caller(sender: SyncSender<SupervisorEvent>) {
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        while io::stdin().read(&mut rest).is_ok_and(|read| read > 0) {}
        sender.send(SupervisorEvent::Stop).ok();
    });
}
