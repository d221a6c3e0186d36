//! A range of lines from a text that arrives in pieces, limited in lines and bytes.
//! It stores no more than it returns.

/// A range of lines, and what has arrived of it so far.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    first: usize,
    max_lines: usize,
    max_bytes: usize,
    /// The line that the next byte belongs to, counted from 1.
    line: usize,
    is_inside_line: bool,
    bytes: Vec<u8>,
    /// How many of the bytes belong to complete lines.
    whole: usize,
    is_cut: bool,
}

impl Window {
    /// A window that starts at line `first`, with at most this many lines and bytes.
    pub(crate) fn new(first: usize, max_lines: usize, max_bytes: usize) -> Self {
        Self {
            first: first.max(1),
            max_lines,
            max_bytes,
            line: 1,
            is_inside_line: false,
            bytes: Vec::new(),
            whole: 0,
            is_cut: false,
        }
    }

    /// Adds the next piece of the text.
    pub(crate) fn take(&mut self, mut bytes: &[u8]) -> &mut Self {
        while !bytes.is_empty() && !self.is_full() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (piece, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            if self.line >= self.first {
                self.append(piece);
            }
            if self.is_full() {
                break;
            }
            self.is_inside_line = end.is_none();
            if end.is_some() {
                self.line += 1;
                self.whole = self.bytes.len();
            }
            bytes = rest;
        }
        self
    }

    /// Stores a piece. A line that does not fit is left out for the next window, unless it is the
    /// first line: that one is cut off.
    fn append(&mut self, piece: &[u8]) {
        let room = self.max_bytes - self.bytes.len();
        self.bytes
            .extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() <= room {
            return;
        }
        if self.whole == 0 {
            self.is_cut = true;
            self.line += 1;
        } else {
            self.bytes.truncate(self.whole);
        }
        self.is_inside_line = false;
        self.max_lines = self.line - self.first;
    }

    /// Whether the window needs no more of the text.
    pub(crate) fn is_full(&self) -> bool {
        self.line >= self.first.saturating_add(self.max_lines)
    }

    /// Returns the number of the first requested line.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    /// Returns the number of the last line found, or `first() - 1` if there was none.
    pub(crate) fn last(&self) -> usize {
        self.lines_seen().max(self.first - 1)
    }

    /// Returns how many lines of the text have arrived.
    pub(crate) fn lines_seen(&self) -> usize {
        self.line - 1 + usize::from(self.is_inside_line)
    }

    /// Whether the last line was cut off.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the bytes of the window. A line that was cut off may end inside a character.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, window: &Window) -> String {
        let lines = format!("{} to {}", window.first(), window.last());
        let bytes = String::from_utf8_lossy(window.bytes()).into_owned();
        let cut = if window.is_cut() { " cut" } else { "" };
        format!("{text:?}: {lines} {bytes:?}{cut}\n")
    }

    #[test]
    fn some_lines_of_a_text() {
        let rows = [
            ("", 1, 2, 9),
            ("a", 1, 2, 9),
            ("a\n", 1, 2, 9),
            ("a\nb\nc\n", 1, 2, 9),
            ("a\nb\nc\n", 2, 9, 9),
            ("a\nb\nc", 3, 9, 9),
            ("a\nb\nc", 4, 9, 9),
            ("a\nb\nc", 9, 9, 9),
            ("aa\nbb\ncc\n", 1, 9, 7),
            ("a long line\nb\n", 1, 9, 4),
            ("a\na long line\nb\n", 1, 9, 4),
            ("a\na long line\nb\n", 2, 9, 4),
        ];
        let windows = rows.map(|(text, first, lines, bytes)| {
            let mut window = Window::new(first, lines, bytes);
            shown(text, window.take(text.as_bytes()))
        });
        expect![[r#"
            "": 1 to 0 ""
            "a": 1 to 1 "a"
            "a\n": 1 to 1 "a\n"
            "a\nb\nc\n": 1 to 2 "a\nb\n"
            "a\nb\nc\n": 2 to 3 "b\nc\n"
            "a\nb\nc": 3 to 3 "c"
            "a\nb\nc": 4 to 3 ""
            "a\nb\nc": 9 to 8 ""
            "aa\nbb\ncc\n": 1 to 2 "aa\nbb\n"
            "a long line\nb\n": 1 to 1 "a lo" cut
            "a\na long line\nb\n": 1 to 1 "a\n"
            "a\na long line\nb\n": 2 to 2 "a lo" cut
        "#]]
        .assert_eq(&windows.concat());
    }

    proptest! {
        /// The window does not depend on how the text is split into pieces.
        #[test]
        fn pieces_make_no_difference(
            text in "[ab\n]{0,40}",
            at in 0..40usize,
            (first, lines, bytes) in (1..6usize, 1..6usize, 1..20usize),
        ) {
            let mut whole = Window::new(first, lines, bytes);
            whole.take(text.as_bytes());
            let mut pieces = Window::new(first, lines, bytes);
            let (one, two) = text.as_bytes().split_at(at.min(text.len()));
            pieces.take(one).take(two);
            prop_assert_eq!(shown(&text, &whole), shown(&text, &pieces));
        }
    }
}
