//! Reads the lines of a server up to a maximum length; of a longer line it only finds the `id`.
//! It loses nothing when a read is cancelled, and never copies a line.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// A longer line is skipped.
pub(super) const LONGEST_LINE: usize = 16 * 1024 * 1024;
const BUFFER: usize = 64 * 1024;
/// The buffer is shrunk to this size between lines.
const KEPT: usize = 1024 * 1024;

/// The result of reading a line.
#[derive(Debug, PartialEq)]
pub(super) enum LineRead {
    /// A line; it is in [`LineReader::line`].
    Line,
    /// A line that was too long, with the `id` of the request it answers.
    TooLong(Option<Value>),
    /// The end of the stream.
    End,
}

/// Reads a stream line by line.
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    /// Whether `line` was returned and the next read clears it.
    is_used: bool,
    /// The scan of the line that is being skipped.
    skipped: Option<IdScan>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(BUFFER, reader),
            longest,
            line: Vec::new(),
            is_used: false,
            skipped: None,
        }
    }

    /// Returns the line that was read last, without its line ending.
    pub(super) fn line(&self) -> &[u8] {
        self.line.trim_ascii_end()
    }

    /// Reads the next line. Cancel safe: a dropped call loses nothing.
    pub(super) async fn next(&mut self) -> LineRead {
        if std::mem::take(&mut self.is_used) {
            self.line.clear();
            self.line.shrink_to(KEPT);
        }
        loop {
            // A read error ends the stream like an end of file; nothing else can be done about it.
            let (taken, is_whole) = match self.reader.fill_buf().await {
                Ok([]) | Err(_) => return LineRead::End,
                Ok(available) => {
                    let end = memchr::memchr(b'\n', available);
                    let piece = &available[..end.map_or(available.len(), |end| end + 1)];
                    take(piece, &mut self.line, &mut self.skipped, self.longest);
                    (piece.len(), end.is_some())
                }
            };
            self.reader.consume(taken);
            if !is_whole {
                continue;
            }
            if let Some(scan) = self.skipped.take() {
                return LineRead::TooLong(scan.id());
            }
            self.is_used = true;
            return LineRead::Line;
        }
    }
}

/// Appends a piece to the line, or only scans it for the `id` if the line is too long.
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

/// Finds the `id` of a response in a stream of bytes, with constant memory.
#[derive(Debug, Default)]
pub(super) struct IdScan {
    depth: usize,
    text: Option<Escape>,
    /// The last JSON token on the top level, as written.
    token: Vec<u8>,
    /// The member of the top level that is being read.
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
    /// Returns the `id` of a complete line, if it is a response.
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

    async fn read_all(bytes: &[u8], longest: usize) -> Vec<(LineRead, String)> {
        let mut lines = LineReader::new(bytes, longest);
        let mut all = Vec::new();
        loop {
            match lines.next().await {
                LineRead::End => return all,
                read @ LineRead::TooLong(_) => all.push((read, String::new())),
                LineRead::Line => {
                    let line = String::from_utf8_lossy(lines.line()).into_owned();
                    all.push((LineRead::Line, line));
                }
            }
        }
    }

    #[tokio::test]
    async fn long_lines_are_passed_over_and_the_next_is_read() {
        let long = format!("{{\"result\":\"{}\",\"id\":7}}", "x".repeat(200_000));
        let text = format!("one\n{long}\r\ntwo\r\nrest");
        let expected = [
            (LineRead::Line, "one".to_owned()),
            (LineRead::TooLong(Some(json!(7))), String::new()),
            (LineRead::Line, "two".to_owned()),
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
