//! How fast the demo goes.
//! It only waits; what happens does not depend on it.

use std::time::Duration;

/// How fast the demo goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Slow enough to follow.
    ForPeople,
    /// Without waiting.
    AtOnce,
}

impl Pace {
    /// Waits this long if a person watches; other tasks get their turn in any case.
    pub(crate) async fn pause(self, millis: u64) {
        match self {
            Pace::ForPeople => tokio::time::sleep(Duration::from_millis(millis)).await,
            Pace::AtOnce => tokio::task::yield_now().await,
        }
    }
}
