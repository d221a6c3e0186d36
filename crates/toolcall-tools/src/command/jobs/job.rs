//! One background command: the task that carries it, how it is, and what is wanted of it.
//! It knows nothing of other jobs, and keeps no output itself.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use toolcall::{Exit, Part};

use super::printed::{Place, Printed};
use super::{JobOutput, JobStatus};
use crate::command::runner::{Commands, Variables};

/// A background command.
#[derive(Debug)]
pub(super) struct Job {
    status: watch::Receiver<JobStatus>,
    wish: watch::Sender<Wish>,
    printed: Arc<Mutex<Printed>>,
    task: AbortHandle,
}

/// What is wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Run,
    End,
}

impl Job {
    pub(super) fn start(
        commands: Commands,
        parts: Vec<Part>,
        variables: Variables,
        spills: Option<Place>,
    ) -> Arc<Self> {
        let (tell, status) = watch::channel(JobStatus::Running);
        let (wish, wished) = watch::channel(Wish::Run);
        let printed = Arc::new(Mutex::new(Printed::new(spills)));
        let shared = printed.clone();
        let work = async move {
            let print = |bytes: &[u8]| shared.lock().push(bytes);
            let stop = end_is_wished(wished.clone());
            let ended = commands.carry(parts, &variables, print, stop).await;
            let wish = *wished.borrow();
            tell.send_replace(status_of(ended, wish));
        };
        let task = tokio::spawn(work).abort_handle();
        Arc::new(Self {
            status,
            wish,
            printed,
            task,
        })
    }

    pub(super) fn status(&self) -> JobStatus {
        // Asked first: the last word comes before the end.
        let is_gone = self.status.has_changed().is_err();
        match &*self.status.borrow() {
            JobStatus::Running if is_gone => broken_off(),
            status => status.clone(),
        }
    }

    pub(super) fn stop(&self) {
        self.wish.send_replace(Wish::End);
    }

    /// Nobody waits any more: dropping the work ends the command.
    pub(super) fn abandon(&self) {
        self.task.abort();
    }

    pub(super) async fn ended(&self) -> JobStatus {
        let mut status = self.status.clone();
        let ended = status.wait_for(|status| *status != JobStatus::Running);
        ended
            .await
            .map_or_else(|_| broken_off(), |status| status.clone())
    }

    /// Everything so far.
    pub(super) fn output(&self) -> JobOutput {
        // Asked first: what is over prints no more.
        let status = self.status();
        self.printed.lock().so_far(status)
    }

    /// What is new since the last look.
    pub(super) fn news(&self) -> JobOutput {
        let status = self.status();
        self.printed.lock().unseen(status)
    }
}

/// A task that is gone without a word was ended together with its runtime.
fn broken_off() -> JobStatus {
    JobStatus::Failed("it was ended together with what carried it".into())
}

fn status_of(ended: Result<Exit, String>, wish: Wish) -> JobStatus {
    match (ended, wish) {
        (Ok(exit), Wish::Run) => JobStatus::Ended(exit),
        (Ok(exit), Wish::End) => JobStatus::Stopped(exit),
        (Err(why), Wish::Run | Wish::End) => JobStatus::Failed(why.into()),
    }
}

async fn end_is_wished(mut wished: watch::Receiver<Wish>) {
    // A job that is gone wishes nothing; its task is dropped.
    if wished.wait_for(|wish| *wish == Wish::End).await.is_err() {
        std::future::pending().await
    }
}
