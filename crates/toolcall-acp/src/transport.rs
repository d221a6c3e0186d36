//! The connection to a peer: its input, the lane to it, and the handler of its messages.
//! It must not spawn a task, so that dropping the connection ends everything.

mod threaded;

use std::io;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use self::threaded::ThreadedReader;
use crate::dispatch::{Dispatch, NoMethods};
use crate::inbound::{Inbound, IncomingRequests};
use crate::lane::{Lane, LaneReader};
use crate::peer::Peer;
use crate::requests::Requests;

/// The limits of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// The longest line that is read, in bytes.
    pub line: usize,
    /// How many bytes may wait to be written.
    pub lane: usize,
    /// The deepest nesting of JSON that is read; at most 127.
    pub depth: usize,
    /// The most unanswered requests, for each side. Beyond it, our next request waits, and the peer's
    /// next request is refused.
    pub requests: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            line: 64 * 1024 * 1024,
            lane: 256 * 1024,
            depth: 127,
            requests: 4096,
        }
    }
}

/// How long the connection waits for the last responses, and for the peer to read the last lines.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection that is ready to [run](Self::run). Dropping it, also while it runs, ends the connection
/// at once; otherwise pending lines are written first.
pub struct Transport {
    inbound: Inbound,
    lane_reader: LaneReader,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    end: EndOnDrop,
}

/// Ends the connection for the peer's handles when the transport is dropped.
struct EndOnDrop(Peer);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Connects to a peer. Nothing is read or written until the transport runs.
pub fn connect(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    limits: ConnectionLimits,
) -> (Peer, Transport) {
    let (lane, lane_reader) = Lane::new(limits.lane);
    let (ours, theirs) = (limits.requests, limits.requests);
    let peer = Peer::new(lane, Requests::new(ours), IncomingRequests::new(theirs));
    let transport = Transport {
        inbound: Inbound::new(Box::new(reader), &limits, peer.clone()),
        lane_reader,
        writer: Box::new(writer),
        end: EndOnDrop(peer.clone()),
    };
    (peer, transport)
}

/// Connects to the process that started this one, over standard input and output.
pub fn stdio() -> (Peer, Transport) {
    let stdin = ThreadedReader::new(io::stdin());
    connect(stdin, tokio::io::stdout(), ConnectionLimits::default())
}

impl Transport {
    /// Runs the connection until the peer's input ends or writing fails. Then waits a few seconds for
    /// unanswered requests, and for the lines in the lane to be written.
    pub async fn run(self, dispatch: impl Dispatch) -> io::Result<()> {
        let Self {
            mut inbound,
            lane_reader,
            writer,
            end,
        } = self;
        let reading = pin!(async {
            inbound.run(&dispatch).await;
            // Tasks that received a response in the last lines may still send something.
            tokio::task::yield_now().await;
            let _late = timeout(CLOSE_TIMEOUT, end.0.incoming().all_answered()).await;
        });
        match select(reading, pin!(lane_reader.drain(writer))).await {
            Either::Left(((), draining)) => {
                end.0.lane().close();
                // A peer that does not read any more must not keep us waiting.
                timeout(CLOSE_TIMEOUT, draining).await.unwrap_or(Ok(()))
            }
            Either::Right((drained, _)) => drained,
        }
    }

    /// Runs a connection that only reports: the peer's requests are refused. Ends when the lane is closed
    /// and empty, or writing fails; the end of input alone does not end it.
    pub async fn run_without_methods(self) -> io::Result<()> {
        let Self {
            mut inbound,
            lane_reader,
            writer,
            end: _end,
        } = self;
        let reading = pin!(inbound.run(&NoMethods));
        match select(pin!(lane_reader.drain(writer)), reading).await {
            Either::Left((drained, _)) => drained,
            Either::Right(((), draining)) => draining.await,
        }
    }
}
