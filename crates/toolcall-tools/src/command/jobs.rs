//! The background commands of a session: started, read, stopped, and all ended with the session.
//! It holds a bounded number of them, each with bounded output, and decides nothing about permission.

mod job;
mod output_buffer;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use parking_lot::Mutex;
use thiserror::Error;
use toolcall::{CallId, Command, Console, Exit, HostError, Spill};

use self::job::BackgroundJob;
use super::runner::{Commands, runnable_parts};
use crate::local::Spills;

/// How many commands run at once.
const MAX_RUNNING: usize = 16;
/// How many ended commands can still be read.
const MAX_ENDED: usize = 64;

/// The background commands of one session. Dropping it ends all of them.
#[derive(Debug)]
pub struct Jobs {
    commands: Commands,
    spills: Option<Arc<Spills>>,
    table: Mutex<JobTable>,
}

/// The known jobs by id.
#[derive(Debug, Default)]
struct JobTable {
    last: u64,
    jobs: BTreeMap<JobId, Arc<BackgroundJob>>,
}

/// The id of a background command: `1`, `2` and so on, in the order in which they were started.
///
/// ```
/// use toolcall_tools::command::JobId;
///
/// let id: JobId = "2".parse()?;
/// assert_eq!(id.to_string(), "2");
/// # Ok::<(), toolcall_tools::command::JobError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for JobId {
    type Err = JobError;

    fn from_str(text: &str) -> Result<Self, JobError> {
        let number = text.trim().parse();
        number
            .map(Self)
            .map_err(|_| JobError::Unknown(text.to_owned()))
    }
}

/// The status of a background command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// It is running.
    Running,
    /// It ended by itself.
    Ended(Exit),
    /// It was stopped, with this exit status.
    Stopped(Exit),
    /// It could not be run, or how it ended is unknown, for this reason.
    Failed(Arc<str>),
}

/// Output of a background command, shortened if it is long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutput {
    /// The text, with a line in place of what was left out.
    pub text: String,
    /// How many bytes the command printed: in all ([`Jobs::output`]), or since the last
    /// [`Jobs::news`].
    pub bytes: u64,
    /// How many of these bytes the text leaves out.
    pub skipped: u64,
    /// The file with all of the command's output, if it is long.
    pub spill: Option<Spill>,
    /// The status of the command.
    pub status: JobStatus,
}

/// Why a background command cannot be started or found.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JobError {
    /// There is no background command with this id.
    #[error("there is no background command `{0}`")]
    Unknown(String),
    /// Too many commands run already.
    #[error("{MAX_RUNNING} background commands run already; stop one of them first")]
    TooMany,
    /// The command cannot be run.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Jobs {
    /// No background commands yet; new ones are run by `commands`.
    pub fn new(commands: Commands) -> Self {
        Self {
            commands,
            spills: None,
            table: Mutex::default(),
        }
    }

    /// Stores long output in these spills, under the call that started the command.
    pub fn with_spills(mut self, spills: Arc<Spills>) -> Self {
        self.spills = Some(spills);
        self
    }

    /// Starts a command and returns its id. Only the decision of the console is used, because the
    /// command outlives its call. Must be called within a tokio runtime.
    pub fn start(
        &self,
        command: &Command,
        call: &CallId,
        console: &dyn Console,
    ) -> Result<JobId, JobError> {
        let parts = runnable_parts(command, console)?;
        let mut table = self.table.lock();
        if table.running().count() >= MAX_RUNNING {
            return Err(JobError::TooMany);
        }
        table.remove_oldest_ended();
        table.last += 1;
        let id = JobId(table.last);
        let spills = self.spills.clone().map(|spills| (spills, call.clone()));
        let job = BackgroundJob::start(self.commands.clone(), parts, command.env.clone(), spills);
        table.jobs.insert(id, job);
        Ok(id)
    }

    /// Returns every known command with its status, oldest first.
    pub fn all(&self) -> Vec<(JobId, JobStatus)> {
        let table = self.table.lock();
        let jobs = table.jobs.iter();
        jobs.map(|(id, job)| (*id, job.status())).collect()
    }

    /// Returns the status of a command.
    pub fn status(&self, id: JobId) -> Result<JobStatus, JobError> {
        Ok(self.find(id)?.status())
    }

    /// Returns what a command has printed so far.
    pub fn output(&self, id: JobId) -> Result<JobOutput, JobError> {
        Ok(self.find(id)?.output())
    }

    /// Returns what a command has printed since the last call of this method.
    pub fn news(&self, id: JobId) -> Result<JobOutput, JobError> {
        Ok(self.find(id)?.news())
    }

    /// Waits until a command has ended or was stopped, and returns its status.
    pub async fn ended(&self, id: JobId) -> Result<JobStatus, JobError> {
        let job = self.find(id)?;
        Ok(job.ended().await)
    }

    /// Stops a command with every process it started, and returns its status. A command that has
    /// already ended keeps its status.
    pub async fn stop(&self, id: JobId) -> Result<JobStatus, JobError> {
        let job = self.find(id)?;
        job.stop();
        Ok(job.ended().await)
    }

    /// Stops every command and waits until all have ended.
    pub async fn close(&self) {
        let running: Vec<_> = self.table.lock().running().cloned().collect();
        running.iter().for_each(|job| job.stop());
        for job in running {
            job.ended().await;
        }
    }

    fn find(&self, id: JobId) -> Result<Arc<BackgroundJob>, JobError> {
        let found = self.table.lock().jobs.get(&id).cloned();
        found.ok_or_else(|| JobError::Unknown(id.to_string()))
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.table.lock().running().for_each(|job| job.abort());
    }
}

impl JobTable {
    fn running(&self) -> impl Iterator<Item = &Arc<BackgroundJob>> {
        let jobs = self.jobs.values();
        jobs.filter(|job| job.status() == JobStatus::Running)
    }

    /// Makes room for one more ended job: removes the ended jobs that were started first.
    fn remove_oldest_ended(&mut self) {
        let ended = |job: &Arc<BackgroundJob>| job.status() != JobStatus::Running;
        let over: Vec<_> = self.jobs.iter().filter(|(_, job)| ended(job)).collect();
        let excess = (over.len() + 1).saturating_sub(MAX_ENDED);
        let forgotten: Vec<_> = over.iter().take(excess).map(|(id, _)| **id).collect();
        for id in forgotten {
            self.jobs.remove(&id);
        }
    }
}
