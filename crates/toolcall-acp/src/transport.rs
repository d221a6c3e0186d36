//! The connection to a peer: its input, the lane to it, and the SDK between the two.
//! It must not spawn anything: a connection that is dropped takes everything with it.

mod sink;
mod threaded;

use std::io;
use std::pin::pin;
use std::time::Duration;

use agent_client_protocol::{Channel, ConnectTo, ConnectionDriver, Error, Role};
use futures::future::{BoxFuture, Either, select};
use futures::{Stream, stream};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use self::sink::LaneSink;
use self::threaded::Threaded;
use crate::inbound::{Inbound, Unanswered};
use crate::lane::{Lane, Outlet};
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

/// A connection that is ready to run: hand it to the SDK, or [run it alone](Self::run_alone).
/// Dropping it, also while it runs, ends the connection. Otherwise what was said is written first,
/// and a peer that does not listen can hold up the end for as long as it likes.
pub struct Transport {
    inbound: Inbound,
    outlet: Outlet,
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
    let peer = Peer::new(lane, Requests::new(ours), Unanswered::new(theirs));
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
    /// Runs without the SDK: reports go out, served methods are answered, other requests are
    /// refused. Ends when the lane is closed and drained, or writing fails; the end of input
    /// alone does not end it.
    pub async fn run_alone(self) -> io::Result<()> {
        let Self {
            mut inbound,
            outlet,
            writer,
            end: _end,
        } = self;
        let reading = pin!(async move {
            while let Some(line) = inbound.next().await {
                inbound.turn_away(&line).await;
            }
        });
        match select(pin!(outlet.drain(writer)), reading).await {
            Either::Left((drained, _)) => drained,
            Either::Right(((), draining)) => draining.await,
        }
    }

    fn into_channel_and_driver<R: Role>(self) -> (Channel, Option<ConnectionDriver>) {
        let lane = self.end.0.lane().clone();
        let sink = LaneSink::new(lane, self.inbound.unanswered().clone());
        let lines = agent_client_protocol::Lines::new(sink, lines_of(self.inbound));
        let (channel, driver) = ConnectTo::<R>::into_channel_and_future(lines);
        // Mapped, not wrapped: so the SDK can still ask it to finish.
        let (outlet, writer, end) = (self.outlet, self.writer, self.end);
        let driver = driver
            .map(|driver| driver.map_future(|speaking| carry(speaking, outlet.drain(writer), end)));
        (channel, driver)
    }
}

fn lines_of(inbound: Inbound) -> impl Stream<Item = io::Result<String>> + Send {
    stream::unfold(inbound, |mut inbound| async move {
        let line = inbound.next().await?;
        Some((Ok(line), inbound))
    })
}

/// Runs the SDK and the writing side by side. When the SDK has said everything, the rest of the
/// lane is written before this ends.
async fn carry(
    speaking: BoxFuture<'static, Result<(), Error>>,
    draining: impl Future<Output = io::Result<()>> + Send,
    end: End,
) -> Result<(), Error> {
    match select(speaking, pin!(draining)).await {
        Either::Left((spoken, draining)) => {
            end.0.lane().close();
            // A peer that stopped listening without a word does not hold us here.
            let drained = timeout(LAST_WORDS, draining).await.unwrap_or(Ok(()));
            spoken.and(drained.map_err(Error::into_internal_error))
        }
        Either::Right((Ok(()), speaking)) => speaking.await,
        Either::Right((Err(error), _)) => Err(Error::into_internal_error(error)),
    }
}

impl<R: Role> ConnectTo<R> for Transport {
    async fn connect_to(self, client: impl ConnectTo<R::Counterpart>) -> Result<(), Error> {
        let (channel, driver) = self.into_channel_and_driver::<R>();
        let Some(driver) = driver else {
            return ConnectTo::<R>::connect_to(channel, client).await;
        };
        let client = pin!(ConnectTo::<R>::connect_to(channel, client));
        match select(client, driver).await {
            Either::Right((result, _)) => result,
            Either::Left((result, mut driver)) => {
                result?;
                // What the client said is handed over; the peer's input may stay open.
                let _is_finishing = driver.request_finish();
                driver.await
            }
        }
    }

    fn into_channel_and_future(self) -> (Channel, Option<ConnectionDriver>) {
        self.into_channel_and_driver::<R>()
    }
}
