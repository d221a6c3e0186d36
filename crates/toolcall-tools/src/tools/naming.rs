//! Formats paths and counts for the texts of tools.
//! It touches no file.

use std::path::Path;

use toolcall::text::is_hidden;

/// Returns a path as one line, with hidden characters escaped. Unlike a title, it keeps line breaks (escaped) and
/// trailing spaces.
pub(super) fn display_path(path: impl AsRef<Path>) -> String {
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

/// Returns a number with its noun, in the singular or the plural.
pub(super) fn counted(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}
