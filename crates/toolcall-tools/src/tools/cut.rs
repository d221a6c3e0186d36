//! How much of a long result is shown, and which part of it.
//! It counts; it never decides what is worth showing.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// How much of a long result is shown. What is behind is counted only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// So many entries or matches.
    pub items: usize,
    /// In so many bytes of text.
    pub bytes: usize,
}

impl Default for Cut {
    fn default() -> Self {
        Self {
            items: 200,
            bytes: 32 * 1024,
        }
    }
}

impl Cut {
    /// Nothing is left out, however long it is.
    pub const NONE: Cut = Cut {
        items: usize::MAX,
        bytes: usize::MAX,
    };
}

/// The least of what was added, at most so many.
pub(super) struct Least<T> {
    most: usize,
    kept: BinaryHeap<T>,
}

impl<T: Ord> Least<T> {
    pub(super) fn new(most: usize) -> Self {
        let kept = BinaryHeap::new();
        Self { most, kept }
    }

    /// Adds one, unless so many are less already.
    pub(super) fn add(&mut self, item: T) {
        if self.kept.len() < self.most {
            self.kept.push(item);
        } else if let Some(mut greatest) = self.kept.peek_mut()
            && item < *greatest
        {
            *greatest = item;
        }
    }

    /// Adds all that another one kept.
    pub(super) fn merge(mut self, other: Self) -> Self {
        let (mut fewer, more) = (other, &mut self);
        if fewer.kept.len() > more.kept.len() {
            std::mem::swap(&mut fewer, more);
        }
        fewer.kept.into_iter().for_each(|item| more.add(item));
        self
    }

    /// What was kept, in any order.
    pub(super) fn into_vec(self) -> Vec<T> {
        self.kept.into_vec()
    }

    /// What was kept, the least first.
    pub(super) fn into_sorted(self) -> Vec<T> {
        self.kept.into_sorted_vec()
    }
}

const STEP: usize = 16;

/// The order in which a folder comes before what is in it, and that before what follows the folder. It is that of the
/// paths' components, found byte by byte.
pub(super) fn in_tree_order(one: &Path, other: &Path) -> Ordering {
    let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
    let rank = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    // Paths of one folder begin alike, which is seen faster in larger steps.
    let steps = one.chunks_exact(STEP).zip(other.chunks_exact(STEP));
    let alike = steps.take_while(|(one, other)| one == other).count() * STEP;
    let mut pairs = one[alike..].iter().zip(&other[alike..]);
    match pairs.find(|(one, other)| one != other) {
        Some((one, other)) => rank(one).cmp(&rank(other)),
        None => one.len().cmp(&other.len()),
    }
}

/// Lines that fit into a number of bytes.
pub(super) struct Lines {
    pub(super) text: String,
    most: usize,
}

impl Lines {
    /// Begins with a heading, which always fits.
    pub(super) fn new(heading: String, cut: Cut) -> Self {
        let most = heading.len().saturating_add(cut.bytes);
        let text = heading;
        Self { text, most }
    }

    /// Adds a line, if it fits.
    pub(super) fn push(&mut self, line: &str) -> bool {
        let fits = self.text.len() + 1 + line.len() <= self.most;
        if fits {
            self.text.push('\n');
            self.text.push_str(line);
        }
        fits
    }
}
