//! The way of the SDK's lines into the lane.
//! It must not change a line, nor let one wait beside the lane.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::Sink;
use futures::future::BoxFuture;

use crate::inbound::Unanswered;
use crate::lane::{Closed, Lane};

/// Takes lines while the lane has room.
pub(super) struct LaneSink {
    lane: Lane,
    unanswered: Arc<Unanswered>,
    /// While there is none.
    room: Option<BoxFuture<'static, Result<(), Closed>>>,
}

impl LaneSink {
    pub(super) fn new(lane: Lane, unanswered: Arc<Unanswered>) -> Self {
        Self {
            lane,
            unanswered,
            room: None,
        }
    }

    fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        if self.room.is_none() && self.lane.has_room()? {
            return Poll::Ready(Ok(()));
        }
        let lane = &self.lane;
        let room = self.room.get_or_insert_with(|| {
            let lane = lane.clone();
            Box::pin(async move { lane.room().await })
        });
        let result = ready!(room.as_mut().poll(cx));
        self.room = None;
        Poll::Ready(result)
    }
}

impl Sink<String> for LaneSink {
    type Error = io::Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_room(cx).map_err(broken)
    }

    /// The room that was there may be gone by now. The one line that then reaches past it is
    /// bounded by this being the only sink.
    fn start_send(self: Pin<&mut Self>, line: String) -> io::Result<()> {
        self.lane
            .send_urgent(|pending| pending.extend_from_slice(line.as_bytes()))
            .map_err(broken)?;
        // Whoever waits for the answer may speak after it now.
        self.unanswered.settle(&line);
        Ok(())
    }

    /// What is in the lane is as good as sent: whoever drains it ends only after it.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The lane itself stays open for those who write into it directly.
    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn broken(closed: Closed) -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, closed)
}
