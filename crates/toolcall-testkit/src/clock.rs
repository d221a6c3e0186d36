//! A clock that a test sets. It must not look at the time of the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use toolcall::{Clock, Timestamp};

/// A clock whose clones show the same time.
#[derive(Clone, Debug, Default)]
pub struct TestClock {
    now: Arc<AtomicU64>,
    step: u64,
}

impl TestClock {
    /// A clock that stands still until it is set forward.
    pub fn standing_at(microseconds: u64) -> Self {
        let now = Arc::new(microseconds.into());
        Self { now, step: 0 }
    }

    /// A clock that is later by so many microseconds after each look at it.
    pub fn ticking(from: u64, step: u64) -> Self {
        let now = Arc::new(from.into());
        Self { now, step }
    }

    /// Sets the clock forward by so many microseconds.
    pub fn advance(&self, microseconds: u64) {
        self.now.fetch_add(microseconds, Ordering::SeqCst);
    }

    /// Sets the clock forward by so many seconds.
    pub fn advance_secs(&self, seconds: u64) {
        self.advance(seconds * 1_000_000);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.now.fetch_add(self.step, Ordering::SeqCst))
    }
}
