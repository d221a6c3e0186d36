//! Locks that outlive a panic: what they guard is a value that is never left half changed.
//! Nothing here is held across an await.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, whether or not an earlier holder panicked.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
