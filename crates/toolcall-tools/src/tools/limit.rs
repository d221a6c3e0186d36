//! Limits how much of a long result is shown.
//! It counts items and bytes; which items come first is the tool's decision.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// How much of a long result to show. The rest is only counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultLimit {
    /// The maximum number of entries or matches.
    pub items: usize,
    /// The maximum number of bytes of text.
    pub bytes: usize,
}

impl Default for ResultLimit {
    fn default() -> Self {
        Self {
            items: 200,
            bytes: 32 * 1024,
        }
    }
}

impl ResultLimit {
    /// No limit.
    pub const NONE: ResultLimit = ResultLimit {
        items: usize::MAX,
        bytes: usize::MAX,
    };
}

/// Keeps the smallest items of all that are added, up to a number.
pub(super) struct SmallestItems<T> {
    most: usize,
    kept: BinaryHeap<T>,
}

impl<T: Ord> SmallestItems<T> {
    pub(super) fn new(most: usize) -> Self {
        let kept = BinaryHeap::new();
        Self { most, kept }
    }

    /// Adds an item, unless enough smaller ones are kept.
    pub(super) fn add(&mut self, item: T) {
        if self.kept.len() < self.most {
            self.kept.push(item);
        } else if let Some(mut greatest) = self.kept.peek_mut()
            && item < *greatest
        {
            *greatest = item;
        }
    }

    /// Adds the items of another collection.
    pub(super) fn merge(mut self, other: Self) -> Self {
        let (mut fewer, more) = (other, &mut self);
        if fewer.kept.len() > more.kept.len() {
            std::mem::swap(&mut fewer, more);
        }
        fewer.kept.into_iter().for_each(|item| more.add(item));
        self
    }

    /// Returns the kept items in any order.
    pub(super) fn into_vec(self) -> Vec<T> {
        self.kept.into_vec()
    }

    /// Returns the kept items in ascending order.
    pub(super) fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec()
    }
}

const STEP: usize = 16;

/// Compares two paths by their components, so that a directory is followed by its content. It compares bytes, which is
/// faster than [`Path::components`].
pub(super) fn in_tree_order(one: &Path, other: &Path) -> Ordering {
    let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    // Paths of one directory have a common prefix, which is skipped faster in larger steps.
    let steps = one.chunks_exact(STEP).zip(other.chunks_exact(STEP));
    let alike = steps.take_while(|(one, other)| one == other).count() * STEP;
    let mut pairs = one[alike..].iter().zip(&other[alike..]);
    match pairs.find(|(one, other)| one != other) {
        Some((one, other)) => rank(one).cmp(&rank(other)),
        None => one.len().cmp(&other.len()),
    }
}

/// Lines up to a number of bytes.
pub(super) struct BoundedLines {
    pub(super) text: String,
    most: usize,
}

impl BoundedLines {
    /// Creates a text with a heading, which does not count toward the limit.
    pub(super) fn new(heading: String, cut: ResultLimit) -> Self {
        let most = heading.len().saturating_add(cut.bytes);
        let text = heading;
        Self { text, most }
    }

    /// Adds a line if it fits, and returns whether it did.
    pub(super) fn push(&mut self, line: &str) -> bool {
        let fits = self.text.len() + 1 + line.len() <= self.most;
        if fits {
            self.text.push('\n');
            self.text.push_str(line);
        }
        fits
    }
}
