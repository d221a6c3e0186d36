//! Reads the body of a response up to a limit.
//! The limit counts decompressed bytes, so that a decompression bomb cannot exceed it.

use std::time::Duration;

use reqwest::Response;
use tokio::time::{Instant, timeout_at};

use super::error::causes;

/// The body of a response, as far as it was read.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    pub(crate) bytes: Vec<u8>,
    pub(crate) extent: BodyExtent,
}

/// How much of the body was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BodyExtent {
    /// All of it.
    Whole,
    /// The body is longer than the limit.
    Cut,
    /// The download failed, for this reason.
    Broken(String),
}

/// Reports the progress of a download, once it takes longer than `patience`.
pub(crate) struct DownloadProgress<'a> {
    pub(crate) patience: Duration,
    pub(crate) report: Box<dyn Fn(u64, Option<u64>) + Send + Sync + 'a>,
}

/// The time between two progress reports.
const PACE: Duration = Duration::from_millis(250);

/// Reads up to `most` bytes, until the deadline.
pub(crate) async fn read(
    mut response: Response,
    most: usize,
    deadline: Instant,
    progress: DownloadProgress<'_>,
) -> ResponseBody {
    let total = response.content_length();
    let mut next_report = Instant::now() + progress.patience;
    let mut bytes = Vec::new();
    loop {
        let piece = match timeout_at(deadline, response.chunk()).await {
            Ok(Ok(Some(piece))) => piece,
            Ok(Ok(None)) => break ResponseBody::of(bytes, BodyExtent::Whole),
            Ok(Err(error)) => break ResponseBody::of(bytes, BodyExtent::Broken(causes(error))),
            Err(_late) => {
                break ResponseBody::of(bytes, BodyExtent::Broken("the time was up".to_owned()));
            }
        };
        let room = most - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            break ResponseBody::of(bytes, BodyExtent::Cut);
        }
        if Instant::now() >= next_report {
            (progress.report)(bytes.len() as u64, total);
            next_report = Instant::now() + PACE;
        }
    }
}

impl ResponseBody {
    fn of(bytes: Vec<u8>, extent: BodyExtent) -> Self {
        Self { bytes, extent }
    }
}

impl DownloadProgress<'_> {
    /// Reports nothing.
    pub(crate) fn silent() -> Self {
        Self {
            patience: Duration::ZERO,
            report: Box::new(|_, _| {}),
        }
    }
}
