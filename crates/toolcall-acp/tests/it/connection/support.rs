//! A remote peer for tests of connections: it sends and receives lines.
//! It asserts nothing about their content.

use std::future::Future;
use std::io;
use std::task::Poll;

use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use toolcall_acp::dispatch::{Dispatch, Handled, Responder};
use toolcall_acp::peer::{Peer, RpcError};
use toolcall_acp::transport::{ConnectionLimits, Transport, connect};

/// The pipe size for tests that do not depend on it.
const LARGE_PIPE: usize = 1024 * 1024;

/// The other end of a connection.
pub(crate) struct RemotePeer {
    writer: Option<DuplexStream>,
    reader: Lines<BufReader<DuplexStream>>,
}

impl RemotePeer {
    /// Sends these lines.
    pub(crate) async fn send(&mut self, lines: impl AsRef<[u8]>) {
        let writer = self.writer.as_mut().expect("an open writer");
        writer.write_all(lines.as_ref()).await.unwrap();
        writer.write_all(b"\n").await.unwrap();
    }

    /// Returns the next line.
    pub(crate) async fn receive(&mut self) -> String {
        let line = self.reader.next_line().await.unwrap();
        line.expect("a line")
    }

    /// Returns every line until the other side closes the connection.
    pub(crate) async fn receive_all(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(line) = self.reader.next_line().await.unwrap() {
            lines.push(line);
        }
        lines
    }

    /// Stops reading, and keeps the sending half open.
    pub(crate) fn stop_reading(self) -> impl Sized {
        self.writer
    }

    /// Closes the sending half.
    pub(crate) fn close(&mut self) {
        self.writer = None;
    }
}

/// Returns a connection and its other end.
pub(crate) fn connected() -> (Peer, Transport, RemotePeer) {
    narrowly_connected(LARGE_PIPE, ConnectionLimits::default())
}

/// Returns a connection through pipes of this many bytes, and its other end.
pub(crate) fn narrowly_connected(
    pipe: usize,
    limits: ConnectionLimits,
) -> (Peer, Transport, RemotePeer) {
    let (remote_writer, reader) = tokio::io::duplex(pipe);
    let (writer, remote_reader) = tokio::io::duplex(pipe);
    let (peer, transport) = connect(reader, writer, limits);
    let remote = RemotePeer {
        writer: Some(remote_writer),
        reader: BufReader::new(remote_reader).lines(),
    };
    (peer, transport, remote)
}

/// Returns a connection that runs without a handler, and its other end.
pub(crate) fn running_alone() -> (Peer, RemotePeer) {
    let (peer, transport, remote) = connected();
    tokio::spawn(transport.run_without_methods());
    (peer, remote)
}

/// A handler that answers `_ping` and refuses everything else.
pub(crate) struct Ping;

impl Dispatch for Ping {
    fn request(&self, method: &str, _: Option<&RawValue>, to: Responder) -> Handled {
        Handled::Now(match method {
            "_ping" => to.reply(&json!("pong")),
            _ => to.refuse(&RpcError::method_not_found(method)),
        })
    }
}

/// A handler that passes every responder to the test.
struct HoldingMethods(mpsc::Sender<Responder>);

impl Dispatch for HoldingMethods {
    fn request(&self, _: &str, _: Option<&RawValue>, to: Responder) -> Handled {
        self.0
            .try_send(to)
            .unwrap_or_else(|_| panic!("few requests are held"));
        Handled::Later
    }
}

/// Runs a connection. Returns the responders to its requests.
pub(crate) fn holding(
    transport: Transport,
) -> (mpsc::Receiver<Responder>, JoinHandle<io::Result<()>>) {
    let (sender, requests) = mpsc::channel(100);
    (
        requests,
        tokio::spawn(transport.run(HoldingMethods(sender))),
    )
}

/// Lets every task that can run do so.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Polls a future once.
pub(crate) async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    let mut future = std::pin::Pin::new(future);
    std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await
}
