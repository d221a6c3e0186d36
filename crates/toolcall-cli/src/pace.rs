//! The pace of the demo.
//! It only waits; results do not depend on it.

use std::time::Duration;

/// How fast the demo goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Slow enough to follow.
    Readable,
    /// Without waiting.
    Immediate,
}

impl Pace {
    /// Waits this long if a user watches; yields to other tasks in any case.
    pub(crate) async fn pause(self, millis: u64) {
        match self {
            Pace::Readable => tokio::time::sleep(Duration::from_millis(millis)).await,
            Pace::Immediate => tokio::task::yield_now().await,
        }
    }
}
