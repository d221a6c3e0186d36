//! Splits the peer's bytes into lines of limited length.
//! It must not hold more of a line than the limit, nor parse a line.

use std::io;
use std::mem;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};

/// How much is read at a time, and how much is returned before other tasks get a chance to run.
const CHUNK: usize = 64 * 1024;
/// How much is kept of a line that is too long.
const HEAD: usize = 4 * 1024;

/// The source of the peer's bytes.
pub(crate) type Source = Box<dyn AsyncRead + Send + Unpin>;

/// The peer's lines.
pub(super) struct Lines {
    source: BufReader<Source>,
    line: Vec<u8>,
    longest: usize,
    /// Bytes returned since the last pause.
    unpaused: usize,
}

/// The outcome of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineRead {
    /// A line, without its line ending.
    Line(String),
    /// A line that is not UTF-8.
    NotText(Vec<u8>),
    /// The first bytes of a line that is too long.
    TooLong(Vec<u8>),
    /// The input ended.
    End,
}

impl Lines {
    pub(super) fn new(source: Source, longest: usize) -> Self {
        Self {
            source: BufReader::with_capacity(CHUNK, source),
            line: Vec::new(),
            longest,
            unpaused: 0,
        }
    }

    /// Returns the length limit of a line, in bytes.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the next line. The last line may lack its newline.
    pub(super) async fn next(&mut self) -> LineRead {
        self.pause().await;
        self.read().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the peer cannot be read any more");
            LineRead::End
        })
    }

    /// Keeps the buffer for the next line, unless it is a large one.
    pub(super) fn recycle(&mut self, line: String) {
        if line.capacity() <= CHUNK {
            self.line = line.into_bytes();
        }
    }

    async fn pause(&mut self) {
        if self.unpaused >= CHUNK {
            self.unpaused = 0;
            tokio::task::yield_now().await;
        }
    }

    async fn read(&mut self) -> io::Result<LineRead> {
        self.line.clear();
        // Two more, for `\r\n`.
        let most = self.longest.saturating_add(2) as u64;
        let mut source = (&mut self.source).take(most);
        let read = source.read_until(b'\n', &mut self.line).await?;
        self.unpaused += read;
        if read == 0 {
            return Ok(LineRead::End);
        }
        if !self.strip_end() && read as u64 == most {
            self.skip_line().await?;
        }
        Ok(self.take_line())
    }

    fn take_line(&mut self) -> LineRead {
        if self.line.len() > self.longest {
            self.line.truncate(HEAD);
            self.line.shrink_to_fit();
            return LineRead::TooLong(mem::take(&mut self.line));
        }
        match String::from_utf8(mem::take(&mut self.line)) {
            Ok(line) => LineRead::Line(line),
            Err(error) => LineRead::NotText(error.into_bytes()),
        }
    }

    /// Removes the line ending. Returns true if there was a newline.
    fn strip_end(&mut self) -> bool {
        let ended = self.line.pop_if(|byte| *byte == b'\n').is_some();
        self.line.pop_if(|byte| *byte == b'\r');
        ended
    }

    async fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.source.fill_buf().await?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let skipped = end.map_or(bytes.len(), |at| at + 1);
            self.source.consume(skipped);
            if end.is_some() || skipped == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> LineRead {
        LineRead::Line(text.to_owned())
    }

    async fn check(bytes: &'static [u8], longest: usize, expected: &[LineRead]) {
        let mut lines = Lines::new(Box::new(bytes), longest);
        for reading in expected {
            assert_eq!(lines.next().await, *reading);
        }
        assert_eq!(lines.next().await, LineRead::End);
    }

    #[tokio::test]
    async fn lines_end_as_they_like() {
        check(b"", 9, &[]).await;
        check(
            b"a\nb\r\n\n\r\nc",
            9,
            &[line("a"), line("b"), line(""), line(""), line("c")],
        )
        .await;
        check(b"a\rb\r\r\n", 9, &[line("a\rb\r")]).await;
        check(
            b"a\xff\nb",
            9,
            &[LineRead::NotText(b"a\xff".to_vec()), line("b")],
        )
        .await;
    }

    #[tokio::test]
    async fn the_limit_counts_the_line_without_its_end() {
        let long = |head: &str| LineRead::TooLong(head.into());
        check(
            b"1234\n1234\r\n1234",
            4,
            &[line("1234"), line("1234"), line("1234")],
        )
        .await;
        check(b"12345\nab", 4, &[long("12345"), line("ab")]).await;
        check(b"12345\r\nab", 4, &[long("12345"), line("ab")]).await;
        check(b"123456\nab", 4, &[long("123456"), line("ab")]).await;
        check(b"1234567890\nab", 4, &[long("123456"), line("ab")]).await;
        check(b"12345", 4, &[long("12345")]).await;
        check(b"1234567890", 4, &[long("123456")]).await;
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_leaves_only_its_beginning() {
        let mut bytes = vec![b'a'; 10 * CHUNK];
        bytes.extend_from_slice(b"\nb\n");
        let mut lines = Lines::new(Box::new(std::io::Cursor::new(bytes)), 2 * HEAD);
        let LineRead::TooLong(head) = lines.next().await else {
            panic!("it is too long")
        };
        assert_eq!((head.len(), head.capacity()), (HEAD, HEAD));
        assert_eq!(lines.next().await, line("b"));
    }
}
