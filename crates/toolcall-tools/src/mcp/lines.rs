//! Lines of a server, read within a bound; of one that is too long, at least whom it answers.
//! What was read of a line is kept when reading is broken off, and a line is never held twice.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// A longer line is passed over.
pub(super) const LONGEST_LINE: usize = 16 * 1024 * 1024;
const BUFFER: usize = 64 * 1024;
/// More than this is not held between lines.
const KEPT: usize = 1024 * 1024;

/// What was read.
#[derive(Debug, PartialEq)]
pub(super) enum Read {
    /// A line; it is in [`Lines::line`].
    Line,
    /// A line that was too long, with the `id` that it had.
    TooLong(Option<Value>),
    /// There is nothing more.
    End,
}

/// A stream, line by line.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    /// Whether `line` was given out and is to be forgotten.
    is_used: bool,
    /// What is known of a line that is passed over.
    skipped: Option<IdScan>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            longest,
            line: Vec::new(),
            is_used: false,
            skipped: None,
        }
    }

    /// The line that was read last, without its end.
    pub(super) fn line(&self) -> &[u8] {
        self.line.trim_ascii_end()
    }

    /// Reads the next line. It may be dropped and called again.
    pub(super) async fn next(&mut self) -> Read {
        if std::mem::take(&mut self.is_used) {
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        loop {
            // A stream that breaks is one that ends: there is nothing else to do about it.
            let (taken, is_whole) = match self.reader.fill_buf().await {
                Ok([]) | Err(_) => return Read::End,
                Ok(available) => {
                    let end = memchr::memchr(b'\n', available);
                    let piece = &available[..end.map_or(available.len(), |end| end + 1)];
                    take(piece, &mut self.line, &mut self.skipped, self.longest);
                    (piece.len(), end.is_some())
                }
            };
            self.reader.consume(taken);
            match (is_whole, self.skipped.take()) {
                (false, skipped) => self.skipped = skipped,
                (true, Some(scan)) => return Read::TooLong(scan.id()),
                (true, None) => {
                    self.is_used = true;
                    return Read::Line;
                }
            }
        }
    }
}

/// Adds a piece to the line, or only looks at it if the line is too long.
fn take(piece: &[u8], line: &mut Vec<u8>, skipped: &mut Option<IdScan>, longest: usize) {
    if skipped.is_none() && line.len() + piece.len() > longest {
        let mut scan = IdScan::default();
        scan.see(line);
        *line = Vec::new();
        *skipped = Some(scan);
    }
    match skipped {
        Some(scan) => scan.see(piece),
        None => line.extend_from_slice(piece),
    }
}

/// The `id` of an answer, without holding more than a few bytes of it.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: usize,
    text: Option<Escape>,
    /// The last text or word on the first level, as it was written.
    token: Vec<u8>,
    /// Which member of the first level is being read.
    member: Member,
    id: Option<Vec<u8>>,
    is_request: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Escape {
    No,
    Next,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Member {
    #[default]
    Key,
    Id,
    Other,
}

const LONGEST_TOKEN: usize = 64;

impl IdScan {
    /// The `id` of one whole line.
    pub(super) fn of(line: &[u8]) -> Option<Value> {
        let mut scan = Self::default();
        scan.see(line);
        scan.id()
    }

    fn see(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.see_one(*byte);
        }
    }

    fn see_one(&mut self, byte: u8) {
        if let Some(escape) = self.text {
            self.hold(byte);
            self.text = match (escape, byte) {
                (Escape::Next, _) => Some(Escape::No),
                (Escape::No, b'\\') => Some(Escape::Next),
                (Escape::No, b'"') => None,
                (Escape::No, _) => Some(Escape::No),
            };
            return;
        }
        match byte {
            b'"' => {
                self.token.clear();
                self.hold(byte);
                self.text = Some(Escape::No);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_member();
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if self.depth == 1 => self.end_key(),
            b',' => self.end_member(),
            b if b.is_ascii_whitespace() => {}
            other => self.hold(other),
        }
    }

    fn hold(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < LONGEST_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_key(&mut self) {
        self.member = match self.token.as_slice() {
            b"\"id\"" => Member::Id,
            b"\"method\"" => {
                self.is_request = true;
                Member::Other
            }
            _ => Member::Other,
        };
        self.token.clear();
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.member == Member::Id {
            self.id = Some(std::mem::take(&mut self.token));
        }
        self.member = Member::Key;
        self.token.clear();
    }

    fn id(&self) -> Option<Value> {
        let id = self.id.as_ref().filter(|_| !self.is_request)?;
        let id: Value = serde_json::from_slice(id).ok()?;
        (id.is_string() || id.is_number()).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn read_all(bytes: &[u8], longest: usize) -> Vec<(Read, String)> {
        let mut lines = Lines::new(bytes, longest);
        let mut all = Vec::new();
        loop {
            match lines.next().await {
                Read::End => return all,
                read @ Read::TooLong(_) => all.push((read, String::new())),
                Read::Line => {
                    let line = String::from_utf8_lossy(lines.line()).into_owned();
                    all.push((Read::Line, line));
                }
            }
        }
    }

    #[tokio::test]
    async fn long_lines_are_passed_over_and_the_next_is_read() {
        let long = format!("{{\"result\":\"{}\",\"id\":7}}", "x".repeat(200_000));
        let text = format!("one\n{long}\r\ntwo\r\nrest");
        let expected = [
            (Read::Line, "one".to_owned()),
            (Read::TooLong(Some(json!(7))), String::new()),
            (Read::Line, "two".to_owned()),
        ];
        assert_eq!(read_all(text.as_bytes(), 1000).await, expected);
    }

    #[test]
    fn only_the_id_of_an_answer_on_the_first_level_counts() {
        let cases = [
            (
                r#"{"jsonrpc":"2.0","id":3,"result":{"id":9}}"#,
                Some(json!(3)),
            ),
            (
                r#"{"result":{"a":[{"id":1}],"b":"\"id\":4"},"id":"x-1"}"#,
                Some(json!("x-1")),
            ),
            (r#"{"id":3,"method":"ping"}"#, None),
            (r#"{"result":{"id":3}}"#, None),
            (r#"{"id":null,"result":1}"#, None),
            (r#"{"id":{"a":1},"result":1}"#, None),
            (r#"[{"id":3}]"#, None),
            (r#"{"id":5,"result":{"broken"#, Some(json!(5))),
            ("}}}}{{{\"id\":", None),
        ];
        for (line, expected) in cases {
            assert_eq!(IdScan::of(line.as_bytes()), expected, "{line}");
        }
    }
}
