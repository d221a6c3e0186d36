//! The body of an answer, read piece by piece and never beyond a bound.
//! What is counted is what came out of decompression, so a small bomb stays small.

use std::time::Duration;

use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::failure::causes;

/// What was read of an answer.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) extent: Extent,
}

/// How much of it that is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// It went on behind the bound.
    Cut,
    /// The connection broke off, for this reason.
    Broken(String),
}

/// Who is told how far it is, once it takes a while.
pub(crate) struct Watch<'a> {
    pub(crate) patience: Duration,
    pub(crate) tell: Box<dyn Fn(u64, Option<u64>) + Send + Sync + 'a>,
}

/// Told about this often.
const PACE: Duration = Duration::from_millis(250);

/// Reads up to `most` bytes, until the deadline.
pub(crate) async fn read(
    mut response: Response,
    most: usize,
    deadline: Instant,
    watch: Watch<'_>,
) -> Body {
    let total = response.content_length();
    let mut next_word = Instant::now() + watch.patience;
    let mut bytes = Vec::new();
    loop {
        let piece = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => break Body::of(bytes, Extent::Whole),
            Ok(Err(error)) => break Body::of(bytes, Extent::Broken(causes(error))),
            Err(_late) => break Body::of(bytes, Extent::Broken("the time was up".to_owned())),
        };
        let room = most - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            break Body::of(bytes, Extent::Cut);
        }
        if Instant::now() >= next_word {
            (watch.tell)(bytes.len() as u64, total);
            next_word = Instant::now() + PACE;
        }
    }
}

impl Body {
    fn of(bytes: Vec<u8>, extent: Extent) -> Self {
        Self { bytes, extent }
    }
}

impl Watch<'_> {
    /// Nobody waits for news.
    pub(crate) fn nobody() -> Self {
        Self {
            patience: Duration::ZERO,
            tell: Box::new(|_, _| {}),
        }
    }
}
