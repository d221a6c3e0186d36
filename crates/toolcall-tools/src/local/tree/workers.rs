//! The threads that walk a tree together: each has its own work and gives half of it to idle threads.
//! It holds a bounded number of handles and names, however large the tree is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::{Condvar, Mutex};

use super::start::Start;
use super::worker::{WorkItem, Worker};
use super::{Passed, Visitor, Walk};

/// More threads than this would only wait for the disk and each other.
const MAX_THREADS: usize = 12;

impl Walk<'_> {
    /// Walks with several threads, each with a visitor of its own.
    pub(crate) fn run<V: Visitor>(
        &self,
        start: &Start,
        visitor: impl Fn() -> V + Sync,
    ) -> (Vec<V>, Passed) {
        let workers = Workers::new(self, start);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let work = |pending| {
            let _end_walk = EndWalkOnDrop(&workers);
            Worker::new(&workers, visitor(), pending).work()
        };
        let done = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(MAX_THREADS))
                .map_while(|_| {
                    workers.add_busy();
                    let spawned = std::thread::Builder::new()
                        .spawn_scoped(scope, || work(Vec::new()))
                        .inspect_err(|_| workers.remove_busy());
                    spawned.ok()
                })
                .collect();
            let own = work(vec![WorkItem::Scan(None)]);
            let others = others.into_iter().map(|other| match other.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(others).collect::<Vec<_>>()
        });
        let mut passed = Passed::default();
        let visitors = done.into_iter().map(|(visitor, own)| {
            passed.add(own);
            visitor
        });
        (visitors.collect(), passed)
    }
}

impl Passed {
    fn add(&mut self, other: Passed) {
        self.hidden += other.hidden;
        self.denied += other.denied;
        self.unreadable += other.unreadable;
        self.too_deep += other.too_deep;
        self.too_many |= other.too_many;
    }
}

/// The state that the threads share.
pub(super) struct Workers<'a> {
    pub(super) walk: &'a Walk<'a>,
    pub(super) start: &'a Start,
    shared: Mutex<SharedWork>,
    work_available: Condvar,
    pub(super) idle: AtomicUsize,
    is_over: AtomicBool,
    pub(super) open_handles: Arc<AtomicUsize>,
    pub(super) names: AtomicU64,
}

struct SharedWork {
    work: Vec<WorkItem>,
    /// Threads that may still find more work.
    busy: usize,
}

impl<'a> Workers<'a> {
    fn new(walk: &'a Walk<'a>, start: &'a Start) -> Self {
        Self {
            walk,
            start,
            shared: Mutex::new(SharedWork {
                work: Vec::new(),
                busy: 1,
            }),
            work_available: Condvar::new(),
            idle: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            open_handles: Arc::default(),
            names: AtomicU64::new(0),
        }
    }

    fn add_busy(&self) {
        self.shared.lock().busy += 1;
    }

    fn remove_busy(&self) {
        self.shared.lock().busy -= 1;
    }

    /// Waits for work; returns `None` when no thread has any or the walk is over.
    pub(super) fn next_work(&self) -> Option<WorkItem> {
        let mut shared = self.shared.lock();
        shared.busy -= 1;
        self.idle.fetch_add(1, Ordering::Relaxed);
        loop {
            if self.is_over() {
                return None;
            }
            if let Some(work) = shared.work.pop() {
                shared.busy += 1;
                self.idle.fetch_sub(1, Ordering::Relaxed);
                return Some(work);
            }
            if shared.busy == 0 {
                return None;
            }
            self.work_available.wait(&mut shared);
        }
    }

    pub(super) fn share_work(&self, work: impl Iterator<Item = WorkItem>) {
        self.shared.lock().work.extend(work);
        self.work_available.notify_all();
    }

    fn end(&self) {
        // Under the lock, so that a thread that is about to wait does not miss it.
        let _shared = self.shared.lock();
        self.is_over.store(true, Ordering::Relaxed);
        self.work_available.notify_all();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Ends the walk for all threads when one of them returns or panics, so that none waits for ever.
struct EndWalkOnDrop<'a>(&'a Workers<'a>);

impl Drop for EndWalkOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
