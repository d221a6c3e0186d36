//! Detects a model that repeats the same failing call.
//! It counts and advises; the caller stops the turn.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::outcome::Advice;

const REMIND_AT: u32 = 3;
const STOP_AT: u32 = 5;
const MOST_REMEMBERED: usize = 256;

/// Counts failures by tool and input.
#[derive(Debug, Default)]
pub(crate) struct RepeatedFailures {
    failures: HashMap<u64, FailureCount>,
    oldest: VecDeque<u64>,
}

#[derive(Debug)]
struct FailureCount {
    error: u64,
    count: u32,
}

/// A hash of a tool and its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt(u64);

impl Attempt {
    pub(crate) fn new(tool: &str, input: &Value) -> Self {
        Self(hash(&(tool, input)))
    }
}

impl RepeatedFailures {
    /// Returns whether nothing has failed recently, so that an attempt need not be hashed.
    pub(crate) fn is_empty(&self) -> bool {
        self.failures.is_empty()
    }

    /// Returns whether the attempt failed so often that it is not made again.
    pub(crate) fn is_exhausted(&self, attempt: Attempt) -> bool {
        self.failures
            .get(&attempt.0)
            .is_some_and(|failure| failure.count >= STOP_AT)
    }

    /// Clears the failures of an attempt that succeeded.
    pub(crate) fn succeeded(&mut self, attempt: Attempt) {
        if self.failures.remove(&attempt.0).is_some() {
            self.oldest.retain(|old| *old != attempt.0);
        }
    }

    /// Clears all failures: something changed, so that they may succeed now.
    pub(crate) fn forget_all(&mut self) {
        self.failures.clear();
        self.oldest.clear();
    }

    /// Counts a failure and returns what to do about it.
    pub(crate) fn failed(&mut self, attempt: Attempt, reason: &str) -> Advice {
        let error = hash(&reason);
        let known = self.failures.entry(attempt.0).or_insert_with(|| {
            self.oldest.push_back(attempt.0);
            FailureCount { error, count: 0 }
        });
        known.count = if known.error == error {
            known.count + 1
        } else {
            1
        };
        known.error = error;
        let count = known.count;
        self.forget_oldest();
        advice(count)
    }

    /// Returns the advice for an attempt that was not made.
    pub(crate) fn refused(&self) -> Advice {
        advice(STOP_AT)
    }

    fn forget_oldest(&mut self) {
        while self.oldest.len() > MOST_REMEMBERED {
            if let Some(oldest) = self.oldest.pop_front() {
                self.failures.remove(&oldest);
            }
        }
    }
}

fn advice(count: u32) -> Advice {
    if count >= STOP_AT {
        return Advice::Stop(
            format!("This exact call has failed {STOP_AT} times in the same way and will not be run again. Stop and tell the user what is in the way.").into(),
        );
    }
    if count >= REMIND_AT {
        return Advice::Remind(
            format!("This exact call has now failed {count} times in the same way. Do not repeat it: change the input, use another tool, or tell the user what is in the way.").into(),
        );
    }
    Advice::None
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
