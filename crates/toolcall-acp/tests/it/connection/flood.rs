//! Peers that send too much or do not read: memory stays within limits.
//! The tests measure pending bytes, never time.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, ReadBuf};
use toolcall_acp::dispatch::{Dispatch, Handled, Responder};
use toolcall_acp::transport::{ConnectionLimits, connect};

use crate::connection::support::{Ping, holding, narrowly_connected, settle};

const NARROW: ConnectionLimits = ConnectionLimits {
    line: 10_000,
    lane: 2000,
    depth: 127,
    requests: 3,
};

#[tokio::test(start_paused = true)]
async fn a_flood_of_bad_lines_that_nobody_listens_to_stops_itself() {
    let (peer, transport, mut remote) = narrowly_connected(1000, NARROW);
    tokio::spawn(transport.run_without_methods());
    let flood = tokio::spawn(async move {
        for _ in 0..1000 {
            remote.send("bad").await;
        }
        remote
    });
    settle().await;
    assert!(!flood.is_finished(), "its lines are not read any more");
    assert!(peer.lane().counters().max_pending < 2200);
}

#[tokio::test(start_paused = true)]
async fn answers_that_nobody_listens_to_stop_the_reading() {
    let (peer, transport, mut remote) = narrowly_connected(1000, NARROW);
    tokio::spawn(transport.run(Ping));
    let flood = tokio::spawn(async move {
        for id in 0..1000 {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "_ping", "params": ["text"]});
            remote.send(call.to_string()).await;
        }
        remote
    });
    settle().await;
    assert!(!flood.is_finished(), "its lines are not read any more");
    assert!(peer.lane().counters().max_pending < 2200);
}

#[tokio::test(start_paused = true)]
async fn more_requests_than_can_be_held_are_refused_until_one_is_answered() {
    let (_peer, transport, mut remote) = narrowly_connected(10_000, NARROW);
    let (mut requests, _connection) = holding(transport);
    for id in 1..=4 {
        remote
            .send(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_hold"}}"#))
            .await;
    }
    let refused = "3 requests are not answered yet; try again later";
    let refused =
        format!(r#"{{"jsonrpc":"2.0","id":4,"error":{{"code":-32000,"message":"{refused}"}}}}"#);
    assert_eq!(remote.receive().await, refused);
    let first = requests.recv().await.unwrap();
    first.respond(Ok(&json!("done"))).await;
    assert_eq!(
        remote.receive().await,
        r#"{"jsonrpc":"2.0","id":1,"result":"done"}"#
    );
    remote
        .send(r#"{"jsonrpc":"2.0","id":4,"method":"_hold"}"#)
        .await;
    for id in [2, 3, 4] {
        let request = requests.recv().await.unwrap();
        request.respond(Ok(&json!(id))).await;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{id}}}"#);
        assert_eq!(remote.receive().await, answer);
    }
}

/// Returns a line again and again, as fast as it is read, and counts the bytes.
struct RepeatingReader {
    line: Vec<u8>,
    left: usize,
    given: Arc<AtomicUsize>,
}

impl AsyncRead for RepeatingReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.left > 0 && out.remaining() >= self.line.len() {
            out.put_slice(&self.line);
            self.left -= 1;
            self.given.fetch_add(self.line.len(), Ordering::Relaxed);
        }
        Poll::Ready(Ok(()))
    }
}

/// Counts notifications, and how many bytes were read before each.
struct CountingMethods {
    line: usize,
    given: Arc<AtomicUsize>,
    handled: Arc<AtomicUsize>,
    deepest: Arc<AtomicUsize>,
}

impl Dispatch for CountingMethods {
    fn request(&self, _: &str, _: Option<&RawValue>, _: Responder) -> Handled {
        Handled::Later
    }

    fn notification(&self, _: &str, _: Option<&RawValue>) {
        let handled = self.handled.fetch_add(1, Ordering::Relaxed) * self.line;
        let waiting = self.given.load(Ordering::Relaxed) - handled;
        self.deepest.fetch_max(waiting, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn good_lines_do_not_pile_up_before_their_handler() {
    let line = r#"{"jsonrpc":"2.0","method":"_tell","params":{"text":"of some length"}}"#;
    let line = format!("{line}\n").into_bytes();
    let given = Arc::new(AtomicUsize::new(0));
    let (handled, deepest) = (Arc::default(), Arc::default());
    let counting = CountingMethods {
        line: line.len(),
        given: given.clone(),
        handled: Arc::clone(&handled),
        deepest: Arc::clone(&deepest),
    };
    let reader = RepeatingReader {
        line,
        left: 20_000,
        given,
    };
    let (_peer, transport) = connect(
        reader,
        io::Cursor::new(Vec::new()),
        ConnectionLimits::default(),
    );
    transport.run(counting).await.unwrap();
    assert_eq!(handled.load(Ordering::Relaxed), 20_000);
    let deepest = deepest.load(Ordering::Relaxed);
    assert!(deepest < 256 * 1024, "{deepest} bytes waited");
}
