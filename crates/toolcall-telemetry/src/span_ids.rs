//! The ids of a span and of its parent.
//! It knows nothing about the content of a span.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::trace::{Sampling, TraceParent};

/// The ids of a span and of its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpanIdentity {
    /// The trace context that its children inherit.
    pub(crate) own: TraceParent,
    pub(crate) parent: Option<ParentSpan>,
}

/// The parent of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParentSpan {
    pub(crate) span: u64,
    pub(crate) origin: ParentOrigin,
}

/// Whether a parent span is of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentOrigin {
    Local,
    Remote,
}

/// Generates ids: a hash of a counter, with a random seed.
#[derive(Debug, Default)]
pub(crate) struct SpanIds {
    seed: RandomState,
    next: AtomicU64,
}

impl SpanIds {
    /// Returns the ids of a new root span.
    pub(crate) fn root(&self) -> SpanIdentity {
        let trace = u128::from(self.next()) << 64 | u128::from(self.next());
        let own = TraceParent {
            trace,
            span: self.next(),
            sampling: Sampling::Sampled,
            state: None,
        };
        SpanIdentity { own, parent: None }
    }

    /// Returns the ids of a new child span.
    pub(crate) fn child_of(&self, parent: &TraceParent, origin: ParentOrigin) -> SpanIdentity {
        let own = TraceParent {
            span: self.next(),
            ..parent.clone()
        };
        let span = parent.span;
        SpanIdentity {
            own,
            parent: Some(ParentSpan { span, origin }),
        }
    }

    /// Returns a new id; zero is not a valid one.
    fn next(&self) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.seed.hash_one(number).max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_id_is_given_twice() {
        let ids = SpanIds::default();
        let root = ids.root();
        let below = |_| ids.child_of(&root.own, ParentOrigin::Local).own.span;
        let spans: HashSet<u64> = (0..10_000).map(below).collect();
        assert_eq!(spans.len(), 10_000);
        assert!(!spans.contains(&root.own.span));
    }

    #[test]
    fn two_sources_give_different_ids() {
        assert_ne!(SpanIds::default().root(), SpanIds::default().root());
    }

    #[test]
    fn a_child_is_in_the_trace_of_its_parent() {
        let ids = SpanIds::default();
        let above = TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
        let above = above.unwrap().with_state("a=1");
        let identity = ids.child_of(&above, ParentOrigin::Remote);
        let parent = ParentSpan {
            span: above.span,
            origin: ParentOrigin::Remote,
        };
        assert_eq!(identity.parent, Some(parent));
        let own = TraceParent {
            span: identity.own.span,
            ..above
        };
        assert_eq!(identity.own, own);
    }
}
