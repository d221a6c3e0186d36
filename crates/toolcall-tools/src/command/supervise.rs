//! The process that supervises one command: it adopts what the command leaves behind and ends it.
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

use super::processes::{Process, adopt_orphans, children_of, descendants, kill};
use super::protocol::{Job, LONGEST_REPORT, Report};
use super::supervisor::{EXECUTE, own_program};

/// What a command left behind, when it ended by itself, has this long to end.
const SHORT_GRACE: Duration = Duration::from_millis(200);
/// Between two attempts to kill what is left.
const PAUSE: Duration = Duration::from_millis(2);
/// What cannot be killed in this time waits in the kernel for something that may never come.
const PATIENCE: Duration = Duration::from_secs(5);

/// Reads the job, has it executed, ends what is left, reports, and is over.
pub(super) fn supervise() -> ! {
    let report = supervised().unwrap_or_else(|error| Report::Failed(error.to_string()));
    report.say();
    exit(0)
}

fn supervised() -> io::Result<Report> {
    // Whoever started the agent may have left files open for it; they are not the command's.
    close_fds::set_fds_cloexec(3, &[]);
    // No terminal, and a session that names what belongs to the command.
    setsid()?;
    adopt_orphans()?;
    let (line, job) = Job::read(&mut io::stdin().lock())?;
    let folder = job.walls.as_ref().map(|walls| Path::new(&walls.folder));
    if let Some(folder) = folder {
        let made = DirBuilder::new().mode(0o700).create(folder);
        made.map_err(|error| no_folder(folder, &error))?;
    }
    let report = Watch::start(&line, job.grace).and_then(Watch::carry);
    if let Some(folder) = folder {
        // Nobody is left who could use it; what cannot be removed is no reason to call it failed.
        std::fs::remove_dir_all(folder).ok();
    }
    report
}

/// Something that the supervisor waits for.
enum News {
    /// The caller wants an end, or is gone.
    Stop,
    /// The executor said this, and nothing more will come.
    Said(Vec<u8>),
    /// The executor is over.
    Over(WaitStatus),
    /// There is no descendant left.
    AllGone,
}

/// Whether the command was stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Runs,
    Stopped { since: Instant },
}

/// A command under supervision.
struct Watch {
    news: Receiver<News>,
    executor: Pid,
    /// As long as this is open, the executor goes on.
    input: Option<ChildStdin>,
    grace: Duration,
    course: Course,
    said: Option<Vec<u8>>,
    status: Option<WaitStatus>,
    is_all_gone: bool,
}

impl Watch {
    /// Starts the executor and hands it the job.
    fn start(job: &[u8], grace: Duration) -> io::Result<Self> {
        let mut child = Command::new(own_program()?)
            .arg0("toolcall-executor")
            .arg(EXECUTE)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let executor = id.ok_or(Errno::CHILD)?;
        let (tell, news) = sync_channel(4);
        watch_children(executor, tell.clone());
        if let Some(output) = child.stderr.take() {
            watch_executor(output, tell.clone());
        }
        watch_caller(tell);
        let mut input = child.stdin.take();
        if let Some(input) = &mut input {
            // One that is gone already is found by its status.
            input.write_all(job).ok();
        }
        Ok(Self {
            news,
            executor,
            input,
            grace,
            course: Course::Runs,
            said: None,
            status: None,
            is_all_gone: false,
        })
    }

    fn carry(mut self) -> io::Result<Report> {
        while self.status.is_none() {
            match self.take(self.time_left()) {
                Some(News::Stop) => self.stop(),
                Some(News::Said(_) | News::Over(_) | News::AllGone) => {}
                // It had its time and more.
                None => drop(kill_process(self.executor, Signal::KILL)),
            }
        }
        self.end_the_rest()?;
        Ok(self.report())
    }

    /// Waits for news, and remembers what it says.
    fn take(&mut self, within: Duration) -> Option<News> {
        let news = self.news.recv_timeout(within).ok()?;
        match &news {
            News::Stop => {}
            News::Said(said) => self.said = Some(said.clone()),
            News::Over(status) => self.status = Some(*status),
            News::AllGone => self.is_all_gone = true,
        }
        Some(news)
    }

