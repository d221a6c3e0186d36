//! The switch that stops a call, once, for a stated cause.
//! It signals; what runs must look at it or is dropped by the engine.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::event::{Canceller, Ending};

/// Why a call was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Somebody cancelled it.
    Cancelled(Canceller),
    /// Its time was up.
    TimedOut(Duration),
}

impl From<Cause> for Ending {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Cancelled(by) => Ending::Cancelled { by },
            Cause::TimedOut(after) => Ending::TimedOut { after },
        }
    }
}

/// One call's switch.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    cause: Mutex<Option<(Cause, Instant)>>,
    bell: Notify,
}

impl Stop {
    /// Stops the call. Only the first cause counts.
    pub(crate) fn stop(&self, cause: Cause) -> bool {
        let mut current = self.cause.lock();
        let is_first = current.is_none();
        current.get_or_insert_with(|| (cause, Instant::now()));
        drop(current);
        self.bell.notify_waiters();
        is_first
    }

    /// The cause, once there is one.
    pub(crate) fn cause(&self) -> Option<Cause> {
        self.cause.lock().as_ref().map(|(cause, _)| cause.clone())
    }

    /// The cause, if it came at least this long ago.
    pub(crate) fn overdue(&self, after: Duration) -> Option<Cause> {
        let current = self.cause.lock();
        let (cause, since) = current.as_ref()?;
        (since.elapsed() >= after).then(|| cause.clone())
    }

    /// Waits for the cause.
    pub(crate) async fn stopped(&self) -> Cause {
        loop {
            let rung = self.bell.notified();
            if let Some(cause) = self.cause() {
                return cause;
            }
            rung.await;
        }
    }

    /// Does something unless the call was stopped; while it does, nobody can stop the call.
    pub(crate) fn unless_stopped<T>(&self, act: impl FnOnce() -> T) -> Result<T, Cause> {
        let current = self.cause.lock();
        match &*current {
            Some((cause, _)) => Err(cause.clone()),
            None => Ok(act()),
        }
    }

    /// Nothing, unless the call was stopped.
    pub(crate) fn check(&self) -> Result<(), Cause> {
        self.cause().map_or(Ok(()), Err)
    }

    /// Waits for something unless the call is stopped first. What is ready at once costs no wait.
    pub(crate) async fn race<T>(&self, future: impl Future<Output = T>) -> Result<T, Cause> {
        self.check()?;
        tokio::select! {
            biased;
            value = future => Ok(value),
            cause = self.stopped() => Err(cause),
        }
    }
}
