//! Reads blocking input on its own thread, so that the runtime can shut down.
//! It must not read ahead without a bound, nor keep the process from exiting.

use std::io::{self, ErrorKind, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// How much is read at a time.
const CHUNK: usize = 64 * 1024;
/// The most chunks that are read ahead.
const MAX_CHUNKS_AHEAD: usize = 4;

/// Input that a thread reads. The thread ends with its input, or after its next read when this is
/// dropped.
pub(super) struct ThreadedReader {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl ThreadedReader {
    /// Starts the thread.
    pub(super) fn new(input: impl Read + Send + 'static) -> Self {
        let (sender, chunks) = mpsc::channel(MAX_CHUNKS_AHEAD);
        let failed = sender.clone();
        let thread = thread::Builder::new().name("toolcall-input".to_owned());
        if let Err(error) = thread.spawn(move || read_chunks(input, &sender)) {
            // The channel is empty, so there is room.
            let _room = failed.try_send(Err(error));
        }
        Self {
            chunks,
            chunk: Vec::new(),
            taken: 0,
        }
    }
}

fn read_chunks(mut input: impl Read, chunks: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let read = match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(bytes) => Ok(buffer[..bytes].to_vec()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = read.is_err();
        if chunks.blocking_send(read).is_err() || is_last {
            return;
        }
    }
}

impl AsyncRead for ThreadedReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.taken == self.chunk.len() {
            match ready!(self.chunks.poll_recv(cx)).transpose()? {
                Some(chunk) => self.chunk = chunk,
                None => return Poll::Ready(Ok(())),
            }
            self.taken = 0;
        }
        let rest = &self.chunk[self.taken..];
        let bytes = rest.len().min(out.remaining());
        out.put_slice(&rest[..bytes]);
        self.taken += bytes;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Returns some bytes, then fails.
    struct BrokenReader(bool);

    impl Read for BrokenReader {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(io::Error::other("broken"));
            }
            buffer[..2].copy_from_slice(b"ab");
            Ok(2)
        }
    }

    #[tokio::test]
    async fn everything_comes_through_in_order() {
        let bytes: Vec<u8> = (0..10 * CHUNK).map(|at| (at % 251) as u8).collect();
        let mut input = ThreadedReader::new(io::Cursor::new(bytes.clone()));
        let mut read = Vec::new();
        input.read_to_end(&mut read).await.unwrap();
        assert!(read == bytes);
    }

    #[test]
    fn input_that_never_ends_does_not_keep_the_runtime() {
        let (silence, _kept_open) = io::pipe().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.build().unwrap();
        runtime.spawn(async move { ThreadedReader::new(silence).read_u8().await });
        runtime.block_on(tokio::task::yield_now());
        drop(runtime);
    }

    #[tokio::test]
    async fn a_failure_comes_after_what_was_read() {
        let mut input = ThreadedReader::new(BrokenReader(false));
        let mut read = [0; 2];
        input.read_exact(&mut read).await.unwrap();
        assert_eq!(&read, b"ab");
        let error = input.read(&mut read).await.unwrap_err();
        assert_eq!(error.to_string(), "broken");
    }
}
