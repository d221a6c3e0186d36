//! Rules on the shape of a Rust file: how it opens and how long it is.
//! They do not look inside the code.

use super::file::{Fault, File};

/// The longest a Rust file may be. 400 lines are the aim.
const MOST_LINES: usize = 600;

/// Every Rust file opens with `//!`.
pub(crate) fn opening(file: &File) -> Vec<Fault> {
    if !file.is_rust() || file.text.starts_with("//!") {
        return Vec::new();
    }
    let advice = "open the file with `//!`: one sentence on what it is, one on what it must not do";
    vec![Fault::new(1, advice)]
}

/// No Rust file has more than 600 lines.
pub(crate) fn length(file: &File) -> Vec<Fault> {
    let lines = file.text.lines().count();
    if !file.is_rust() || lines <= MOST_LINES {
        return Vec::new();
    }
    let advice = format!("{lines} lines; split the file by noun, {MOST_LINES} is the stop");
    vec![Fault::new(lines, advice)]
}

#[cfg(test)]
mod tests {
    use super::super::file::lines;
    use super::*;

    #[test]
    fn a_file_must_open_with_its_purpose() {
        assert_eq!(lines(opening, "a.rs", "use std::fs;\n//! Late."), [1]);
        assert_eq!(lines(opening, "a.rs", ""), [1]);
        assert_eq!(lines(opening, "a.rs", "// A comment."), [1]);
        assert_eq!(lines(opening, "a.rs", "//! A file.\n"), []);
        assert_eq!(lines(opening, "Cargo.toml", "[package]"), []);
    }

    #[test]
    fn a_file_must_not_be_too_long() {
        assert_eq!(lines(length, "a.rs", &"\n".repeat(601)), [601]);
        assert_eq!(lines(length, "a.rs", &"\n".repeat(600)), []);
        assert_eq!(lines(length, "ARCHITECTURE.md", &"\n".repeat(601)), []);
    }
}
