//! Ids of sessions, calls and questions.
//! An id is opaque: nothing is derived from its text.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Uses the text as the id.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

id!(
    /// The id of a session: a conversation between one client and one agent.
    SessionId
);
id!(
    /// The unique id of a call. The id that the model gave it is separate.
    CallId
);
id!(
    /// The id of a question about a call.
    QuestionId
);

impl SessionId {
    /// Creates a random id.
    pub fn random() -> Self {
        Self::new(format!("session-{:016x}", random()))
    }
}

/// Returns a random number: the standard hasher is seeded at random, which is all that is needed
/// here.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// Generates call ids: a prefix and a counter.
#[derive(Debug)]
pub struct CallIds {
    prefix: Box<str>,
    next: AtomicU64,
}

impl CallIds {
    /// Generates ids with this prefix, counted from 1: the same in every run.
    pub fn new(prefix: impl Into<Box<str>>) -> Self {
        Self {
            prefix: prefix.into(),
            next: AtomicU64::new(1),
        }
    }

    /// Generates ids with a random prefix.
    pub fn random() -> Self {
        Self::new(format!("call-{:012x}", random() >> 16))
    }

    /// Returns a new call id.
    pub(crate) fn next_call(&self) -> CallId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Every call needs an id: this takes a third of the time of `format!`.
        let mut digits = itoa::Buffer::new();
        CallId::new([&*self.prefix, "-", digits.format(number)].concat())
    }
}
