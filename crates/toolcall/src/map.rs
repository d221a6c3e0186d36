//! The hash map in which calls are looked up, many times each.
//! Its hasher is seeded at random and faster than the standard one.

use std::collections::HashMap;

/// A hash map with a fast hasher.
pub(crate) type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
