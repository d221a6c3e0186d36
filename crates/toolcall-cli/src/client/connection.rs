//! The client's end of the pipe to the agent: lines in both directions, and request ids.
//! It does not parse the lines.

use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};

/// Who sent a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineSender {
    Agent,
    Client,
}

pub(super) struct Connection {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    requests: u64,
}

impl Connection {
    pub(super) fn new(pipe: DuplexStream) -> Self {
        let (reader, writer) = split(pipe);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            requests: 0,
        }
    }

    /// Returns the id for the next request.
    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.requests;
        self.requests += 1;
        id
    }

    /// Reads the next line; `None` once the peer is gone. No data is lost if the future is dropped.
    pub(super) async fn next_line(&mut self) -> std::io::Result<Option<String>> {
        self.lines.next_line().await
    }

    /// Closes the sending direction.
    pub(super) async fn close(&mut self) -> std::io::Result<()> {
        self.writer.shutdown().await
    }

    pub(super) async fn send(&mut self, mut line: String) -> anyhow::Result<()> {
        line.push('\n');
        Ok(self.writer.write_all(line.as_bytes()).await?)
    }
}
