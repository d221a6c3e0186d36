//! How tools name a path and a number in what they say.
//! It reads no file and decides nothing.

use std::path::Path;

use toolcall::text::is_hidden;

/// A path on one line, with nothing hidden in it: who reads it sees what it is. Unlike in a title, a
/// line break or a blank at its end counts.
pub(super) fn named(path: impl AsRef<Path>) -> String {
    let text = path.as_ref().to_string_lossy();
    let is_plain = |byte: u8| matches!(byte, 0x20..=0x7e);
    if text.bytes().all(is_plain) {
        return text.into_owned();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_hidden(c) {
            shown.extend(c.escape_unicode())
        } else {
            shown.push(c)
        }
    }
    shown
}

/// A number with its noun.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}
