//! The connection to a peer: its input, the lane to it, and what handles its messages.
//! It must not spawn anything: a connection that is dropped takes everything with it.

mod threaded;

use std::io;
use std::pin::pin;
use std::time::Duration;

use futures::future::{Either, select};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use self::threaded::Threaded;
use crate::dispatch::{Dispatch, NoMethods};
use crate::inbound::{Inbound, Incoming};
use crate::lane::{Lane, LaneReader};
use crate::peer::Peer;
use crate::requests::Requests;

/// What a connection holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line that is read, in bytes.
    pub line: usize,
    /// How many bytes may wait to be written.
    pub lane: usize,
    /// The deepest nesting of JSON that is read. More than 127 cannot be.
    pub depth: usize,
    /// How many requests may wait for their answer, ours and the peer's each. Of ours, the next
    /// one waits; of the peer's, it is refused.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line: 64 * 1024 * 1024,
            lane: 256 * 1024,
            depth: 127,
            requests: 4096,
        }
    }
}

/// How long what is left is offered to a peer once everything was said.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A connection that is ready to [run](Self::run). Dropping it, also while it runs, ends the
/// connection. Otherwise what was said is written first, to a peer that listens.
pub struct Transport {
    inbound: Inbound,
    outlet: LaneReader,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    end: End,
}

/// Tells everybody when the connection is over, however that comes about.
struct End(Peer);

impl Drop for End {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Connects to a peer. Nothing is read or written before the transport runs.
pub fn connect(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    limits: Limits,
) -> (Peer, Transport) {
    let (lane, outlet) = Lane::new(limits.lane);
    let (ours, theirs) = (limits.requests, limits.requests);
    let peer = Peer::new(lane, Requests::new(ours), Incoming::new(theirs));
    let transport = Transport {
        inbound: Inbound::new(Box::new(reader), &limits, peer.clone()),
        outlet,
        writer: Box::new(writer),
        end: End(peer.clone()),
    };
    (peer, transport)
}

/// Connects to whoever started this process, by its standard input and output.
pub fn stdio() -> (Peer, Transport) {
    let stdin = Threaded::new(io::stdin());
    connect(stdin, tokio::io::stdout(), Limits::default())
}

impl Transport {
    /// Runs the connection until the peer's input ends, or writing fails. Requests that are not
    /// answered by then, and what is left in the lane, get a few seconds.
    pub async fn run(self, dispatch: impl Dispatch) -> io::Result<()> {
        let Self {
            mut inbound,
            outlet,
            writer,
            end,
        } = self;
        let reading = pin!(async {
            inbound.run(&dispatch).await;
            // Whoever got an answer with the last lines may have something to say to it.
            tokio::task::yield_now().await;
            let _late = timeout(LAST_WORDS, end.0.incoming().all_answered()).await;
        });
        match select(reading, pin!(outlet.drain(writer))).await {
            Either::Left(((), draining)) => {
                end.0.lane().close();
                // A peer that stopped listening without a word does not hold us here.
                timeout(LAST_WORDS, draining).await.unwrap_or(Ok(()))
            }
            Either::Right((drained, _)) => drained,
        }
    }

    /// Runs a connection on which we only report: requests are refused. Ends when the lane is
    /// closed and drained, or writing fails; the end of input alone does not end it.
    pub async fn run_alone(self) -> io::Result<()> {
        let Self {
            mut inbound,
            outlet,
            writer,
            end: _end,
        } = self;
        let reading = pin!(inbound.run(&NoMethods));
        match select(pin!(outlet.drain(writer)), reading).await {
            Either::Left((drained, _)) => drained,
            Either::Right(((), draining)) => draining.await,
        }
    }
}
