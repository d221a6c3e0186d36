//! The switch that stops a call, once, for a stated cause.
//! It signals; what runs must look at it or is dropped by the engine.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::event::{Canceller, Ending};

/// Why a call was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// Somebody cancelled it.
    Cancelled(Canceller),
    /// Its time was up.
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

/// One call's switch.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    cause: Mutex<Option<(StopCause, Instant)>>,
    notify: Notify,
}

impl StopSignal {
    /// Stops the call. Only the first cause counts.
    pub(crate) fn stop(&self, cause: StopCause) -> bool {
        let mut current = self.cause.lock();
        let is_first = current.is_none();
        current.get_or_insert_with(|| (cause, Instant::now()));
        drop(current);
        self.notify.notify_waiters();
        is_first
    }

    /// The cause, once there is one.
    pub(crate) fn cause(&self) -> Option<StopCause> {
        self.cause.lock().as_ref().map(|(cause, _)| cause.clone())
    }

    /// The cause, if it came at least this long ago.
    pub(crate) fn cause_older_than(&self, after: Duration) -> Option<StopCause> {
        let current = self.cause.lock();
        let (cause, since) = current.as_ref()?;
        (since.elapsed() >= after).then(|| cause.clone())
    }

    /// Waits for the cause.
    pub(crate) async fn stopped(&self) -> StopCause {
        loop {
            let notified = self.notify.notified();
            if let Some(cause) = self.cause() {
                return cause;
            }
            notified.await;
        }
    }

    /// Does something unless the call was stopped; while it does, nobody can stop the call.
    pub(crate) fn unless_stopped<T>(&self, act: impl FnOnce() -> T) -> Result<T, StopCause> {
        let current = self.cause.lock();
        match &*current {
            Some((cause, _)) => Err(cause.clone()),
            None => Ok(act()),
        }
    }

    /// Nothing, unless the call was stopped.
    pub(crate) fn check(&self) -> Result<(), StopCause> {
        self.cause().map_or(Ok(()), Err)
    }

    /// Waits for something unless the call is stopped first. What is ready at once costs no wait.
    pub(crate) async fn race<T>(&self, future: impl Future<Output = T>) -> Result<T, StopCause> {
        self.check()?;
        tokio::select! {
            biased;
            value = future => Ok(value),
            cause = self.stopped() => Err(cause),
        }
    }
}
