//! The map that calls are looked up in, many times each.
//! Its hasher is seeded at random and costs a fraction of the standard one.

use std::collections::HashMap;

/// A hash map for ids.
pub(crate) type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
