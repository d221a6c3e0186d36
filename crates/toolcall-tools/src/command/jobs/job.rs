//! One background command: the task that runs it, its status, and the request to stop.
//! It knows nothing of other jobs, and stores no output itself.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolcall::{Exit, Part};

use super::output_buffer::{OutputBuffer, SpillTarget};
use super::{JobOutput, JobStatus};
use crate::command::runner::{CommandVariables, Commands};

/// A background command.
#[derive(Debug)]
pub(super) struct BackgroundJob {
    status: watch::Receiver<JobStatus>,
    control: watch::Sender<JobControl>,
    output_buffer: Arc<Mutex<OutputBuffer>>,
    task: AbortHandle,
}

/// What the job was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JobControl {
    Run,
    Stop,
}

impl BackgroundJob {
    pub(super) fn start(
        commands: Commands,
        parts: Vec<Part>,
        variables: CommandVariables,
        spills: Option<SpillTarget>,
    ) -> Arc<Self> {
        let (status_sender, status) = watch::channel(JobStatus::Running);
        let (control, control_receiver) = watch::channel(JobControl::Run);
        let output_buffer = Arc::new(Mutex::new(OutputBuffer::new(spills)));
        let shared = output_buffer.clone();
        let work = async move {
            let print = |bytes: &[u8]| shared.lock().push(bytes);
            let stop = wait_for_stop(control_receiver.clone());
            let ended = commands.run_parts(parts, &variables, print, stop).await;
            let control = *control_receiver.borrow();
            status_sender.send_replace(status_of(ended, control));
        };
        let task = tokio::spawn(work).abort_handle();
        Arc::new(Self {
            status,
            control,
            output_buffer,
            task,
        })
    }

    pub(super) fn status(&self) -> JobStatus {
        // Read first: the task sends its last status before it is gone.
        let is_gone = self.status.has_changed().is_err();
        match &*self.status.borrow() {
            JobStatus::Running if is_gone => lost_status(),
            status => status.clone(),
        }
    }

    pub(super) fn stop(&self) {
        self.control.send_replace(JobControl::Stop);
    }

    /// Drops the task, which ends the command, and does not wait for it.
    pub(super) fn abort(&self) {
        self.task.abort();
    }

    pub(super) async fn ended(&self) -> JobStatus {
        let mut status = self.status.clone();
        let ended = status.wait_for(|status| *status != JobStatus::Running);
        ended
            .await
            .map_or_else(|_| lost_status(), |status| status.clone())
    }

    /// Returns all output so far.
    pub(super) fn output(&self) -> JobOutput {
        // Read first: a command that has ended prints no more.
        let status = self.status();
        self.output_buffer.lock().all_output(status)
    }

    /// Returns the output since the last call.
    pub(super) fn news(&self) -> JobOutput {
        let status = self.status();
        self.output_buffer.lock().take_unseen(status)
    }
}

/// The status of a job whose task is gone without one: it ended together with its runtime.
fn lost_status() -> JobStatus {
    JobStatus::Failed("it was ended together with the runtime that ran it".into())
}

fn status_of(ended: Result<Exit, String>, control: JobControl) -> JobStatus {
    match (ended, control) {
        (Ok(exit), JobControl::Run) => JobStatus::Ended(exit),
        (Ok(exit), JobControl::Stop) => JobStatus::Stopped(exit),
        (Err(why), JobControl::Run | JobControl::Stop) => JobStatus::Failed(why.into()),
    }
}

async fn wait_for_stop(mut control_receiver: watch::Receiver<JobControl>) {
    // The job was dropped, which aborts this task.
    if control_receiver
        .wait_for(|control| *control == JobControl::Stop)
        .await
        .is_err()
    {
        std::future::pending().await
    }
}
