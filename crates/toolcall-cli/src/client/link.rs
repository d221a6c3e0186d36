//! One end of a pipe with a peer at the other: lines both ways, and the ids of requests.
//! It does not look into the lines.

use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
    split,
};

/// Who sent a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    Agent,
    Client,
}

pub(super) struct Link {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    requests: u64,
}

impl Link {
    pub(super) fn new(pipe: DuplexStream) -> Self {
        let (reader, writer) = split(pipe);
        Self {
            lines: BufReader::new(reader).lines(),
            writer,
            requests: 0,
        }
    }

    /// The id of the next request.
    pub(super) fn next_id(&mut self) -> u64 {
        let id = self.requests;
        self.requests += 1;
        id
    }

    /// What the peer says next; nothing once it is gone. Nothing is lost if this is dropped.
    pub(super) async fn next_line(&mut self) -> std::io::Result<Option<String>> {
        self.lines.next_line().await
    }

    /// Says nothing more.
    pub(super) async fn close(&mut self) -> std::io::Result<()> {
        self.writer.shutdown().await
    }

    pub(super) async fn send(&mut self, mut line: String) -> anyhow::Result<()> {
        line.push('\n');
        Ok(self.writer.write_all(line.as_bytes()).await?)
    }
}
