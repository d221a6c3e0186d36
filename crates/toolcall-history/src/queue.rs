//! What waits to be written: bounded by count and by bytes, taken in one grab by the one who writes.
//! Who brings more than fits waits for room, and no longer than a given time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::settings::QueueLimits;

/// A bounded queue.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    inner: Mutex<Inner<T>>,
    filled: Condvar,
    emptied: Condvar,
    bound: QueueLimits,
}

#[derive(Debug)]
struct Inner<T> {
    waiting: VecDeque<T>,
    bytes: usize,
    state: State,
    /// Somebody waited in vain; until the writer has taken something, nobody else waits.
    is_stuck: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    Open,
    Closed,
}

/// Why something was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There was no room for too long.
    Full,
    /// Nobody writes any more.
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(bound: QueueLimits) -> Self {
        Self {
            inner: Mutex::new(Inner {
                waiting: VecDeque::new(),
                bytes: 0,
                state: State::Open,
                is_stuck: false,
            }),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            bound,
        }
    }

    /// Adds something of about this many bytes.
    pub(crate) fn push(&self, item: T, bytes: usize, patience: Duration) -> Result<(), Refusal> {
        let mut inner = self.room(patience)?;
        inner.bytes += bytes;
        inner.waiting.push_back(item);
        // Who takes takes everything, so that only the first has to wake it.
        if inner.waiting.len() == 1 {
            self.filled.notify_one();
        }
        Ok(())
    }

    fn room(&self, patience: Duration) -> Result<MutexGuard<'_, Inner<T>>, Refusal> {
        let mut inner = self.inner.lock();
        let deadline = Instant::now() + patience;
        while inner.state == State::Open && inner.is_full(self.bound) {
            let left = deadline.saturating_duration_since(Instant::now());
            if inner.is_stuck || left.is_zero() {
                inner.is_stuck = true;
                return Err(Refusal::Full);
            }
            self.emptied.wait_for(&mut inner, left);
        }
        match inner.state {
            State::Open => Ok(inner),
            State::Closed => Err(Refusal::Closed),
        }
    }

    /// Everything that waits, once there is something. Nothing, when the queue was closed and is empty.
    pub(crate) fn take(&self) -> VecDeque<T> {
        let mut inner = self.inner.lock();
        while inner.state == State::Open && inner.waiting.is_empty() {
            self.filled.wait(&mut inner);
        }
        inner.bytes = 0;
        inner.is_stuck = false;
        let taken = std::mem::take(&mut inner.waiting);
        drop(inner);
        self.emptied.notify_all();
        taken
    }

    /// Takes no more. What waits can still be taken.
    pub(crate) fn close(&self) {
        self.inner.lock().state = State::Closed;
        self.filled.notify_all();
        self.emptied.notify_all();
    }
}

impl<T> Inner<T> {
    /// One thing always fits, however large it is.
    fn is_full(&self, bound: QueueLimits) -> bool {
        !self.waiting.is_empty()
            && (self.waiting.len() >= bound.records || self.bytes >= bound.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    const TWO: QueueLimits = QueueLimits {
        records: 2,
        bytes: 100,
    };

    #[test]
    fn who_brings_too_much_is_told_so() {
        let queue = Queue::new(TWO);
        assert_eq!(queue.push(1, 1, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(2, 1, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(3, 1, Duration::ZERO), Err(Refusal::Full));
        assert_eq!(queue.take(), [1, 2]);
        assert_eq!(queue.push(4, 500, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(5, 1, Duration::ZERO), Err(Refusal::Full));
    }

    #[test]
    fn who_brings_too_much_waits_for_room() {
        let queue = Arc::new(Queue::new(TWO));
        let bringer = queue.clone();
        let brought = thread::spawn(move || {
            (0..1000).try_for_each(|item| bringer.push(item, 1, Duration::from_secs(60)))
        });
        let mut taken = Vec::new();
        while taken.len() < 1000 {
            let some = queue.take();
            assert!(some.len() <= 2, "{}", some.len());
            taken.extend(some);
        }
        assert_eq!(brought.join().expect("no panic"), Ok(()));
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
    }

    #[test]
    fn after_it_was_closed_what_waits_is_taken_and_nothing_more() {
        let queue = Queue::new(TWO);
        assert_eq!(queue.push(1, 1, Duration::ZERO), Ok(()));
        queue.close();
        assert_eq!(queue.push(2, 1, Duration::ZERO), Err(Refusal::Closed));
        assert_eq!(queue.take(), [1]);
        assert!(queue.take().is_empty());
    }
}
