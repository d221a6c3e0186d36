//! Names of sessions, calls and questions, and where new ones come from.
//! An id says nothing about what it names.

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
            /// FieldType the text as the id.
            pub fn new(text: impl Into<Arc<str>>) -> Self {
                Self(text.into())
            }

            /// The id as text.
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
    /// A conversation between one client and one agent.
    SessionId
);
id!(
    /// A call: ours, and unique. What the model called it is kept beside it.
    CallId
);
id!(
    /// A question about a call.
    QuestionId
);

impl SessionId {
    /// An id that no other session has.
    pub fn random() -> Self {
        Self::new(format!("session-{:016x}", random()))
    }
}

/// The standard library's hasher is seeded at random; that is all the randomness needed here.
fn random() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// Where the ids of new calls come from: one prefix and a counter.
#[derive(Debug)]
pub struct CallIds {
    prefix: Box<str>,
    next: AtomicU64,
}

impl CallIds {
    /// Counts from 1 behind the given prefix: the same ids in every run.
    pub fn new(prefix: impl Into<Box<str>>) -> Self {
        Self {
            prefix: prefix.into(),
            next: AtomicU64::new(1),
        }
    }

    /// Counts behind a prefix that no other process and no earlier run has.
    pub fn random() -> Self {
        Self::new(format!("call-{:012x}", random() >> 16))
    }

    /// A call id that was never given before.
    pub(crate) fn next_call(&self) -> CallId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Every call gets an id: this costs a third of formatting it.
        let mut digits = itoa::Buffer::new();
        CallId::new([&*self.prefix, "-", digits.format(number)].concat())
    }
}
