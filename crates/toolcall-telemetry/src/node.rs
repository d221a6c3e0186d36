//! A span's own ids and those of its parent.
//! It knows nothing of what the span is about.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::trace::{Sampling, TraceParent};

/// Where a span stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The span itself, as its children see it.
    pub(crate) own: TraceParent,
    pub(crate) parent: Option<Parent>,
}

/// The span above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(crate) span: u64,
    pub(crate) origin: Origin,
}

/// Who made a parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Here,
    Elsewhere,
}

/// Where new ids come from: a hasher that the system seeds, over a counter.
#[derive(Debug, Default)]
pub(crate) struct SpanIds {
    seed: RandomState,
    next: AtomicU64,
}

impl SpanIds {
    /// A span above all others.
    pub(crate) fn root(&self) -> Node {
        let trace = u128::from(self.next()) << 64 | u128::from(self.next());
        let own = TraceParent {
            trace,
            span: self.next(),
            sampling: Sampling::Kept,
            state: None,
        };
        Node { own, parent: None }
    }

    /// A span below another.
    pub(crate) fn below(&self, above: &TraceParent, origin: Origin) -> Node {
        let own = TraceParent {
            span: self.next(),
            ..above.clone()
        };
        let span = above.span;
        Node {
            own,
            parent: Some(Parent { span, origin }),
        }
    }

    /// Zero stands for no id.
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
        let below = |_| ids.below(&root.own, Origin::Here).own.span;
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
        let node = ids.below(&above, Origin::Elsewhere);
        let parent = Parent {
            span: above.span,
            origin: Origin::Elsewhere,
        };
        assert_eq!(node.parent, Some(parent));
        let own = TraceParent {
            span: node.own.span,
            ..above
        };
        assert_eq!(node.own, own);
    }
}
