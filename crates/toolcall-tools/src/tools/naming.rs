//! How tools name a path and a number in what they say.
//! It reads no file and decides nothing.

use std::path::Path;

use toolcall::text::{clean_block, clean_line};

/// As long as a path can be.
const LONGEST: usize = 4096;

/// A path on one line, with nothing hidden in it: who reads it sees what it is.
pub(super) fn named(path: impl AsRef<Path>) -> String {
    let path = clean_block(&path.as_ref().to_string_lossy());
    clean_line(
        &path.replace('\n', "\\u{a}").replace('\t', "\\u{9}"),
        LONGEST,
    )
}

/// A number with its noun.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}
