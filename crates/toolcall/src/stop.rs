//! The signal that stops a call, once, with its cause.
//! It only signals: a tool awaits it, or the engine drops the tool.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::event::{Canceller, Ending};

/// Why a call was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// It was cancelled.
    Cancelled(Canceller),
    /// It ran out of time.
    TimedOut(Duration),
}

impl From<StopCause> for Ending {
    fn from(cause: StopCause) -> Self {
        match cause {
            StopCause::Cancelled(by) => Ending::Cancelled { by },
            StopCause::TimedOut(after) => Ending::TimedOut { after },
        }
    }
}

/// The stop signal of one call.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    cause: Mutex<Option<(StopCause, Instant)>>,
    notify: Notify,
}

impl StopSignal {
    /// Stops the call. Returns whether this was the first cause; only that one counts.
    pub(crate) fn stop(&self, cause: StopCause) -> bool {
        let mut current = self.cause.lock();
        let is_first = current.is_none();
        current.get_or_insert_with(|| (cause, Instant::now()));
        drop(current);
        self.notify.notify_waiters();
        is_first
    }

    /// Returns the cause, once there is one.
    pub(crate) fn cause(&self) -> Option<StopCause> {
        self.cause.lock().as_ref().map(|(cause, _)| cause.clone())
    }

    /// Returns the cause if the call was stopped at least this long ago.
    pub(crate) fn cause_older_than(&self, after: Duration) -> Option<StopCause> {
        let current = self.cause.lock();
        let (cause, since) = current.as_ref()?;
        (since.elapsed() >= after).then(|| cause.clone())
    }

    /// Waits until the call is stopped and returns the cause.
    pub(crate) async fn stopped(&self) -> StopCause {
        loop {
            let notified = self.notify.notified();
            if let Some(cause) = self.cause() {
                return cause;
            }
            notified.await;
        }
    }

    /// Runs a closure unless the call was stopped; the call cannot be stopped while it runs.
    pub(crate) fn unless_stopped<T>(&self, act: impl FnOnce() -> T) -> Result<T, StopCause> {
        let current = self.cause.lock();
        match &*current {
            Some((cause, _)) => Err(cause.clone()),
            None => Ok(act()),
        }
    }

    /// Returns the cause as an error if the call was stopped.
    pub(crate) fn check(&self) -> Result<(), StopCause> {
        self.cause().map_or(Ok(()), Err)
    }

    /// Awaits a future unless the call is stopped first. A future that is ready at once wins.
    pub(crate) async fn race<T>(&self, future: impl Future<Output = T>) -> Result<T, StopCause> {
        self.check()?;
        tokio::select! {
            biased;
            value = future => Ok(value),
            cause = self.stopped() => Err(cause),
        }
    }
}
