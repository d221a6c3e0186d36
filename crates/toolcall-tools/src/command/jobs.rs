//! Commands in the background of a session: started, looked at, stopped, and all ended with it.
//! It holds a bounded number of them, each within a budget, and decides nothing about permission.

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

/// How many run at once.
const MAX_RUNNING: usize = 16;
/// How many that ended are kept for later looks.
const MAX_ENDED: usize = 64;

/// The background commands of one session. Dropped, it ends all of them.
#[derive(Debug)]
pub struct Jobs {
    commands: Commands,
    spills: Option<Arc<Spills>>,
    table: Mutex<JobTable>,
}

/// Every job that is known.
#[derive(Debug, Default)]
struct JobTable {
    last: u64,
    jobs: BTreeMap<JobId, Arc<BackgroundJob>>,
}

/// A background command: `1`, `2` and so on, in the order in which they were started.
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

/// How a background command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// It runs.
    Running,
    /// It ended by itself.
    Ended(Exit),
    /// It was stopped, and ended like this.
    Stopped(Exit),
    /// It could not be run, or how it ended is not known: this is why.
    Failed(Arc<str>),
}

/// What a background command printed, as far as it is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobOutput {
    /// The text, with a line in place of what is not held.
    pub text: String,
    /// How many bytes this is about: all so far, or those since the last look.
    pub bytes: u64,
    /// How many of these are not in the text.
    pub skipped: u64,
    /// Where all of the command's output is kept, if it is long.
    pub spill: Option<Spill>,
    /// How the command is.
    pub status: JobStatus,
}

/// What cannot be done with a background command.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JobError {
    /// There is none of this id.
    #[error("there is no background command `{0}`")]
    Unknown(String),
    /// Too many run already.
    #[error("{MAX_RUNNING} background commands run already; stop one of them first")]
    TooMany,
    /// The command cannot be run.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl Jobs {
    /// Runs background commands with this runner.
    pub fn new(commands: Commands) -> Self {
        Self {
            commands,
            spills: None,
            table: Mutex::default(),
        }
    }

    /// Keeps long output there, under the call that started the command.
    pub fn with_spills(mut self, spills: Arc<Spills>) -> Self {
        self.spills = Some(spills);
        self
    }

    /// Starts a command. Of the console only the decision is asked: the command outlives its call.
    /// It takes a tokio runtime around it.
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

    /// Every command that is known, oldest first.
    pub fn all(&self) -> Vec<(JobId, JobStatus)> {
        let table = self.table.lock();
        let jobs = table.jobs.iter();
        jobs.map(|(id, job)| (*id, job.status())).collect()
    }

    /// How a command is.
    pub fn status(&self, id: JobId) -> Result<JobStatus, JobError> {
        Ok(self.find(id)?.status())
    }

    /// What a command printed so far.
    pub fn output(&self, id: JobId) -> Result<JobOutput, JobError> {
        Ok(self.find(id)?.output())
    }

    /// What a command printed since this was last asked.
    pub fn news(&self, id: JobId) -> Result<JobOutput, JobError> {
        Ok(self.find(id)?.news())
    }

    /// Waits until a command ended by itself or was stopped, and says how.
    pub async fn ended(&self, id: JobId) -> Result<JobStatus, JobError> {
        let job = self.find(id)?;
        Ok(job.ended().await)
    }

    /// Ends a command with all that it started, and says how it ended. One that ended before stays
    /// as it was.
    pub async fn stop(&self, id: JobId) -> Result<JobStatus, JobError> {
        let job = self.find(id)?;
        job.stop();
        Ok(job.ended().await)
    }

    /// Ends all of them and waits until they are gone.
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

    /// Those that ended first in the order of their start go first.
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
