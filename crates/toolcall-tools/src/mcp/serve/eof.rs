//! A reader that signals the end of its stream.
//! It changes none of the bytes.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// Wraps a reader and signals its end of file.
pub(super) struct EofReader<R> {
    reader: R,
    ended: watch::Sender<bool>,
}

/// Waits for the end of file of an [`EofReader`].
pub(super) struct EofSignal(watch::Receiver<bool>);

impl<R> EofReader<R> {
    pub(super) fn new(reader: R) -> (Self, EofSignal) {
        let (ended, end) = watch::channel(false);
        (Self { reader, ended }, EofSignal(end))
    }
}

impl EofSignal {
    /// Waits until the reader is at its end, has failed or was dropped.
    pub(super) async fn wait(mut self) {
        let _dropped = self.0.wait_for(|ended| *ended).await;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for EofReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.reader).poll_read(context, buffer);
        let is_end = match &polled {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if is_end {
            self.ended.send_replace(true);
        }
        polled
    }
}
