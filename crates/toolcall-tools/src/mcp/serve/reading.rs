//! A reader that tells when there is nothing more to read.
//! It changes no byte of what is read.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::watch;

/// What is read, watched for its end.
pub(super) struct Watched<R> {
    reader: R,
    ended: watch::Sender<bool>,
}

/// Knows when the end has come.
pub(super) struct Ended(watch::Receiver<bool>);

impl<R> Watched<R> {
    pub(super) fn new(reader: R) -> (Self, Ended) {
        let (ended, end) = watch::channel(false);
        (Self { reader, ended }, Ended(end))
    }
}

impl Ended {
    /// Waits for the end; a reader that is dropped has come to it.
    pub(super) async fn wait(mut self) {
        let _dropped = self.0.wait_for(|ended| *ended).await;
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Watched<R> {
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