    /// Until the executor is expected to be over. It gives its programs the grace, and then again.
    fn time_left(&self) -> Duration {
        match self.course {
            Course::Runs => Duration::MAX,
            Course::Stopped { since } => {
                let limit = self.grace * 2 + SHORT_GRACE;
                limit.saturating_sub(since.elapsed()).max(PAUSE)
            }
        }
    }

    /// The executor tells its process group to end; those who left the group are told here.
    fn stop(&mut self) {
        self.input = None;
        self.course = Course::Stopped {
            since: Instant::now(),
        };
        let all = descendants();
        let groups: Vec<_> = children_of(self.executor, &all).map(|p| p.group).collect();
        let strays = all
            .iter()
            .filter(|process| process.pid != self.executor && !groups.contains(&process.group));
        strays.for_each(|stray| stray.signal(Signal::TERM));
    }

    /// Ends what is left once the executor is over. Those who were told to end get what is left of
    /// the grace; those whom the command left behind are told now, and get a short one.
    fn end_the_rest(&mut self) -> io::Result<()> {
        let grace = match self.course {
            Course::Stopped { since } => self.grace.saturating_sub(since.elapsed()),
            Course::Runs => SHORT_GRACE.min(self.grace),
        };
        if self.course == Course::Runs && !self.is_all_gone_within(PAUSE) {
            let left = descendants();
            left.iter().for_each(|process| process.signal(Signal::TERM));
        }
        self.is_all_gone_within(grace);
        let since = Instant::now();
        while !self.is_all_gone_within(PAUSE) {
            let left = descendants();
            kill(&left);
            if since.elapsed() > PATIENCE {
                return Err(cannot_be_ended(&left));
            }
        }
        Ok(())
    }

    fn is_all_gone_within(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.is_all_gone {
            let left = until.saturating_duration_since(Instant::now());
            if self.take(left).is_none() {
                break;
            }
        }
        self.is_all_gone
    }

    fn report(mut self) -> Report {
        while self.said.is_none() && self.take(PATIENCE).is_some() {}
        let said = self.said.unwrap_or_default();
        Report::read(&said).unwrap_or_else(|| {
            let signal = self.status.and_then(|status| status.terminating_signal());
            Report::Failed(match signal {
                Some(signal) => format!(
                    "the process that ran the command was ended from outside by signal {signal}"
                ),
                None => format!(
                    "the process that ran the command broke off: {}",
                    String::from_utf8_lossy(&said).trim()
                ),
            })
        })
    }
}

fn no_folder(folder: &Path, error: &io::Error) -> io::Error {
    let folder = folder.display();
    io::Error::other(format!("the sandbox cannot be built: `{folder}`: {error}"))
}

fn cannot_be_ended(left: &[Process]) -> io::Error {
    let ids: Vec<_> = left.iter().map(|process| process.pid.to_string()).collect();
    io::Error::other(format!(
        "processes of the command cannot be ended: {}",
        ids.join(", ")
    ))
}

/// Reaps whatever ends, so that no id of a dead process is held, until there are no children.
fn watch_children(executor: Pid, tell: SyncSender<News>) {
    std::thread::spawn(move || {
        loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == executor => drop(tell.send(News::Over(status))),
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => break drop(tell.send(News::AllGone)),
            }
        }
    });
}

fn watch_executor(output: ChildStderr, tell: SyncSender<News>) {
    std::thread::spawn(move || {
        let mut said = Vec::new();
        output.take(LONGEST_REPORT).read_to_end(&mut said).ok();
        tell.send(News::Said(said)).ok();
    });
}

/// The caller holds the other end of standard input as long as the command is to go on; the system
/// lets go of it when the caller dies, however that happens.
fn watch_caller(tell: SyncSender<News>) {
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        while io::stdin().read(&mut rest).is_ok_and(|read| read > 0) {}
        tell.send(News::Stop).ok();
    });
}
