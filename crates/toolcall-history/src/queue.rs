//! The queue before the writer thread: bounded by count and by bytes, emptied in one step.
//! A sender waits for space, but never longer than its timeout.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::settings::QueueLimits;

/// A bounded queue with one consumer.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    inner: Mutex<QueueInner<T>>,
    not_empty: Condvar,
    not_full: Condvar,
    limits: QueueLimits,
}

#[derive(Debug)]
struct QueueInner<T> {
    items: VecDeque<T>,
    bytes: usize,
    state: QueueState,
    /// A sender has timed out. Until the writer takes something, other senders fail at once.
    is_stuck: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum QueueState {
    Open,
    Closed,
}

/// Why an item was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushError {
    /// The queue stayed full until the timeout.
    Full,
    /// The writer thread has ended.
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(limits: QueueLimits) -> Self {
        Self {
            inner: Mutex::new(QueueInner {
                items: VecDeque::new(),
                bytes: 0,
                state: QueueState::Open,
                is_stuck: false,
            }),
            not_empty: Condvar::new(),
            not_full: Condvar::new(),
            limits,
        }
    }

    /// Adds an item of about this many bytes; waits up to `patience` for space.
    pub(crate) fn push(&self, item: T, bytes: usize, patience: Duration) -> Result<(), PushError> {
        let mut inner = self.wait_for_space(patience)?;
        inner.bytes += bytes;
        inner.items.push_back(item);
        // The consumer takes everything, so only the first item has to wake it.
        if inner.items.len() == 1 {
            self.not_empty.notify_one();
        }
        Ok(())
    }

    fn wait_for_space(
        &self,
        patience: Duration,
    ) -> Result<MutexGuard<'_, QueueInner<T>>, PushError> {
        let mut inner = self.inner.lock();
        let deadline = Instant::now() + patience;
        while inner.state == QueueState::Open && inner.is_full(self.limits) {
            let left = deadline.saturating_duration_since(Instant::now());
            if inner.is_stuck || left.is_zero() {
                inner.is_stuck = true;
                return Err(PushError::Full);
            }
            self.not_full.wait_for(&mut inner, left);
        }
        match inner.state {
            QueueState::Open => Ok(inner),
            QueueState::Closed => Err(PushError::Closed),
        }
    }

    /// Waits for items and returns all of them; returns none once the queue is closed and empty.
    pub(crate) fn take_all(&self) -> VecDeque<T> {
        let mut inner = self.inner.lock();
        while inner.state == QueueState::Open && inner.items.is_empty() {
            self.not_empty.wait(&mut inner);
        }
        inner.bytes = 0;
        inner.is_stuck = false;
        let taken = std::mem::take(&mut inner.items);
        drop(inner);
        self.not_full.notify_all();
        taken
    }

    /// Rejects further items. Queued ones can still be taken.
    pub(crate) fn close(&self) {
        self.inner.lock().state = QueueState::Closed;
        self.not_empty.notify_all();
        self.not_full.notify_all();
    }
}

impl<T> QueueInner<T> {
    /// An empty queue takes an item of any size.
    fn is_full(&self, limits: QueueLimits) -> bool {
        !self.items.is_empty() && (self.items.len() >= limits.records || self.bytes >= limits.bytes)
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
    fn a_push_to_a_full_queue_fails() {
        let queue = Queue::new(TWO);
        assert_eq!(queue.push(1, 1, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(2, 1, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(3, 1, Duration::ZERO), Err(PushError::Full));
        assert_eq!(queue.take_all(), [1, 2]);
        assert_eq!(queue.push(4, 500, Duration::ZERO), Ok(()));
        assert_eq!(queue.push(5, 1, Duration::ZERO), Err(PushError::Full));
    }

    #[test]
    fn a_push_to_a_full_queue_waits_for_space() {
        let queue = Arc::new(Queue::new(TWO));
        let bringer = queue.clone();
        let brought = thread::spawn(move || {
            (0..1000).try_for_each(|item| bringer.push(item, 1, Duration::from_secs(60)))
        });
        let mut taken = Vec::new();
        while taken.len() < 1000 {
            let some = queue.take_all();
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
        assert_eq!(queue.push(2, 1, Duration::ZERO), Err(PushError::Closed));
        assert_eq!(queue.take_all(), [1]);
        assert!(queue.take_all().is_empty());
    }
}
